package claim

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TopologyConflict finds a pod whose volumes and own placement leave no node.
var TopologyConflict = &diagnosis.Rule{
	Name: "topology-conflict", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Publishing},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node"},
	Asks:     diagnosis.EachPod,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if w := (&snapshot.Consumer{Pod: pl.Pod}); !w.Waiting() || pods.Young(pl.X, pl.Pod, time.Minute) {
			return nil
		}
		if pl.Node == "" {
			if len(pl.X.Cluster.Nodes) == 0 {
				return []*diagnosis.Proof{{State: []evidence.Answer{evidence.Resource(pl.X, "/nodes").Found()}}}
			}
			if c, ok := pods.NoNodeFits(pl.X, pl.Pod, claims.VolumesFor(pl.X, pl.Pod)); ok {
				return []*diagnosis.Proof{conflict(pl, c, "nowhere")}
			}
		} else if n := pl.X.Node(pl.Node); n != nil {
			if c, ok := pods.PlacedPast(pl, n); ok {
				return []*diagnosis.Proof{conflict(pl, c, "placed")}
			}
		}
		return nil
	},
}

func conflict(pl *evidence.Place, c pods.Conflict, says string) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(pl.Pod), Says: says,
		With: words.Fields{"pod": pods.Name(pl.Pod), "node": pl.Node, "places": c.Places, "own": c.Own, "missing": c.Missing, "nodes": c.Nodes, "all": ""},
		// The scheduler looks at the same objects; what was not read of them may hold another reason.
		State: []evidence.Answer{c.Is},
		Last:  []evidence.Answer{c.Whole(pl.X)},
		Steps: placements(c),
	}
	p.Volume(c.Bound...)
	if len(c.Guilty) > 0 {
		p.Subject = diagnosis.ObjectSubject("PersistentVolume", "", c.Guilty[0].PVName())
		if v := c.Guilty[0]; v.PV == nil {
			p.Subject = diagnosis.ObjectSubject("StorageClass", "", v.Class.Name)
			p.Steps = []remedy.Step{remedy.Words("Compare what the class allows with the labels of the nodes: a zone without nodes, or a key that the driver of this cluster does not set. A class cannot be changed in this: make another, and the pending claim anew with it, or add a node there.")}
		}
	}
	if c.Apart {
		p.With["all"] = "all of these volumes"
	}
	return p
}

// placements are the ways out of what keeps the volumes and the pod apart.
func placements(c pods.Conflict) []remedy.Step {
	var out []remedy.Step
	if c.Gone {
		out = append(out, remedy.Words("Bring the node back under the host name that the volume wants, or make a new PersistentVolume for the same directory or disk with the right name (the affinity of a PersistentVolume cannot be changed; set the policy of the old one to Retain before it is removed)."))
	}
	if c.Apart && !c.Gone {
		out = append(out, remedy.Words("Use a StorageClass with volumeBindingMode WaitForFirstConsumer, and create or migrate one of the volumes again so that all lie in one place."))
	}
	if len(out) == 0 || c.Own != "" {
		out = append(out, remedy.Words("Change what keeps the pod from the volume's place (its selector, affinity, a taint, a cordon), bring the node back or add one there, or move the data. Do not edit the nodeAffinity of a volume: the disk stays where it is."))
	}
	return out
}
