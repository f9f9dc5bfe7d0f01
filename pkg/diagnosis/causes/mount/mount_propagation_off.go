package mount

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed mount_propagation_off.md
var mountPropagationOffDoc string

// MountPropagationOff finds host mounts that must be shared and are private.
var MountPropagationOff = &diagnosis.Rule{
	Name: "mount-propagation-off", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-failed", "attach-failed", "pod-waiting-for-volume", "volume-io-error"},
	LeadsTo:  []string{"mount-missing-under-pod", "longhorn-control-plane-down", "csi-plugin-not-registered"},
	Doc:      mountPropagationOffDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			propagationOn(p, node)
		}
	},
}

// demand is a path whose mount must be shared (or at least a slave) for a pod.
type demand struct {
	pod   *corev1.Pod
	path  string
	slave bool // a slave is enough: HostToContainer
	text  diagnosis.Text
	mount string // the mount point that the runtime names
}

// notShared is what runc, containerd and docker say: "path P is mounted on M but
// it is not a shared [or slave] mount" (containerd pkg/cri, oci spec of runc).
var notShared = regexp.MustCompile(`(?i)path "?(/[^"\s]*)"? is mounted on "?(/[^"\s]*?)"? but it is not a shared (or slave )?mount`)

func propagationOn(p *diagnosis.Pass, node string) {
	demands := demandsOn(p, node)
	if len(demands) == 0 {
		return
	}
	view := p.View(node)
	if view == nil || view.Init == nil {
		for _, d := range demands {
			if d.text.Raw != "" {
				p.Probed(node)
				unreadPropagation(p, node, d)
				return
			}
		}
		longhornPropagation(p, node)
		return
	}
	for _, d := range demands {
		m := view.Containing(d.path)
		if m == nil || m.Shared != 0 || d.slave && m.Master != 0 || !harmed(p, node, d) {
			continue
		}
		f := privateMount(p, node, *m, d)
		f.Fact(tableLine(node, view.Init, *m))
		p.Report(f)
	}
}

// harmed tells whether somebody suffers from a private mount: a container was refused, its
// pod does not run, or a volume of the question is not where its pod needs it. Mounts
// that the kubelet makes itself reach their pods without it.
func harmed(p *diagnosis.Pass, node string, d demand) bool {
	if p.Sweep() || d.text.Raw != "" || !runs(d.pod) {
		return true
	}
	for _, v := range p.Volumes() {
		if p.Suffers(v, "mount-failed", "attach-failed", "pod-waiting-for-volume", "volume-io-error") {
			return true
		}
		for _, c := range v.LiveConsumersOn(node) {
			published := func(m snapshot.VolumeMount) bool { return sameUID(m.Path.PodUID, string(c.Pod.UID)) }
			if !v.Block() && !bindsDirectories(v) && !slices.ContainsFunc(p.VolumeMounts(v, node), published) {
				return true
			}
		}
	}
	return false
}

// demandsOn are the paths that storage pods, consumers and the asked pod mount from
// the host with propagation, and the paths that a runtime refused.
func demandsOn(p *diagnosis.Pass, node string) []demand {
	root := kubeletRoot(p, node)
	var out []demand
	for _, pod := range p.PodsOn(node) {
		mine := !p.Sweep() && ofQuestion(p, pod)
		for _, t := range refusals(p, pod) {
			if m := notShared.FindStringSubmatch(t.Raw); mine || p.Sweep() || storagePath(root, m[1]) {
				out = append(out, demand{pod: pod, path: m[1], slave: m[3] != "", text: t, mount: m[2]})
			}
		}
		for _, v := range pod.Spec.Volumes {
			if v.HostPath == nil || !mine && !storagePath(root, v.HostPath.Path) {
				continue
			}
			switch propagation(pod, v.Name) {
			case corev1.MountPropagationBidirectional:
				out = append(out, demand{pod: pod, path: v.HostPath.Path})
			case corev1.MountPropagationHostToContainer:
				if mine {
					out = append(out, demand{pod: pod, path: v.HostPath.Path, slave: true})
				}
			}
		}
	}
	return out
}

