package longhorn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Why a disk does not take a replica.
const (
	ByRejection = "rejected" // Longhorn cannot use the disk
	ByPressure  = "full"
	ByRoom      = "room" // what is promised already leaves too little
	ByNode      = "node" // the node is not ready, or Longhorn cannot use it
	ByWill      = "will" // scheduling is switched off, or the node is cordoned
	ByTag       = "tag"  // of another type or without the wanted tags: no candidate
	ByReplica   = "replica"
)

// Candidate is a disk on which a replica of a volume could go, and what keeps it away;
// an empty Kind: nothing that shows.
type Candidate struct {
	OnDisk
	Kind, Why string
}

// candidates looks at every disk of the cluster. The scheduler asks for the tags, then
// for size + scheduled ≤ (maximum - reserved) × over-provisioning (longhorn-manager,
// scheduler/replica_scheduler.go).
func candidates(x *snapshot.Index, v *snapshot.Volume) []Candidate {
	var out []Candidate
	for _, n := range x.Cluster.Longhorn.Nodes {
		kind, why := nodeRefuses(x, v, n)
		for i := range n.Disks {
			c := Candidate{OnDisk{nil, n, &n.Disks[i], x.View(n.Name), x}, kind, why}
			if k, w := c.unfit(v.LH()); k != "" {
				c.Kind, c.Why = k, w
			} else if kind == "" {
				c.Kind, c.Why = c.refuses(x, v.LH())
			}
			out = append(out, c)
		}
	}
	return out
}

// nodeRefuses says what keeps a replica off every disk of a node.
func nodeRefuses(x *snapshot.Index, v *snapshot.Volume, n *snapshot.LHNode) (kind, why string) {
	if slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID == n.Name && r.FailedAt == "" }) {
		return ByReplica, "has a replica already"
	}
	if !nodeWorks(x, n.Name) {
		return ByNode, "the node is not ready"
	}
	if !n.AllowScheduling {
		return ByWill, "scheduling is switched off (allowScheduling false)"
	}
	if missing := lacking(n.Tags, v.LH().NodeSelector); len(missing) > 0 {
		return ByTag, "the node has no tag " + strings.Join(missing, ", ")
	}
	for _, kind := range []string{"Ready", "Schedulable"} {
		if c, ok := n.Conditions.Get(kind); ok && c.Status == "False" {
			cause := ByNode
			if c.Reason == "KubernetesNodeCordoned" {
				cause = ByWill
			}
			return cause, kind + " False " + strings.TrimSpace(c.Reason+" "+c.Message)
		}
	}
	return "", ""
}

func lacking(tags, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(t string) bool { return slices.Contains(tags, t) })
}

// unfit says why a disk is no candidate at all.
func (c Candidate) unfit(v *snapshot.LHVolume) (kind, why string) {
	d := c.Disk
	if d.Type != "" && (d.Type == "block") != IsV2(v) {
		return ByTag, "is of type " + d.Type
	}
	if missing := lacking(d.Tags, v.DiskSelector); len(missing) > 0 {
		return ByTag, "has no tag " + strings.Join(missing, ", ")
	}
	return "", ""
}

func (c Candidate) refuses(x *snapshot.Index, v *snapshot.LHVolume) (kind, why string) {
	d := c.Disk
	switch {
	case !d.AllowScheduling:
		return ByWill, "does not allow scheduling"
	case c.rejected():
		return ByRejection, "is rejected: " + c.Says()
	case c.Pressed().Yes():
		return ByPressure, "is under pressure: " + gib(d.Available) + " of " + gib(d.Maximum) + " available"
	}
	if s, ok := d.Conditions.Get("Schedulable"); ok && s.Status == "False" {
		return ByNode, "Schedulable False " + strings.TrimSpace(s.Reason+" "+s.Message)
	}
	limit := (d.Maximum - d.Reserved) * overProvisioning(x, v.DataEngine) / 100
	if room := limit - d.Scheduled; d.Maximum > 0 && room < v.Size {
		return ByRoom, fmt.Sprintf("has room for %s, %s are needed (maximum %s, reserved %s, scheduled %s)", gib(max(room, 0)), gib(v.Size), gib(d.Maximum), gib(d.Reserved), gib(d.Scheduled))
	}
	return "", ""
}

// enough disks tell what is wrong with all: a cluster has thousands.
const enough = 16

