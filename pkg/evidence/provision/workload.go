// Package provision answers questions about making the volume of a claim: who shall make it,
// what it said, and whether the parameters of its class fit.
package provision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// leaseStale is the age after which a provisioner's lease has no living leader; the
// sidecars renew it every few seconds.
const leaseStale = time.Minute

// Provisioner is who shall make the volumes of a class, as far as the API shows it.
type Provisioner struct {
	Name      string
	Pods      []*corev1.Pod
	Workloads []snapshot.Owner      // that run it, also without any pod
	Lease     *coordinationv1.Lease // of its leader election; nil: none was found
	ByName    bool                  // only a name speaks for the pods: likely, never proven
}

// find looks for the csi-provisioner of a driver; for provisioners that are
// no CSI driver, by the lease of their name, and at last by what pods are called.
func find(x *snapshot.Index, name, node string) Provisioner {
	m := Provisioner{Name: name, Pods: x.SidecarPods(name, "csi-provisioner"), Workloads: csi.Workloads(x, name, "csi-provisioner")}
	lease, proven := x.LeaderLease(name, snapshot.ProvisionerLeases(name)...)
	if m.Lease = lease; !proven && len(m.Pods)+len(m.Workloads) > 0 {
		m.Lease = nil // somebody else's, who writes what he likes in his namespace
	}
	if len(m.Pods) == 0 && m.Lease != nil {
		for _, pod := range x.Cluster.Pods {
			if pod.Namespace == m.Lease.Namespace && m.ledBy(pod) {
				m.Pods, m.ByName = append(m.Pods, pod), !proven
			}
		}
	}
	if len(m.Pods) == 0 && len(m.Workloads) == 0 {
		m.Pods, m.ByName = namesakes(x, name), true
	}
	m.Pods = slices.DeleteFunc(slices.Clone(m.Pods), func(pod *corev1.Pod) bool {
		return pods.Finished(pod).Yes() || node != "" && pod.Spec.NodeName != node && ownNodeOnly(pod)
	})
	return m
}

// MadeOn is the place at which a volume that does not exist yet is made: the node of the
// provisioner that leads, or of the only one.
func MadeOn(pl *evidence.Place) (*evidence.Place, bool) {
	if pl.Volume.PV != nil || pl.Volume.Claim == nil || pl.Volume.Class == nil {
		return nil, false
	}
	m := find(pl.X, Asked(pl.Volume), snapshot.ChosenNode(pl.Volume.Claim))
	for _, pod := range m.Pods {
		if node := pod.Spec.NodeName; node != "" && !m.ByName && (m.ledBy(pod) || len(m.Pods) == 1) {
			return pl.On(node), true
		}
	}
	return nil, false
}

// ledBy tells whether a pod holds the lease: its name, or that with a suffix of its own behind
// "_", as those that live in it write it.
func (m Provisioner) ledBy(pod *corev1.Pod) bool {
	if m.Lease == nil || m.Lease.Spec.HolderIdentity == nil {
		return false
	}
	name, _, _ := strings.Cut(*m.Lease.Spec.HolderIdentity, "_")
	return name == pod.Name
}

// ownNodeOnly tells whether every node has a provisioner of its own, which acts for claims
// of that node only (external-provisioner, --node-deployment).
func ownNodeOnly(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(append(slices.Clone(c.Command), c.Args...), func(a string) bool {
			return strings.HasPrefix(strings.TrimLeft(a, "-"), "node-deployment") && !strings.HasSuffix(a, "=false")
		})
	})
}

// namesakes are pods that call themselves a provisioner and share a word with the name
// of the one that is looked for; one that is seen to serve another driver is not it.
func namesakes(x *snapshot.Index, name string) []*corev1.Pod {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("./-_", r) })
	words = slices.DeleteFunc(words, func(w string) bool {
		return len(w) < 3 || slices.Contains([]string{"csi", "com", "org", "net", "k8s", "sigs", "kubernetes", "storage", "provisioner", "external", "driver", "disk", "cluster", "local"}, w)
	})
	var out []*corev1.Pod
	for _, pod := range x.Cluster.Pods {
		said := pod.Name
		for _, c := range pod.Spec.Containers {
			said += " " + c.Name + " " + c.Image
		}
		if strings.Contains(said, "provisioner") && evidence.ContainsAny(said, words...) && !servesAnother(x, name, pod) {
			out = append(out, pod)
		}
	}
	return out
}

// servesAnother tells whether a pod is the provisioner of an installed driver of another name: a
// sidecar calls the one driver at its socket, whatever the words of its name.
func servesAnother(x *snapshot.Index, name string, pod *corev1.Pod) bool {
	return slices.ContainsFunc(x.Cluster.CSIDrivers, func(d *storagev1.CSIDriver) bool {
		return d.Name != name && slices.Contains(x.SidecarPods(d.Name, "csi-provisioner"), pod)
	})
}

// Ready is the pod that can act, or nil.
func (m Provisioner) Ready() *corev1.Pod {
	return evidence.First(m.Pods, func(pod *corev1.Pod) bool {
		ok, _ := ready(pod)
		return ok
	})
}

// replicasReady tells whether a workload counts Ready pods that were not recognised.
func (m Provisioner) replicasReady() bool {
	return len(m.Pods) == 0 && slices.ContainsFunc(m.Workloads, func(w snapshot.Owner) bool {
		_, n := snapshot.Replicas(w.Object)
		return n > 0
	})
}

// ScaledDown tells whether a workload wants no pod.
func ScaledDown(w snapshot.Owner) bool {
	wanted, _ := snapshot.Replicas(w.Object)
	return wanted == 0
}

// ready tells whether a pod is Ready, and since when that has been so.
func ready(pod *corev1.Pod) (bool, time.Time) {
	if c := snapshot.PodCondition(pod, corev1.PodReady); c.Type != "" {
		return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil, c.LastTransitionTime.Time
	}
	return false, pod.CreationTimestamp.Time
}

// leaseAge is how long ago the leader renewed its lease; ok is false without a lease.
func (m Provisioner) leaseAge(x *snapshot.Index) (age time.Duration, ok bool) {
	if m.Lease == nil {
		return 0, false
	}
	return x.LeaseAge(m.Lease), true
}

// Facts quotes the pods, the workloads and the lease.
func (m Provisioner) Facts(x *snapshot.Index) []report.Evidence {
	out := evidence.Each(m.Pods, func(pod *corev1.Pod) report.Evidence {
		return evidence.FromPod(pod, "status", pods.Condition(pod))
	})
	for _, w := range m.Workloads {
		wanted, isReady := snapshot.Replicas(w.Object)
		out = append(out, evidence.FromAPI(w.Kind+" "+w.Namespace+"/"+w.Name, "", fmt.Sprintf("%d replicas wanted, %d Ready", wanted, isReady)))
	}
	if age, ok := m.leaseAge(x); ok {
		holder := ""
		if h := m.Lease.Spec.HolderIdentity; h != nil {
			holder = *h
		}
		out = append(out, evidence.FromAPI("Lease "+m.Lease.Namespace+"/"+m.Lease.Name, "spec", fmt.Sprintf("holder %s, renewed %s ago", holder, evidence.Duration(age))))
	}
	return out
}
