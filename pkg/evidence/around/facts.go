package around

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// recently is how far back the kernel's words are asked for at least: the longest
// back-off between two attempts, three times.
const recently = 15 * time.Minute

// endedLately is how long ago a container of the driver may have ended to be told of.
const endedLately = time.Hour

// Kernel is what the kernel of a node said of the volume's devices since its pod was
// made, equal lines once; silence is a fact, too, where the log was read. Of a filesystem that no
// table here knows, the lines of its own module tell.
func Kernel(x *snapshot.Index, v *snapshot.Volume, node string, texts []evidence.Text) []report.Evidence {
	view, kind := x.View(node), KindOf(x, v, node)
	names, words := deviceNames(x, v, node), ofKind[kind]
	if kind == Unknown || kind == Parallel {
		words = modules(texts)
	}
	if view == nil || len(names)+len(words) == 0 {
		return nil
	}
	since := asked(x, v, node)
	var out, last []report.Evidence
	for _, l := range slices.Backward(view.Facts.Kernel) {
		if l.At.IsZero() || l.At.Before(since) || !speaksOf(l, names) && !beginsWith(l.Text, words) {
			continue
		}
		if slices.ContainsFunc(out, func(e report.Evidence) bool { return e.Text == l.Text }) {
			continue
		}
		said := evidence.FromNode(node, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text)
		if evidence.ContainsAny(l.Text, follows...) {
			last = append(last, said)
			continue
		}
		if out = append(out, said); len(out) == 2 {
			break
		}
	}
	if len(out) == 0 {
		out = last[:min(len(last), 2)]
	}
	if len(out) == 0 && evidence.Tables(x, node, probes.KernelLog).Complete() {
		about := cmp.Or(strings.Join(names, ", "), string(kind), strings.Join(words, ", "))
		out = append(out, evidence.FromNode(node, "@kmsg", "nothing about "+about+" since "+since.UTC().Format(time.RFC3339)))
	}
	return out
}

// asked is since when the volume is tried on a node: its oldest pod there, or recently.
func asked(x *snapshot.Index, v *snapshot.Volume, node string) time.Time {
	since := x.TakenAt.Add(-recently)
	for _, c := range v.Live() {
		if t := c.Pod.CreationTimestamp.Time; c.Node() == node && !t.IsZero() && t.Before(since) {
			since = t
		}
	}
	return since
}

// refusals are the kinds of the kernel's words with which a filesystem is not mounted, or no more.
var refusals = []string{kmsg.Ext4Error, kmsg.Ext4Aborted, kmsg.XFSShutdown, kmsg.XFSCorruption, kmsg.BadSuperblock, kmsg.BadJournal, kmsg.MountRefused, kmsg.BtrfsError, kmsg.BeyondEnd}

// FilesystemRefused tells whether the kernel refused the filesystem on the volume's device since a
// pod asks for it there, for whatever reason.
func FilesystemRefused(x *snapshot.Index, v *snapshot.Volume, node string) bool {
	view := x.View(node)
	if view == nil {
		return false
	}
	names, since := deviceNames(x, v, node), asked(x, v, node)
	return slices.ContainsFunc(view.Facts.Kernel, func(l probes.KernelLine) bool {
		return slices.Contains(refusals, l.Kind) && !l.At.Before(since) && speaksOf(l, names)
	})
}

// deviceNames are the disk of a volume on a node and what rightfully lies on it.
func deviceNames(x *snapshot.Index, v *snapshot.Volume, node string) []string {
	d, ok := x.DeviceOn(v, node)
	if !ok || d.Block == nil {
		return nil
	}
	out := []string{d.Block.Name}
	if d.Mapper != nil {
		out = append(out, d.Mapper.Name)
	}
	return out
}

func speaksOf(l probes.KernelLine, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return slices.Contains(l.Names, n) || strings.Contains(l.Text, `dev="`+n+`"`) // a denial of SELinux
	})
}

func beginsWith(text string, words []string) bool {
	text = strings.TrimSpace(text) // those of iSCSI's sessions begin with a blank
	return slices.ContainsFunc(words, func(w string) bool { return len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) })
}

// mountType is the type of filesystem in the words of the mount library of Kubernetes.
var mountType = pattern.MustCompile(`Mounting arguments: (?:\S+ )*?-t ([a-z][a-z0-9]{3,})\b`)

// modules are the words with which the kernel's lines about the filesystem of a fresh attempt begin: modules
// bear the name of their filesystem (LustreError, wekafsio); Lustre speaks of its network as LNet.
func modules(texts []evidence.Text) []string {
	for _, t := range texts {
		if m := mountType.FindStringSubmatch(t.Raw); t.Fresh && m != nil {
			if m[1] == "lustre" {
				return []string{m[1], "LNet"}
			}
			return []string{m[1]}
		}
	}
	return nil
}

// Hung are the processes of a node that wait inside the kernel, those of the volume's
// pods and of its driver's pod, and the tools of that pod that do not come back.
func Hung(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	view := x.View(node)
	if view == nil {
		return nil
	}
	uids := evidence.Each(v.Live(), func(c *snapshot.Consumer) string { return string(c.Pod.UID) })
	plugin := "-"
	if p := x.DriverPodOn(v.CSIName(), node); p != nil {
		plugin = string(p.UID)
		uids = append(uids, plugin)
	}
	var out []report.Evidence
	for _, p := range view.Processes() {
		if p.State == "D" && (slices.Contains(uids, p.PodUID) || strings.HasPrefix(p.Unit, "kubelet")) {
			out = append(out, evidence.FromNode(node, fmt.Sprintf("proc/%d/wchan", p.PID), strings.TrimSpace(p.Comm+" "+p.WChan)))
		} else if p.PodUID == plugin && longTool(x, p) {
			out = append(out, evidence.FromNode(node, fmt.Sprintf("since %s, proc/%d/cmdline", stamp(p.Started), p.PID), strings.Join(p.Cmdline, " ")))
		}
		if len(out) == 2 {
			break
		}
	}
	return out
}