// storagePath tells whether volumes are mounted below a path: the kubelet's
// directory or Longhorn's.
func storagePath(root, path string) bool {
	return covers(root, path) || covers("/var/lib/longhorn", path) || path != "/" && covers(path, root)
}

// propagation is the strongest one that a container of the pod asks of a volume.
func propagation(pod *corev1.Pod, volume string) corev1.MountPropagationMode {
	best := corev1.MountPropagationNone
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range list {
			for _, m := range c.VolumeMounts {
				if m.Name != volume || m.MountPropagation == nil {
					continue
				}
				if *m.MountPropagation == corev1.MountPropagationBidirectional || best == corev1.MountPropagationNone {
					best = *m.MountPropagation
				}
			}
		}
	}
	return best
}

// refusals are the runtime's words in the pod's events and waiting reasons.
func refusals(p *diagnosis.Pass, pod *corev1.Pod) []diagnosis.Text {
	var out []diagnosis.Text
	for _, s := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if w := s.State.Waiting; w != nil && notShared.MatchString(w.Message) {
			out = append(out, diagnosis.Text{Source: "api", Locator: "Pod " + podName(pod) + " status.containerStatuses[" + s.Name + "].state.waiting", Raw: w.Message, Fresh: true})
		}
	}
	for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
		if notShared.MatchString(e.Message) && (e.ObjUID == "" || e.ObjUID == string(pod.UID)) {
			out = append(out, diagnosis.Text{Source: "event", Locator: "Event Pod " + podName(pod) + " " + e.Reason, Raw: e.Message, Fresh: p.Fresh(e, pod.CreationTimestamp.Time)})
		}
	}
	return out
}

func privateMount(p *diagnosis.Pass, node string, m probes.Mount, d demand) *diagnosis.Finding {
	f := p.Find(report.Certain, diagnosis.NodeSubject(node))
	f.Node(node)
	f.Pod(d.pod)
	f.Sayf("On node %s the mount %s, which contains %s, is not shared: mounts made below it do not reach other mount namespaces. %s needs it (mountPropagation of that hostPath)%s.",
		node, m.Point, d.path, strings.ToUpper(owned(p, d.pod)[:1])+owned(p, d.pod)[1:], refused(d))
	if d.text.Raw != "" {
		f.Fact(d.text.Evidence())
	}
	f.Unless("a shared: tag on this line of proc/1/mountinfo")
	advisePropagation(f, node, m.Point)
	return f
}

func refused(d demand) string {
	if d.text.Raw == "" {
		return ""
	}
	return ", and the container runtime refuses to create its container"
}

func advisePropagation(f *diagnosis.Finding, node, mount string) {
	f.Advise(remedy.Words(fmt.Sprintf("Make the mount shared on node %s with `mount --make-rshared %s`, and let a unit or an init script do so at every boot before the container runtime starts. "+
		"Leave mountPropagation in the pod as it is: without it the message disappears, and the pod pins mounts instead.", node, mount)))
}

// unreadPropagation relies on the runtime's words: first-hand when they are fresh.
func unreadPropagation(p *diagnosis.Pass, node string, d demand) {
	f := privateMount(p, node, probes.Mount{Point: d.mount}, d)
	if !d.text.Fresh {
		f.Missing("the mount table of node " + node + " (the text is old)")
	}
	p.Report(f)
}

// longhornPropagation takes the condition that old Longhorn versions report.
func longhornPropagation(p *diagnosis.Pass, node string) {
	n := p.LHNode(node)
	if n == nil {
		return
	}
	c, ok := n.Conditions.Get("MountPropagation")
	if !ok || c.Status != "False" {
		return
	}
	p.Probed(node)
	f := p.Find(report.Likely, diagnosis.NodeSubject(node))
	f.Node(node)
	f.Sayf("Longhorn reports that mount propagation does not work on node %s: %s", node, c.Message)
	f.Fact(diagnosis.FromAPI("nodes.longhorn.io "+node, "status.conditions[MountPropagation]", c.Status+" "+c.Message))
	f.Missing("the mount table of node " + node)
	f.Unless("a shared: tag on the mount that contains the kubelet's directory")
	advisePropagation(f, node, "/")
	p.Report(f)
}
