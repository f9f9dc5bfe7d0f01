package attach

import (
	_ "embed"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed rwo_shared_by_workloads.md
var rwoSharedByWorkloadsDoc string

// RWOSharedByWorkloads finds two workloads on two nodes that use one
// ReadWriteOnce claim.
var RWOSharedByWorkloads = &diagnosis.Rule{
	Name: "rwo-shared-by-workloads", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods")},
	Explains: []string{"multi-attach-error", "pod-waiting-for-volume", "attach-failed"},
	Doc:      rwoSharedByWorkloadsDoc,
	Run:      sharedByWorkloads,
}

func sharedByWorkloads(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, r := range rivalries(p, v) {
			if !r.SameOwner() || r.WaiterOwner.Kind != "Deployment" {
				reportShared(p, r)
			}
		}
	}
}

func reportShared(p *diagnosis.Pass, r rivalry) {
	ns, name := r.Volume.ClaimRef()
	f := r.found(p, report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", ns, name))
	who := fmt.Sprintf("%s runs %s and %s wants %s", ownerWords(r.HolderOwner), podWhere(p, r.Holder), ownerWords(r.WaiterOwner), podWhere(p, r.Waiter))
	switch {
	case r.SameOwner():
		who = fmt.Sprintf("%s runs %s and wants %s", ownerWords(r.HolderOwner), podWhere(p, r.Holder), podWhere(p, r.Waiter))
		f.Missing("two different owners: one workload uses the claim for several pods")
	case unknownOwner(r.WaiterOwner) || unknownOwner(r.HolderOwner):
		f.Missing("the owners of both pods up to the workload (" + ownerWords(r.HolderOwner) + ", " + ownerWords(r.WaiterOwner) + ")")
	}
	f.Sayf("The claim %s/%s is ReadWriteOnce and is used from two nodes: %s. Volume %s may be attached to one node at a time, and node %s has it rightly.",
		ns, name, who, volumeName(r.Volume), r.Holder.Spec.NodeName)
	f.Unless("pod " + podName(r.Holder) + " being finished or deleted, or its node not being Ready")
	if r.HolderOwner.Kind == "Job" || r.HolderOwner.Kind == "CronJob" {
		f.Advise(remedy.Words(fmt.Sprintf("Wait: pod %s belongs to a %s and ends by itself; the volume moves when it has finished.", podName(r.Holder), r.HolderOwner.Kind)))
	}
	f.Advise(remedy.Words(fmt.Sprintf("Put both pods on one node (pod affinity: ReadWriteOnce means one node, not one pod), let them take turns, or move the data to a ReadWriteMany volume. "+
		"Do not detach by hand and do not force anything: pod %s is using the disk.", podName(r.Holder))))
	p.Report(f)
}

// ownerWords names a workload as kubectl would.
func ownerWords(o snapshot.Owner) string {
	if o.Pod {
		return "the bare pod " + o.Namespace + "/" + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// unknownOwner tells whether the walk to the top ended at an object that belongs
// to somebody else but was not collected: a ReplicaSet is never the top by itself.
func unknownOwner(o snapshot.Owner) bool { return !o.Pod && o.Object == nil && o.Kind == "ReplicaSet" }
