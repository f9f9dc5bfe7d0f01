// Package detach answers questions about volumes that the attach-detach controller takes
// away from a node without an unmount (pkg/controller/volume/attachdetach).
package detach

import (
	"fmt"
	"slices"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// maxWait is maxWaitForUnmountDuration of the reconciler.
const maxWait = 6 * time.Minute

// Attached is a volume that is attached to a node.
type Attached struct {
	Volume     *snapshot.Volume
	Attachment *storagev1.VolumeAttachment
}

// List are the volumes of a node.
type List []Attached

// To are the volumes that are attached to a node and not on their way off, and those of
// them that no pod object needs there: only for these the clock runs.
func To(x *snapshot.Index, node string) (all, free List) {
	for _, v := range x.VolumesOn(node) {
		va := v.AttachmentOn(node)
		if va == nil || !va.Status.Attached || va.DeletionTimestamp != nil {
			continue
		}
		all = append(all, Attached{v, va})
		if len(v.LiveConsumersOn(node)) == 0 {
			free = append(free, Attached{v, va})
		}
	}
	return all, free
}

// Any asks whether there is one.
func (l List) Any(x *snapshot.Index) evidence.Answer {
	facts := evidence.Each(l, func(a Attached) report.Evidence {
		return evidence.FromAPI("VolumeAttachment "+a.Attachment.Name, "status.attached", "true, to node "+a.Attachment.Spec.NodeName)
	})
	return evidence.Resource(x, "storage.k8s.io/volumeattachments").Found(facts...)
}

// Names are those of their PersistentVolumes.
func (l List) Names() []string {
	return evidence.Each(l, func(a Attached) string { return a.Volume.PVName() })
}

// Unmounted leaves those that the kubelet of the node does not report in use.
func (l List) Unmounted(x *snapshot.Index, node string) List {
	return slices.DeleteFunc(slices.Clone(l), func(a Attached) bool { return !x.ReportedInUse(node, a.Volume) })
}

// Unneeded asks whether it was seen that no pod object uses them: all pods were read, and
// then (the second answer) all claims by which pods name their volumes.
func Unneeded(x *snapshot.Index) (pods, claims evidence.Answer) {
	return evidence.Resources(x, "/pods", "/nodes").Nothing(), evidence.Resource(x, "/persistentvolumeclaims").Nothing()
}

// Silent asks whether a node does not report.
func Silent(x *snapshot.Index, node string) evidence.Answer {
	r := x.NodeReady(node)
	return evidence.When(r.Known && !r.Ready, evidence.FromAPI("Node "+node, "status.conditions[Ready]", strings.TrimSpace("not True since "+r.Since.UTC().Format(time.RFC3339)+" "+r.Reason)))
}

// Reports asks whether a node is Ready.
func Reports(x *snapshot.Index, node string) evidence.Answer {
	return evidence.When(x.NodeReady(node).Ready, evidence.FromAPI("Node "+node, "status.conditions[Ready]", "True"))
}

// DeclaredOff asks whether a node carries the taint that says its machine is off
// (KEP-2268), by which its volumes are taken away at once.
func DeclaredOff(x *snapshot.Index, name string) evidence.Answer {
	return tainted(x, name, node.OutOfService)
}

// ShownOff asks whether the cloud provider says that the machine is shut down.
func ShownOff(x *snapshot.Index, name string) evidence.Answer { return tainted(x, name, node.Shutdown) }

func tainted(x *snapshot.Index, name, key string) evidence.Answer {
	return evidence.When(node.Tainted(x.Node(name), key), evidence.FromAPI("Node "+name, "spec.taints", key))
}

// Disabled asks whether the controller was seen to run without the clock (since 1.30).
func Disabled(x *snapshot.Index) evidence.Answer {
	for _, pod := range x.Cluster.Pods {
		for _, c := range pod.Spec.Containers {
			words := strings.Join(slices.Concat(c.Command, c.Args), " ")
			if strings.Contains(words, "--disable-force-detach-on-timeout") && !strings.Contains(words, "--disable-force-detach-on-timeout=false") {
				return evidence.Yes(evidence.FromPod(pod, "spec.containers["+c.Name+"]", "--disable-force-detach-on-timeout"))
			}
		}
	}
	return evidence.No()
}

// SparesNobody asks whether the controller may be one that takes a volume away from a Ready
// node, too: before 1.26. Patch releases since then ask for the node's state, and the version
// of a server does not tell which (kubernetes/kubernetes#110721).
func SparesNobody(x *snapshot.Index) evidence.Answer {
	return evidence.When(x.Server != "" && !node.ServerAtLeast(x, 1, 26))
}

// Left says in a sentence how much of the time remains. What a StatefulSet makes anew was
// made after the old pod had gone, so its age is the least that the clock shows.
func (l List) Left(x *snapshot.Index) string {
	for _, a := range l {
		for _, w := range a.Volume.Waiting() {
			if x.TopOwner(w.Pod).Kind != "StatefulSet" {
				continue
			}
			since := x.Age(w.Pod.CreationTimestamp.Time)
			made := fmt.Sprintf("Pod %s/%s was made %s ago, so ", w.Pod.Namespace, w.Pod.Name, evidence.Duration(since))
			if since >= maxWait {
				return made + "the time is up already, unless the controller started anew since or has that switched off."
			}
			return made + "at most " + evidence.Duration(maxWait-since) + " are left."
		}
	}
	return "When that was no object tells, so the time left is six minutes at most."
}
