package longhorn

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ReplicaUnschedulable finds a volume that cannot attach because replicas find no
// node or disk.
var ReplicaUnschedulable = &diagnosis.Rule{
	Name: "longhorn-replica-unschedulable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Provisioning, diagnosis.Replicating},
	LeadsTo:  []string{"longhorn-migration-inconsistent", "longhorn-drain-blocked"},
	YieldsTo: []string{"longhorn-engine-image-not-ready"}, // a full or rejected disk leads to it: it is shown below them
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		unscheduled := lh.Unscheduled(v)
		if unscheduled.No() {
			return nil
		}
		unplaced, placed := lh.Unplaced(pl.Volume)
		c, _ := v.Status.Conditions.Get("Scheduled")
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), State: []evidence.Answer{unscheduled},
			With: words.Fields{"volume": v.Name, "engine": lh.EngineKind(v.DataEngine), "wanted": words.Count(v.NumberOfReplicas, "replica"), "placed": fmt.Sprint(placed),
				"reason": lh.OrNone(strings.TrimSpace(c.Reason + " " + c.Message)), "unplaced": strings.Join(unplaced, ", "), "nodes": lh.NodeByNode(pl.X, pl.Volume)},
			Steps: []remedy.Step{
				remedy.Words("Make room for the replica: free or unreserve space, add a disk or a node, allow scheduling where it is switched off, correct disk and node tags, or allow replicas of one volume on one node (replica-soft-anti-affinity)."),
				remedy.Words("Or lower the number of replicas of this volume; a change of the StorageClass only helps new volumes. Verify: condition Scheduled True, the volume attaches by itself. Keep the replicas that are placed."),
			},
		}
		for _, name := range unplaced {
			p.State[0] = p.State[0].With(evidence.FromAPI("Replica "+name, "spec.nodeID", "empty"))
		}
		switch refused, replicas := lh.RefusedForReplicas(pl), lh.Read(pl.X, "replicas"); {
		case placed == 0 && replicas.Complete():
			p.Says = "nowhere"
		case lh.IsV2(v) && len(unplaced) > 0:
			p.Says = "v2"
		case v.DataLocality == "strict-local": // best-effort attaches without a local replica
			p.Says = "local"
		case !refused.No():
			p.Says, p.Last = "refused", []evidence.Answer{refused}
		case placed == 0:
			p.Says, p.State = "nowhere", append(p.State, replicas.Nothing()) // not checked
		default:
			return nil // a v1 volume attaches with the replicas that it has
		}
		return []*diagnosis.Proof{p}
	},
}