// Withheld tells what of the volume's disk takes no requests, or none that write: a map that a
// tool, which made a snapshot or enlarged the volume, left suspended (dmsetup suspend), and a disk
// that the kernel calls read-only.
func Withheld(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	d, ok := x.DeviceOn(v, node)
	if !ok {
		return nil
	}
	var out []report.Evidence
	for _, b := range []*probes.BlockDevice{d.Block, d.Mapper} {
		if b != nil && b.DM != nil && b.DM.Suspended {
			out = append(out, evidence.FromNode(node, "sys/class/block/"+b.Name+"/dm/suspended", "1"))
		}
		if b != nil && b.ReadOnly {
			out = append(out, evidence.FromNode(node, "sys/class/block/"+b.Name+"/ro", "1"))
		}
	}
	return out
}

// Inside are the processes that have something open below a share and belong to no pod of it: an
// unmount waits for them.
func Inside(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	view := x.View(node)
	if !KindOf(x, v, node).Share() {
		return nil
	}
	var out []report.Evidence
	for _, m := range x.VolumeMounts(v, node) {
		for _, o := range view.Openers(m.Mount.Dev) {
			fact := evidence.FromNode(node, o.Descriptor.Path, o.Process.Comm)
			if len(out) < 2 && !x.IsConsumerProcess(v, node, x.WhoIs(view, o.Process)) && !slices.Contains(out, fact) {
				out = append(out, fact)
			}
		}
	}
	return out
}

// Unready are the containers of the driver's pods that act in a step and are not ready, or ended within the
// hour: one that is killed again and again is ready in between, and fails what it does then.
func Unready(x *snapshot.Index, v *snapshot.Volume, node, step string) []report.Evidence {
	var out []report.Evidence
	for _, pod := range actors(x, v, node, step) {
		out = append(out, unready(x, pod)...)
	}
	return out
}

func unready(x *snapshot.Index, pod *corev1.Pod) []report.Evidence {
	var out []report.Evidence
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		t := s.LastTerminationState.Terminated
		if s.Ready && (t == nil || x.Age(t.FinishedAt.Time) > endedLately) {
			continue
		}
		text := "not ready"
		if s.Ready {
			text = fmt.Sprintf("ended: %s (%d), %d restarts", t.Reason, t.ExitCode, s.RestartCount)
		} else if t != nil {
			text = fmt.Sprintf("not ready, ended with %d (%s), %d restarts", t.ExitCode, t.Reason, s.RestartCount)
		} else if w := s.State.Waiting; w != nil {
			text = "waiting: " + w.Reason
		}
		out = append(append(out, evidence.FromPod(pod, "status.containerStatuses["+s.Name+"]", text)), LastWords(x, pod, s.Name)...)
	}
	return out
}

// Works compares: another node that has the volume mounted, and another volume of the
// same driver that is mounted on this one. What a pod does on a node that does not report is
// not known.
func Works(x *snapshot.Index, v *snapshot.Volume, node string) []string {
	var out []string
	reports := func(n string) bool {
		ready := x.NodeReady(n)
		return n != "" && (ready.Ready || !ready.Known)
	}
	for _, c := range v.Running() {
		if n := c.Node(); n != node && reports(n) && !c.Terminating() {
			out = append(out, "the volume is in use on node "+n)
			break
		}
	}
	if driver := v.CSIName(); driver != "" {
		for _, o := range x.VolumesOn(node) {
			if o == v || o.CSIName() != driver {
				continue
			}
			if slices.ContainsFunc(o.Running(), func(c *snapshot.Consumer) bool { return c.Node() == node && reports(node) }) {
				out = append(out, "another volume of "+driver+" is in use on node "+node)
				break
			}
		}
	}
	return out
}

// Plugin is the driver's pod on a node with the container that is the driver: the
// first privileged one that is no sidecar.
func Plugin(x *snapshot.Index, v *snapshot.Volume, node string) (pod *corev1.Pod, container string) {
	if pod = x.DriverPodOn(v.CSIName(), node); pod == nil || len(pod.Spec.Containers) == 0 {
		return nil, ""
	}
	return pod, driverIn(pod)
}

// Controller is the pod that acts for a driver in a step with the container that is the driver.
func Controller(x *snapshot.Index, v *snapshot.Volume, step string) (pod *corev1.Pod, container string) {
	_, pods := Sidecar(x, v, step)
	if len(pods) == 0 || len(pods[0].Spec.Containers) < 2 {
		return nil, ""
	}
	return pods[0], driverIn(pods[0])
}

// driverIn is the container of a pod that is the driver.
func driverIn(pod *corev1.Pod) string {
	best, most := 0, -1
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		rank := 0
		if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
			rank++
		}
		if !evidence.ContainsAny(c.Name, sidecars...) {
			rank += 2
		}
		if rank > most {
			best, most = i, rank
		}
	}
	return pod.Spec.Containers[best].Name
}

// sidecars are parts of the names of containers that stand beside a driver.
var sidecars = []string{"registrar", "liveness", "attacher", "provisioner", "resizer", "snapshotter", "health", "rbac-proxy"}
