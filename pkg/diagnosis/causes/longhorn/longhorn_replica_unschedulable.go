package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_replica_unschedulable.md
var longhornReplicaUnschedulableDoc string

// ReplicaUnschedulable finds a volume that cannot attach because replicas find no
// node or disk.
var ReplicaUnschedulable = &diagnosis.Rule{
	Name: "longhorn-replica-unschedulable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/replicas")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "claim-pending", "volume-degraded"},
	LeadsTo:  []string{"longhorn-migration-inconsistent"},
	YieldsTo: []string{"longhorn-disk-full", "longhorn-disk-unusable", "longhorn-engine-image-not-ready"},
	Doc:      longhornReplicaUnschedulableDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || lh.Status.State == "attached" {
				continue // an attached volume works with the replicas that it has
			}
			if c, ok := lh.Status.Conditions.Get("Scheduled"); ok && c.Status == "False" {
				unschedulable(p, v, lh, c)
			}
		}
	},
}

// refusedForReplicas is how Longhorn refuses a volume for its replicas.
var refusedForReplicas = regexp.MustCompile(`no scheduled replicas|un-?schedulable replicas|(volume|replica) \S+ (is |are )?not (yet )?scheduled|failed to schedule|cannot be scheduled`)

func unschedulable(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, cond snapshot.Condition) {
	var unplaced []string
	placed := 0
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID == "" {
			unplaced = append(unplaced, r.Name)
		} else {
			placed++ // a failed one has its place, and is another cause
		}
	}
	text, fresh := refusal(p, v)
	harm := ""
	c := report.Certain
	switch {
	case placed == 0:
		harm = "No replica of the volume is scheduled"
	case lh.DataEngine == "v2" && len(unplaced) > 0:
		harm = fmt.Sprintf("With the v2 data engine one unplaced replica is enough to keep the volume from attaching; %d of %d are placed", placed, lh.NumberOfReplicas)
	case lh.DataLocality == "strict-local": // best-effort attaches without a local replica
		harm = "The volume wants its replica on the node of the workload (data locality " + lh.DataLocality + "), and it does not fit there"
	case text.Text != "":
		harm = "Longhorn refuses the volume for that reason"
		if !fresh {
			c = report.Likely
		}
	default:
		return // a v1 volume attaches with the replicas that it has
	}
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v)
	f.Sayf("Longhorn finds no node or disk for replicas of volume %s (data engine %s, %d replicas wanted): %s. %s.%s%s",
		lh.Name, engineKind(lh), lh.NumberOfReplicas, none(strings.TrimSpace(cond.Reason+" "+cond.Message)), harm, unplacedWords(unplaced), whyNoDisk(p, v, lh))
	f.Fact(diagnosis.FromAPI("Volume "+lh.Name, "status.conditions[Scheduled]", strings.TrimSpace("False "+cond.Reason+" "+cond.Message)))
	for _, name := range unplaced {
		f.Fact(diagnosis.FromAPI("Replica "+name, "spec.nodeID", "empty"))
	}
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "a fresh refusal of Longhorn that names the replicas")
	}
	f.Fact(text).Unless("a condition Scheduled True on the volume")
	f.Advise(
		remedy.Words("Make room for the replica: free or unreserve space, add a disk or a node, allow scheduling where it is switched off, correct disk and node tags, or allow replicas of one volume on one node (replica-soft-anti-affinity)."),
		remedy.Words("Or lower the number of replicas of this volume; a change of the StorageClass only helps new volumes. Verify: condition Scheduled True, the volume attaches by itself. Keep the replicas that are placed."),
	)
	p.Report(f)
}

func engineKind(lh *snapshot.LHVolume) string {
	if lh.DataEngine == "" {
		return "v1"
	}
	return lh.DataEngine
}

func unplacedWords(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " Without a place: " + strings.Join(names, ", ") + "."
}

// refusal is the newest text in which Longhorn refuses the volume for its replicas.
func refusal(p *diagnosis.Pass, v *snapshot.Volume) (report.Evidence, bool) {
	for _, t := range p.Texts(v) {
		if strings.Contains(t.Locator, "status.conditions[Scheduled]") || !refusedForReplicas.MatchString(strings.ToLower(t.Raw)) {
			continue
		}
		return t.Evidence(), t.Fresh
	}
	return report.Evidence{}, false
}
