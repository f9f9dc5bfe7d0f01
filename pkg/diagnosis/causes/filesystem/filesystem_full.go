package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_full.md
var filesystemFullDoc string

// Full finds filesystems without bytes or inodes: a volume's own, and the node's
// below the kubelet's directory.
var Full = &diagnosis.Rule{
	Name: "filesystem-full", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("content")},
	Explains: []string{"volume-io-error", "mount-failed", "pod-stuck-terminating", "expansion-pending", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-disk-full", "pod-directory-orphaned", "node-down", "node-kubelet-down-workload-alive"},
	Doc:      filesystemFullDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Block() {
				volumeFull(p, v)
			}
		}
		for _, node := range p.Nodes() {
			nodeFull(p, node)
		}
	},
}

func volumeFull(p *diagnosis.Pass, v *snapshot.Volume) {
	said, complains := noSpaceText(p, v, func(t diagnosis.Text) bool { return spokenInside(v, t) })
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil {
			continue
		}
		for _, m := range p.VolumeMounts(v, node) {
			if m.Path.Kind != snapshot.Publish && m.Path.Kind != snapshot.Staging || m.Mount.HasSuper("ro") || slices.Contains(image, m.Mount.FSType) {
				continue
			}
			st, ok := view.Statfs(m.Mount.Point)
			if !ok || exhausted(st) == "" && !(complains && nearly(st)) {
				continue
			}
			reportFull(p, v, view, m, st, said)
			return
		}
	}
	if !complains || seenWithRoom(p, v) {
		return
	}
	f := p.Find(report.Likely, volumeOwner(v)).On(v).Located(said.Node).Fact(said.Evidence())
	p.Probed(said.Node)
	f.Sayf("The filesystem of volume %s is full, says its pod%s. Its free bytes and inodes were not seen.", volumeName(v), onNode(said.Node))
	f.Missing("the free bytes and inodes of the volume" + onNode(said.Node))
	adviseVolumeRoom(p, v, f)
	p.Report(f)
}

// noSpaceText is the newest fresh ENOSPC whose words fit; inotify's limits use the
// same errno (inotify_add_watch(2)).
func noSpaceText(p *diagnosis.Pass, v *snapshot.Volume, fits func(diagnosis.Text) bool) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if t.Fresh && t.Is(message.NoSpace) && !watchWords.MatchString(t.Raw) && fits(t) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

var watchWords = regexp.MustCompile(`(?i)inotify|fsnotify|watch`)

// spokenInside tells whether a text is about a file in the volume: the words of a pod
// of the claim that name the volume's directory, or of the driver that stages it.
func spokenInside(v *snapshot.Volume, t diagnosis.Text) bool {
	for _, c := range v.Live() {
		if t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || t.Source == "event" {
			continue
		}
		for _, k := range c.Pod.Spec.Containers {
			for _, m := range k.VolumeMounts {
				if m.Name == c.Volume && len(m.MountPath) > 1 && strings.Contains(t.Raw, m.MountPath) {
					return true
				}
			}
		}
	}
	return false
}

// seenWithRoom tells whether a node showed that the volume has room now.
func seenWithRoom(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil {
			continue
		}
		for _, m := range p.VolumeMounts(v, node) {
			if st, ok := view.Statfs(m.Mount.Point); ok && st.Err == "" && st.Blocks > 0 {
				return true
			}
		}
	}
	return false
}

func volumeOwner(v *snapshot.Volume) report.Subject {
	if ns, name := v.ClaimRef(); name != "" {
		return diagnosis.ObjectSubject("PersistentVolumeClaim", ns, name)
	}
	return diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
}

func onNode(node string) string {
	if node == "" {
		return ""
	}
	return " on node " + node
}

func reportFull(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m snapshot.VolumeMount, st probes.FSStat, said diagnosis.Text) {
	certainty, what := report.Certain, exhausted(st)
	if what == "" {
		certainty, what = report.Likely, "next to nothing left: "+numbers(st)
	}
	subject, shared := volumeOwner(v), ownDisk(view, m.Mount)
	if shared {
		subject = diagnosis.NodeSubject(view.Name)
	}
	f := p.Find(certainty, subject).On(v).Located(view.Name)
	f.Device(view.Name, m.Mount.Dev)
	for _, c := range v.LiveConsumersOn(view.Name) {
		f.Pod(c.Pod)
	}
	text := fmt.Sprintf("The %s filesystem of volume %s, mounted at %s on node %s, has %s.", m.Mount.FSType, volumeName(v), m.Mount.Point, view.Name, what)
	if shared {
		text += " It is a directory of the node's own disk, which the kubelet and all such volumes share."
	} else if strings.HasPrefix(m.Mount.FSType, "nfs") {
		text += " These are the numbers of the server: its filesystem or its quota is full, for every volume that lies on it."
	} else {
		text += " The disk and the way to it are well; writes fail with \"no space left on device\"."
	}
	f.Sayf("%s", text)
	f.Fact(diagnosis.FromNode(view.Name, "@statfs"+m.Mount.Point, numbers(st)))
	if said.Raw != "" {
		f.Fact(said.Evidence())
	}
	f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("proc/1/mountinfo:%d", m.Mount.Line), m.Mount.Raw))
	if said.Raw == "" && !p.Suffers(v, "volume-io-error", "mount-failed", "expansion-pending", "volume-readonly") {
		f.Severity = report.Degraded // nobody has met it yet
	}
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "a filesystem with nothing left at all")
	}
	if shared {
		adviseNodeRoom(f, view.Name, m.Mount.Point)
	} else {
		adviseVolumeRoom(p, v, f)
	}
	p.Report(f)
}

