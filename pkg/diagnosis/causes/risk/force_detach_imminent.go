package risk

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed force_detach_imminent.md
var forceDetachImminentDoc string

// ForceDetachImminent finds nodes that may live while Kubernetes is about to take, or
// takes at once, their volumes away.
var ForceDetachImminent = &diagnosis.Rule{
	Name: "force-detach-imminent", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	Needs:   []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/nodes"), diagnosis.API("storage.k8s.io/volumeattachments")},
	LeadsTo: []string{"mount-of-dead-device", "device-mapped-on-other-node", "filesystem-needs-fsck"},
	Doc:     forceDetachImminentDoc,
	Run: func(p *diagnosis.Pass) {
		if !p.Collected("/pods") || !p.Collected("/nodes") {
			return
		}
		for _, name := range p.Nodes() {
			if n := p.Node(name); n != nil {
				detachClock(p, n)
			}
		}
	},
}

const (
	taintOutOfService = "node.kubernetes.io/out-of-service"
	taintShutdown     = "node.cloudprovider.kubernetes.io/shutdown"
	// maxWaitForUnmount is fixed in pkg/controller/volume/attachdetach.
	maxWaitForUnmount = 6 * time.Minute
)

// released are the volumes of the question that are attached to a node where no pod
// object uses them any more: only for these the clock runs.
type released struct {
	Volume     *snapshot.Volume
	Attachment *storagev1.VolumeAttachment
}

func detachClock(p *diagnosis.Pass, n *corev1.Node) {
	attached, free := attachedTo(p, n.Name)
	if len(attached) == 0 {
		return
	}
	l := lifeOf(p, n.Name)
	isReady := p.NodeReady(n.Name).Ready
	switch {
	case hasTaint(n, taintOutOfService):
		if isReady || l.Said != "" {
			outOfService(p, n, attached, l, isReady)
		}
	case isReady:
		if old := stuckUnmounts(p, n, free); len(old) > 0 {
			oldController(p, n, old)
		}
	case len(free) == 0, switchedOff(p), !p.NodeReady(n.Name).Known:
	case hasTaint(n, taintShutdown) && l.Said == "":
		// shown off: nobody there can write
	default:
		clockRuns(p, n, free, l)
	}
}

// attachedTo are the attachments of the asked volumes to a node, and those of them
// that no pod object needs there.
func attachedTo(p *diagnosis.Pass, node string) (attached, free []released) {
	for _, v := range p.VolumesAt(node) {
		va := v.AttachmentOn(node)
		if va == nil || !va.Status.Attached || va.DeletionTimestamp != nil {
			continue
		}
		attached = append(attached, released{v, va})
		if len(v.LiveConsumersOn(node)) == 0 {
			free = append(free, released{v, va})
		}
	}
	return attached, free
}

// switchedOff tells whether the controller was seen to run without the clock (since 1.30).
func switchedOff(p *diagnosis.Pass) bool {
	return slices.ContainsFunc(p.Cluster.Pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
			words := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
			return strings.Contains(words, "--disable-force-detach-on-timeout") && !strings.Contains(words, "--disable-force-detach-on-timeout=false")
		})
	})
}

func hasTaint(n *corev1.Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// begin ties a finding to the node and its volumes.
func begin(p *diagnosis.Pass, c report.Certainty, node string, volumes []released) (f *diagnosis.Finding, names string) {
	f = p.Find(c, diagnosis.NodeSubject(node)).Located(node)
	var list []string
	for _, r := range volumes {
		f.On(r.Volume)
		f.Object("va", r.Attachment.Name)
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+r.Attachment.Name, "status.attached", "true, to node "+node))
		list = append(list, r.Volume.PVName())
	}
	if len(list) > 5 {
		list = append(list[:5], fmt.Sprintf("and %d more", len(volumes)-5))
	}
	return f, strings.Join(list, ", ")
}