// Blocked are the candidates, when each of them that fits the volume's wishes is kept
// away by something; none, when one of them has room. Facts say so of the first.
func Blocked(x *snapshot.Index, v *snapshot.Volume) (blocked []Candidate, a evidence.Answer) {
	var facts []report.Evidence
	for _, c := range candidates(x, v) {
		switch c.Kind {
		case ByTag, ByReplica:
		case "":
			return nil, evidence.No()
		default:
			blocked = append(blocked, c)
			if len(facts) < enough {
				facts = append(facts, evidence.FromAPI("Node.longhorn.io "+c.Node.Name, "disk "+c.Disk.Name, c.Why))
			}
		}
	}
	if len(blocked) == 0 {
		return nil, evidence.No()
	}
	if n := len(blocked) - len(facts); n > 0 {
		facts = append(facts, evidence.FromAPI("Nodes.longhorn.io", "status.diskStatus", fmt.Sprintf("%d more disks are kept away", n)))
	}
	return blocked, Read(x, "nodes").Nothing(facts...)
}

// Unplaced are the replicas of a volume without a node; placed counts the others. A
// failed one has its place, and is another cause.
func Unplaced(v *snapshot.Volume) (names []string, placed int) {
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID == "" {
			names = append(names, r.Name)
		} else {
			placed++
		}
	}
	return names, placed
}

// Unscheduled asks whether Longhorn says that it finds no place for replicas of a volume
// that is not attached; an attached one works with those that it has.
func Unscheduled(v *snapshot.LHVolume) evidence.Answer {
	c, ok := v.Status.Conditions.Get("Scheduled")
	return evidence.When(ok && c.Status == "False" && v.Status.State != "attached",
		evidence.FromAPI("Volume "+v.Name, "status.conditions[Scheduled]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
}

// Homeless asks whether a volume is kept from being attached because replicas have no
// place: it has no usable one, or its data engine (v2) wants all of them.
func Homeless(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	unplaced, _ := Unplaced(v)
	usable := slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID != "" && r.FailedAt == "" })
	blocks := !usable || IsV2(v.LH()) && len(unplaced) > 0
	if !blocks || WantedFor(x, v) == 0 {
		return evidence.No()
	}
	return Unscheduled(v.LH())
}

// NodeByNode tells what keeps a replica of a volume away, as far as the objects show it.
func NodeByNode(x *snapshot.Index, v *snapshot.Volume) string {
	all, nodes := map[string][]Candidate{}, []string{}
	for _, c := range candidates(x, v) {
		if all[c.Node.Name] == nil {
			nodes = append(nodes, c.Node.Name)
		}
		all[c.Node.Name] = append(all[c.Node.Name], c)
	}
	var out []string
	for _, n := range x.Cluster.Longhorn.Nodes {
		if len(n.Disks) == 0 {
			out = append(out, n.Name+": no disk")
		}
	}
	for _, n := range nodes {
		var disks []string
		for _, c := range all[n] {
			switch c.Kind {
			case "":
			case ByReplica, ByNode, ByWill:
				disks = append(disks, c.Why)
			default:
				disks = append(disks, "disk "+c.Disk.Name+" "+c.Why)
			}
		}
		if len(disks) == len(all[n]) {
			out = append(out, n+": "+strings.Join(slices.Compact(disks), ", "))
		}
	}
	return strings.Join(out, "; ")
}

func gib(n int64) string { return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30)) }

// refusals are how Longhorn refuses a volume for its replicas.
var refusals = pattern.MustCompile(`no scheduled replicas|un-?schedulable replicas|(volume|replica) \S+ (is |are )?not (yet )?scheduled|failed to schedule|cannot be scheduled`)

// RefusedForReplicas asks for a text in which Longhorn refuses the volume for its
// replicas; an old one leaves open whether it still does.
func RefusedForReplicas(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Texts {
		if strings.Contains(t.Locator, "status.conditions[Scheduled]") || !refusals.MatchString(strings.ToLower(t.Raw)) {
			continue
		}
		if t.Fresh {
			return evidence.Yes(t.Evidence())
		}
		return evidence.Unseen(evidence.Lack{Need: "api/events", Why: "a fresh refusal of Longhorn that names the replicas"}).With(t.Evidence())
	}
	return evidence.No()
}
