package files

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Labelled asks whether the runtime labels the files of this volume for the pod at all:
// not for privileged containers and not for the type that may do everything.
func (t Tree) Labelled() evidence.Answer {
	own := func(o *corev1.SELinuxOptions) bool { return o != nil && o.Type == "spc_t" }
	pod := t.c.Pod
	if s := pod.Spec.SecurityContext; t.c.Block || s != nil && own(s.SELinuxOptions) {
		return evidence.No()
	}
	return evidence.When(snapshot.AnyContainer(pod, func(c *corev1.Container) bool {
		mounts := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == t.c.Volume })
		s := c.SecurityContext
		return mounts && (s == nil || (s.Privileged == nil || !*s.Privileged) && !own(s.SELinuxOptions))
	}))
}

// OneByOne asks whether the files of the pod's mount carry labels of their own; with
// context= the mount has one label for all.
func (t Tree) OneByOne() evidence.Answer {
	if t.mount == nil {
		return t.Mounted()
	}
	all := slices.Concat(t.mount.Options, t.mount.Super)
	one := slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, "context=") })
	return evidence.All(evidence.When(slices.Contains(all, "seclabel") && !one), t.Mounted())
}

// LabelsAtMount says, to go on with a sentence, that the driver can label at mount time.
func (t Tree) LabelsAtMount() string {
	if d := t.pl.X.CSIDriver(t.pl.Volume.CSIName()); d != nil && d.Spec.SELinuxMount != nil && *d.Spec.SELinuxMount {
		return "; this driver offers it"
	}
	return ""
}

const enforce = "sys/fs/selinux/enforce"

// SELinux asks whether the kernel of the node uses SELinux, enforcing or not.
func (t Tree) SELinux() evidence.Answer {
	if r := t.pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	file, ok := t.pl.View.Facts.Files[enforce]
	return evidence.When(ok && file.Err == "", evidence.FromNode(t.c.Node(), enforce, strings.TrimSpace(file.Content)))
}

// systems come with SELinux switched on.
var systems = pattern.MustCompile(`(?i)red hat|rhel|coreos|fedora|centos|rocky|alma|oracle linux|bottlerocket|amazon linux 2023`)

// SELinuxSystem asks whether the node runs a system that comes with SELinux.
func (t Tree) SELinuxSystem() evidence.Answer {
	n := t.pl.X.Node(t.c.Node())
	if n == nil {
		return evidence.Unseen(evidence.Lack{Need: "api//nodes", Node: t.c.Node(), Why: "node " + t.c.Node() + " was not read"})
	}
	fact := evidence.FromAPI("Node "+n.Name, "status.nodeInfo.osImage", n.Status.NodeInfo.OSImage)
	if !systems.MatchString(n.Status.NodeInfo.OSImage) {
		return evidence.Unseen(evidence.Lack{Need: "node/" + n.Name, Node: n.Name, Why: "whether " + n.Status.NodeInfo.OSImage + " uses SELinux was not seen"})
	}
	return evidence.Yes(fact)
}

// runtimes are the daemons that make containers.
var runtimes = []string{"crio", "containerd", "dockerd", "k3s", "rke2", "conmon", "runc", "crun"}

// Labelling asks whether a thread of the runtime is setting a label.
func (t Tree) Labelling() evidence.Answer {
	var daemons []*probes.Process
	if t.pl.View != nil {
		daemons = t.pl.View.Facts.Daemons(runtimes...)
	}
	return t.inKernel(daemons, "setxattr", "xattr_set", "attr_set", "nfs4_proc_set_acl")
}

// reserved are the words of CRI-O and containerd while the first request for a container
// still works on it.
var reserved = pattern.MustCompile(`(?i)timing out in CRI-O due to system load|error reserving ctr name|failed to reserve container name|name "?\S+"? is reserved`)

// NameTaken asks whether the runtime says that it still works on the pod's container.
func (t Tree) NameTaken() evidence.Answer {
	return t.creation(func(x evidence.Text) bool { return reserved.MatchString(x.Raw) })
}

// TakesLong asks whether the runtime says so, or that the time for making a container ran
// out.
func (t Tree) TakesLong() evidence.Answer {
	return evidence.Any(t.NameTaken(), t.creation(func(x evidence.Text) bool {
		return x.Is(message.Deadline) && (x.Reason == "Failed" || x.Reason == "CreateContainerError")
	}))
}

// creation finds a fresh text of the pod that is about no mount and no sandbox.
func (t Tree) creation(says func(evidence.Text) bool) evidence.Answer {
	for _, x := range t.pl.Texts {
		mount := x.Op != "" || strings.HasPrefix(x.Reason, "FailedMount") || strings.HasPrefix(x.Reason, "FailedAttach") || x.Reason == "FailedCreatePodSandBox"
		if x.Fresh && !mount && says(x) {
			return evidence.Yes(x.Evidence())
		}
	}
	return evidence.No()
}

// long is how long a container may take before its creation is conspicuous: kubelet's
// request to the runtime ends after two minutes.
const long = 4 * time.Minute

// BeingMade asks whether a container of the pod is being made for long, without a word:
// its volumes are there, no image is on its way, and nobody changes owners. Its words may
// have expired: not seen.
func (t Tree) BeingMade() evidence.Answer {
	waits := slices.ContainsFunc(t.pl.Texts, func(x evidence.Text) bool {
		return x.Fresh && (x.Reason == "FailedMount" || x.Reason == "FailedAttachVolume")
	})
	if waits || t.pulling() || t.OwnersChange().Yes() || t.pl.X.Age(t.c.Pod.CreationTimestamp.Time) < long {
		return evidence.No()
	}
	return evidence.Unseen(evidence.Lack{Need: "the runtime's words about a container that is still being made", Node: t.c.Node(), Why: "none was recorded"})
}

// pulling tells whether an image is on its way.
func (t Tree) pulling() bool {
	pulls := false
	for _, x := range t.pl.Texts { // newest first
		switch x.Reason {
		case "Pulled":
			return pulls
		case "Pulling", "ErrImagePull", "ImagePullBackOff":
			pulls = true
		}
	}
	return pulls
}