func clockRuns(p *diagnosis.Pass, n *corev1.Node, free []released, l life) {
	f, names := begin(p, report.Certain, n.Name, free)
	r := p.NodeReady(n.Name)
	f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.conditions[Ready]", "not True since "+r.Since.UTC().Format(time.RFC3339)+" "+r.Reason))
	seen := "Nothing shows whether the machine runs"
	if l.Said != "" {
		seen = "The machine lives: " + l.Said
		f.Fact(l.Facts...)
	} else {
		p.Probed(n.Name)
		f.Missing("whether the machine " + n.Name + " runs and still writes")
	}
	f.NotConfirmed = append(f.NotConfirmed, "the flag --disable-force-detach-on-timeout of kube-controller-manager")
	f.Sayf("Node %s does not report, and no pod object uses %s there any more: six minutes after the last one was removed Kubernetes takes the volume away without an unmount, and attaches it elsewhere. %s. %s",
		n.Name, names, left(p, free), seen+".")
	f.Unless("a node that reports again, a pod object that still uses the volume there, or a machine that is shown to be off")
	f.Advise(remedy.Words(fmt.Sprintf("Bring the kubelet of %s back, or power the machine off, before the time is up. Whoever writes there afterwards damages the filesystem.", n.Name)))
	p.Report(f)
}

// left says how much of the time remains. What a StatefulSet makes anew was made after
// the old pod had gone, so its age is the least that the clock shows.
func left(p *diagnosis.Pass, free []released) string {
	for _, r := range free {
		for _, w := range r.Volume.Waiting() {
			if p.TopOwner(w.Pod).Kind != "StatefulSet" {
				continue
			}
			since := p.Age(w.Pod.CreationTimestamp.Time)
			if since >= maxWaitForUnmount {
				return fmt.Sprintf("Pod %s/%s was made %s ago, so the time is up already, unless the controller started anew since or has that switched off", w.Pod.Namespace, w.Pod.Name, diagnosis.Duration(since))
			}
			return fmt.Sprintf("Pod %s/%s was made %s ago, so at most %s are left", w.Pod.Namespace, w.Pod.Name, diagnosis.Duration(since), diagnosis.Duration(maxWaitForUnmount-since))
		}
	}
	return "When that was no object tells, so the time left is six minutes at most"
}

func outOfService(p *diagnosis.Pass, n *corev1.Node, attached []released, l life, isReady bool) {
	f, names := begin(p, report.Certain, n.Name, attached)
	f.Fact(diagnosis.FromAPI("Node "+n.Name, "spec.taints", taintOutOfService))
	seen := "reports that it is Ready"
	if !isReady {
		seen = "lives: " + l.Said
		f.Fact(l.Facts...)
	} else {
		f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.conditions[Ready]", "True"))
	}
	f.Sayf("Node %s carries the taint %s, which says that its machine is off, and it %s. Under this taint Kubernetes deletes its pods by force and takes their volumes (%s) away at once, without an unmount.", n.Name, taintOutOfService, seen, names)
	f.Unless("a node without the taint, or a machine that is off")
	f.Advise(remedy.Words(fmt.Sprintf("Take the taint off now: %s. It belongs only on machines that are known to be off, until they come back.",
		remedy.Inline("kubectl", "taint", "node", n.Name, taintOutOfService+"-"))))
	p.Report(f)
}

// stuckUnmounts are volumes that nobody uses on a Ready node and that its kubelet has
// not unmounted, where the controller is so old that it does not ask whether the node
// is Ready (kubernetes/kubernetes#110721, 1.26 and later patch releases before).
func stuckUnmounts(p *diagnosis.Pass, n *corev1.Node, free []released) []released {
	if p.Server == "" || serverAtLeast(p.Server, 1, 26) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(free), func(r released) bool { return !p.ReportedInUse(n.Name, r.Volume) })
}

func oldController(p *diagnosis.Pass, n *corev1.Node, old []released) {
	f, names := begin(p, report.Likely, n.Name, old)
	f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.volumesInUse", names))
	f.NotConfirmed = append(f.NotConfirmed, "whether this patch release asks for the node's state before it detaches")
	f.Sayf("No pod object uses %s on node %s any more, and its kubelet has not unmounted it. Kubernetes %s takes such a volume away after six minutes although the node is Ready, and the mount there is left without its device. %s.",
		names, n.Name, p.Server, left(p, old))
	f.Unless("an unmount on the node, or a controller that spares Ready nodes")
	f.Advise(remedy.Words(fmt.Sprintf("Find what keeps the volume mounted on %s before the time is up; the kubelet then unmounts it by itself.", n.Name)))
	p.Report(f)
}
