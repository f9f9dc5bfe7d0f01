package holder

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OwnerOf is the top owner of a pod. Where ReplicaSets could not be read, the hash that a
// Deployment puts into their names and the pod's labels tells its name.
func OwnerOf(x *snapshot.Index, pod *corev1.Pod) snapshot.Owner {
	o := x.TopOwner(pod)
	cut := strings.LastIndexByte(o.Name, '-')
	if o.Kind != "ReplicaSet" || o.Object != nil || cut <= 0 {
		return o
	}
	name, hash := o.Name[:cut], o.Name[cut+1:]
	for _, d := range x.Cluster.Deployments {
		if d.Namespace == pod.Namespace && d.Name == name {
			return snapshot.Owner{Kind: "Deployment", Namespace: pod.Namespace, Name: name, Object: d}
		}
	}
	if pod.Labels["pod-template-hash"] != hash {
		return o
	}
	return snapshot.Owner{Kind: "Deployment", Namespace: pod.Namespace, Name: name}
}

// OwnerWords names a workload as kubectl would; empty for a pod that nobody owns.
func OwnerWords(o snapshot.Owner) string {
	if o.Pod {
		return ""
	}
	return o.String()
}

// SameOwner tells whether one workload owns both pods.
func (r Rival) SameOwner() bool {
	a, b := r.WaiterOwner, r.HolderOwner
	return !a.Pod && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// OfDeployment tells whether both pods are one Deployment's.
func (r Rival) OfDeployment() bool { return r.SameOwner() && r.WaiterOwner.Kind == "Deployment" }

// OwnersKnown asks whether the owners of both pods were followed to the top: a ReplicaSet
// is never the top by itself, and a Deployment whose ReplicaSet was not read is a guess.
func (r Rival) OwnersKnown(x *snapshot.Index) evidence.Answer {
	for _, o := range []snapshot.Owner{r.WaiterOwner, r.HolderOwner} {
		guessed := o.Kind == "Deployment" && len(o.Chain) == 0
		if o.Kind == "ReplicaSet" && o.Object == nil || guessed {
			why := "it was not found"
			if g, missing := x.GapFor("apps/replicasets"); missing {
				why = g.Reason
			}
			return evidence.Unseen(evidence.Lack{Need: "api/apps/replicasets", Why: why})
		}
	}
	return evidence.Yes()
}