func adviseVolumeRoom(p *diagnosis.Pass, v *snapshot.Volume, f *diagnosis.Finding) {
	f.Unless("free bytes and free inodes in statfs of the volume's mount")
	grow := "Give the claim more room: raise spec.resources.requests.storage (more inodes come with it)."
	if v.Class != nil && (v.Class.AllowVolumeExpansion == nil || !*v.Class.AllowVolumeExpansion) {
		grow = "The class " + v.Class.Name + " does not allow expansion (allowVolumeExpansion): a larger volume means a new claim and a copy, or a class that allows it."
	}
	f.Advise(remedy.Words("Delete what the application can spare, from inside its pod."), remedy.Words(grow))
}

// nodeFull judges the filesystem below the kubelet's directory of a node where pods
// wait, end or shall be looked at.
func nodeFull(p *diagnosis.Pass, node string) {
	said, complains := kubeletNoSpace(p, node)
	view := p.View(node)
	if view == nil {
		if !complains {
			return
		}
		f := p.Find(report.Likely, diagnosis.NodeSubject(node))
		f.Node(node)
		p.Probed(node)
		f.Sayf("The kubelet of node %s finds no space on the node's own disk, below its directory. Free bytes and inodes were not seen; DiskPressure counts bytes of some directories only.", node)
		f.Fact(said.Evidence()).Missing("the free bytes and inodes below the kubelet's directory on node " + node)
		adviseNodeRoom(f, node, "the kubelet's directory")
		p.Report(f)
		return
	}
	root := view.KubeletRoot()
	st, ok := view.Statfs(root)
	what := exhausted(st)
	if !ok || what == "" && !(complains && nearly(st)) || !complains && !p.Sweep() && !troubled(p, node) {
		return
	}
	certainty := report.Certain
	if what == "" {
		certainty, what = report.Likely, "next to nothing left: "+numbers(st)
	}
	f := p.Find(certainty, diagnosis.NodeSubject(node))
	f.Node(node)
	on := ""
	if m := view.Containing(root); m != nil {
		on = " (" + m.Source + " at " + m.Point + ")"
		f.Fact(diagnosis.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Line), m.Raw))
	}
	f.Sayf("The disk of node %s below the kubelet's directory %s%s has %s. The kubelet cannot write what it needs to mount, to unmount or to start a pod; the volumes themselves are well.%s", node, root, on, what, pressure(p, node))
	f.Fact(diagnosis.FromNode(node, "@statfs"+root, numbers(st)))
	if complains {
		f.Fact(said.Evidence())
	}
	for _, d := range view.Facts.Kubelet.VolData {
		if d.Err != "" && d.Err != "ENOENT" {
			f.Fact(diagnosis.FromNode(node, strings.TrimPrefix(d.Path, "/"), d.Err))
		}
	}
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "a filesystem with nothing left at all")
	}
	adviseNodeRoom(f, node, root)
	p.Report(f)
}

// kubeletNoSpace is a fresh ENOSPC of the kubelet or the runtime about the node's own
// disk, also for a volume of the pod that is no persistent one.
func kubeletNoSpace(p *diagnosis.Pass, node string) (diagnosis.Text, bool) {
	for _, pod := range podsAsked(p, node) {
		for _, t := range p.PodTexts(pod) {
			own := strings.Contains(t.Raw, "/pods/") || strings.Contains(t.Raw, "/plugins/") || strings.Contains(t.Raw, "/containerd/") || strings.Contains(t.Raw, "/overlay")
			if t.Fresh && t.Is(message.NoSpace) && own && !watchWords.MatchString(t.Raw) {
				return t, true
			}
		}
	}
	return diagnosis.Text{}, false
}

// podsAsked are the pods of the question on a node that live.
func podsAsked(p *diagnosis.Pass, node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, v := range p.VolumesAt(node) {
		for _, c := range v.LiveConsumersOn(node) {
			out = append(out, c.Pod)
		}
	}
	if pod := p.Pod(p.Question.Namespace, p.Question.Name); p.Question.Kind == "pod" && pod != nil && pod.Spec.NodeName == node {
		out = append(out, pod)
	}
	if p.Sweep() {
		out = append(out, p.PodsOn(node)...)
	}
	return out
}

// troubled tells whether a pod of the question on the node waits or ends.
func troubled(p *diagnosis.Pass, node string) bool {
	return slices.ContainsFunc(podsAsked(p, node), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodPending || pod.DeletionTimestamp != nil
	})
}

// pressure says what the Node object makes of it.
func pressure(p *diagnosis.Pass, node string) string {
	n := p.Node(node)
	if n == nil {
		return ""
	}
	for _, c := range n.Status.Conditions {
		if c.Type == "DiskPressure" && c.Status != "True" {
			return " The Node's condition DiskPressure does not show it."
		}
	}
	return ""
}

func adviseNodeRoom(f *diagnosis.Finding, node, root string) {
	f.Unless("free bytes and free inodes below " + root)
	f.Advise(
		remedy.Check("See what fills the disk of node "+node+", bytes and inodes, without entering the volumes that are mounted below it.",
			remedy.OnNode(node, "du", "-x", "--inodes", "-d", "3", "/var/lib")),
		remedy.Words("Make room there: old images and logs, containers' scratch directories and emptyDir volumes of pods that may go. Never delete anything below pods/*/volumes: volumes are mounted there."),
	)
}
