package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed selinux_relabel_slow.md
var selinuxRelabelSlowDoc string

// SELinuxRelabelSlow finds pods that wait while the container runtime labels every file
// of a large volume.
var SELinuxRelabelSlow = &diagnosis.Rule{
	Name: "selinux-relabel-slow", Layer: diagnosis.Filesystem, Severity: report.Degraded,
	Explains: []string{"pod-waiting-for-volume"},
	Doc:      selinuxRelabelSlowDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, w := range v.Waiting() {
				if w.Node() != "" && !w.Block && relabels(w) {
					relabelSlow(p, v, w)
				}
			}
		}
	},
}

// relabels tells whether the runtime labels the pod's volumes at all: not for
// privileged containers and not for the type that may do everything.
func relabels(w *snapshot.Consumer) bool {
	own := func(o *corev1.SELinuxOptions) bool { return o != nil && o.Type == "spc_t" }
	if s := w.Pod.Spec.SecurityContext; s != nil && own(s.SELinuxOptions) {
		return false
	}
	return slices.ContainsFunc(slices.Concat(w.Pod.Spec.InitContainers, w.Pod.Spec.Containers), func(c corev1.Container) bool {
		mounts := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == w.Volume })
		s := c.SecurityContext
		return mounts && (s == nil || (s.Privileged == nil || !*s.Privileged) && !own(s.SELinuxOptions))
	})
}

// reserved are the words of CRI-O and containerd while the first request for a
// container still works on it.
var reserved = regexp.MustCompile(`(?i)timing out in CRI-O due to system load|error reserving ctr name|failed to reserve container name|name "?\S+"? is reserved for`)

// creationText is the newest fresh text about a container that takes too long to be
// made; a plain time-out counts when it is about no mount.
func creationText(p *diagnosis.Pass, w *snapshot.Consumer) (diagnosis.Text, bool) {
	for _, t := range p.PodTexts(w.Pod) {
		mount := t.Op != "" || strings.HasPrefix(t.Reason, "FailedMount") || strings.HasPrefix(t.Reason, "FailedAttach") || t.Reason == "FailedCreatePodSandBox"
		if t.Fresh && !mount && (reserved.MatchString(t.Raw) || t.Is(message.Deadline) && (t.Reason == "Failed" || t.Reason == "CreateContainerError")) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

// mountsWait tells whether the kubelet itself still waits for volumes of the pod: then
// no container is being made yet.
func mountsWait(p *diagnosis.Pass, w *snapshot.Consumer) bool {
	return slices.ContainsFunc(p.PodTexts(w.Pod), func(t diagnosis.Text) bool {
		return t.Fresh && (t.Reason == "FailedMount" || t.Reason == "FailedAttachVolume")
	})
}

// longCreation is how long a container may take before its creation is conspicuous:
// the kubelet's request to the runtime ends after two minutes.
const longCreation = 4 * time.Minute

func relabelSlow(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	node := w.Node()
	said, told := creationText(p, w)
	view := p.View(node)
	if view == nil {
		if told {
			relabelUnseen(p, v, w, said)
		}
		return
	}
	m, labels := labelledFileByFile(p, v, w, view)
	used, at, found := filesOf(p, v, w, view)
	if !labels || !found || used < manyFiles || !selinuxOn(view) {
		return
	}
	if !told && (mountsWait(p, w) || p.Age(w.Pod.CreationTimestamp.Time) < longCreation || changesOwners(p, v, w) || pulling(p, w)) {
		return
	}
	certainty := report.Certain
	if !told {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.PodSubject(w.Pod)).On(v).Located(node)
	f.Pod(w.Pod)
	f.Waiting = true
	f.Sayf("Pod %s/%s on node %s waits for the container runtime, which gives every file of volume %s the pod's SELinux label before it starts a container. The volume is mounted for the pod at %s, answers, and has %d files. Nothing failed; it takes time, and the kubelet's requests run out meanwhile.",
		w.Pod.Namespace, w.Pod.Name, node, volumeName(v), m.Point, used)
	if told {
		f.Fact(said.Evidence())
	} else {
		f.NotConfirmed = append(f.NotConfirmed, "the runtime's words about a container that is still being made")
	}
	f.Fact(
		diagnosis.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Line), m.Raw),
		diagnosis.FromNode(node, "@statfs"+at, fmt.Sprintf("%d inodes in use", used)),
		diagnosis.FromNode(node, "sys/fs/selinux/enforce", strings.TrimSpace(view.Facts.Files["sys/fs/selinux/enforce"].Content)),
	)
	finishRelabel(p, f, v)
}

