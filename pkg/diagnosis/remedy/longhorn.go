package remedy

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DeleteShareManager restarts the NFS server of a Longhorn RWX volume. NFS clients
// stall for 20 to 90 seconds.
func DeleteShareManager(v *snapshot.Volume, pod *corev1.Pod) Step {
	name := pod.Name
	return Step{
		Name: "delete-share-manager", Title: titled("Delete the share-manager pod of volume %s; longhorn-manager makes a new one.", v.Handle),
		Commands: []Command{deleteByUID("pod", pod.Namespace, name, string(pod.UID))},
		Risk:     Disruptive,
		Guards: []Guard{
			{
				Question: "share-idle", Fact: titled("no running pod writes through the share of volume %s", v.Handle),
				Ask:  func(x *snapshot.Index) evidence.Answer { return pods.NoneRuns(x, v) },
				Look: lookUsers(v), On: Target{Volume: v},
			},
			present(pod), ended(pod),
		},
		Verify: []Command{Kubectl("-n", pod.Namespace, "get", "pod", name), Kubectl("-n", pod.Namespace, "get", "sharemanagers.longhorn.io", v.Handle)},
	}
}

// DeleteReplica removes a failed or empty replica of a Longhorn volume that has
// another one.
func DeleteReplica(v *snapshot.Volume, r *snapshot.LHReplica) Step {
	look := []Command{Kubectl("-n", r.Namespace, "get", "replicas.longhorn.io", "-l", "longhornvolume="+r.VolumeName)}
	return Step{
		Name: "delete-replica", Title: titled("Delete replica %s of volume %s.", r.Name, r.VolumeName),
		Commands: []Command{deleteByUID("replicas.longhorn.io", r.Namespace, r.Name, string(r.UID))},
		Risk:     DataLoss,
		Guards: []Guard{
			{
				Question: "other-replica", Fact: titled("another replica of volume %s is healthy", r.VolumeName),
				Ask:  func(x *snapshot.Index) evidence.Answer { return longhorn.OtherReplica(x, v, r) },
				Look: look, On: Target{Volume: v},
			},
			{
				Question: "dispensable", Fact: titled("replica %s failed or never was healthy", r.Name),
				Ask:  func(x *snapshot.Index) evidence.Answer { return longhorn.Dispensable(x, r) },
				Look: look, On: Target{Volume: v},
			},
		},
		Verify: look,
	}
}

// RemoveEmpty leaves a volume that may have one replica the one with data.
func RemoveEmpty(x *snapshot.Index, v *snapshot.Volume) []Step {
	out := Sentences("Copy the replica directories first. Then remove the replica that holds no data.")
	if r := evidence.First(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return longhorn.WithoutData(x, r) }); r != nil {
		out = append(out, DeleteReplica(v, r))
	}
	return out
}

// DeleteEngine removes the stale one of two active engines.
func DeleteEngine(v *snapshot.Volume, e *snapshot.LHEngine) Step {
	look := []Command{Kubectl("-n", e.Namespace, "get", "engines.longhorn.io", "-l", "longhornvolume="+e.VolumeName, "-o", "wide")}
	s := Step{
		Name: "delete-engine", Title: titled("Delete the stale engine %s.", e.Name),
		Commands: []Command{deleteByUID("engines.longhorn.io", e.Namespace, e.Name, string(e.UID))},
		Risk:     DataLoss,
		Guards: []Guard{
			{
				Question: "engine-elsewhere", Fact: titled("volume %s is on another node than engine %s", nameOf(v), e.Name),
				Ask:  func(x *snapshot.Index) evidence.Answer { return longhorn.OnAnotherNode(x, v, e) },
				Look: look, On: Target{Volume: v},
			},
			Everywhere(v),
		},
		Verify: look,
	}
	if e.NodeID != "" {
		s = s.If(UnusedOn(v, e.NodeID))
	}
	return s
}

// DeleteInstanceManager removes an instance-manager that serves nothing besides the
// named process. Longhorn makes an empty one.
func DeleteInstanceManager(im *snapshot.LHInstanceManager, besides string) Step {
	look := []Command{Kubectl("-n", im.Namespace, "get", "instancemanagers.longhorn.io", im.Name, "-o", "yaml")}
	return Step{
		Name: "delete-instance-manager", Title: titled("Delete instance manager %s; Longhorn makes an empty one.", im.Name),
		Commands: []Command{deleteByUID("instancemanagers.longhorn.io", im.Namespace, im.Name, string(im.UID))},
		Risk:     Disruptive,
		Guards: []Guard{{
			Question: "manager-idle", Fact: titled("instance-manager %s runs no other engine and no replica", im.Name),
			Ask:  func(x *snapshot.Index) evidence.Answer { return longhorn.Idle(x, im, besides) },
			Look: look, On: Target{Node: im.NodeID},
		}},
		Verify: []Command{Kubectl("-n", im.Namespace, "get", "instancemanagers.longhorn.io", "-o", "wide")},
	}
}