// relabelUnseen judges by the runtime's words. Whether the node uses SELinux is known
// from its system at best.
func relabelUnseen(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer, said diagnosis.Text) {
	node := w.Node()
	n := p.Node(node)
	if n == nil || !reserved.MatchString(said.Raw) {
		return
	}
	p.Probed(node)
	certainty, system := report.Possible, n.Status.NodeInfo.OSImage
	if selinuxSystem.MatchString(system) {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.PodSubject(w.Pod)).On(v).Located(node).Fact(said.Evidence())
	f.Pod(w.Pod)
	f.Waiting = true
	f.Fact(diagnosis.FromAPI("Node "+node, "status.nodeInfo.osImage", system))
	f.Sayf("Pod %s/%s on node %s (%s) waits for a container that the runtime does not finish: its name is taken by the request before. That is how it looks while every file of volume %s gets its SELinux label; how many files there are was not seen.", w.Pod.Namespace, w.Pod.Name, node, system, volumeName(v))
	f.Missing("the volume's mount (seclabel), the number of its files, and SELinux on node " + node)
	finishRelabel(p, f, v)
}

// selinuxSystem are systems that come with SELinux switched on.
var selinuxSystem = regexp.MustCompile(`(?i)red hat|rhel|coreos|fedora|centos|rocky|alma|oracle linux|bottlerocket|amazon linux 2023`)

func finishRelabel(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume) {
	f.Unless("an image that is still being pulled, a runtime that is overloaded without this volume, or a mount with context=")
	level := "Later: one seLinuxOptions.level for all pods of the claim, and labelling at mount time: the driver's seLinuxMount with access mode ReadWriteOncePod (on since Kubernetes 1.28; other modes with SELinuxMount)"
	if d := p.CSIDriver(v.CSIName()); d != nil && d.Spec.SELinuxMount != nil && *d.Spec.SELinuxMount {
		level += "; this driver offers it"
	}
	f.Advise(
		remedy.Words("Wait: the walk ends by itself. Starting the pod again begins it anew."),
		remedy.Words(level+". Or type spc_t for this pod, which leaves the labels alone. Keep SELinux on."),
	)
	p.Report(f)
}

// labelledFileByFile is the pod's own mount of the volume when its files carry labels of
// their own; with context= the mount has one label for all.
func labelledFileByFile(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer, view *snapshot.NodeView) (probes.Mount, bool) {
	for _, m := range p.VolumeMounts(v, view.Name) {
		if m.Path.Kind != snapshot.Publish || !strings.EqualFold(m.Path.PodUID, string(w.Pod.UID)) {
			continue
		}
		all := slices.Concat(m.Mount.Options, m.Mount.Super)
		one := slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, "context=") })
		return m.Mount, slices.Contains(all, "seclabel") && !one
	}
	return probes.Mount{}, false
}

// selinuxOn tells whether the kernel uses SELinux, enforcing or not.
func selinuxOn(view *snapshot.NodeView) bool {
	file, ok := view.Facts.Files["sys/fs/selinux/enforce"]
	return ok && file.Err == ""
}

// pulling tells whether an image is on its way.
func pulling(p *diagnosis.Pass, w *snapshot.Consumer) bool {
	pulls := false
	for _, t := range p.PodTexts(w.Pod) { // newest first
		switch t.Reason {
		case "Pulled":
			return pulls
		case "Pulling", "ErrImagePull", "ImagePullBackOff":
			pulls = true
		}
	}
	return pulls
}
