package longhorn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	strictLocal = pattern.MustCompile(`(?i)replica.*strict-local|strict-local.*replica`)
	sizeRefused = pattern.MustCompile(`expected size \d+ .*should not be smaller than the current size \d+`)
	// sizesDiffer is how an engine that starts says that its replicas are not of one size (Controller.addReplicaNoLock, pkg/controller).
	sizesDiffer = pattern.MustCompile(`sizes? (?:does|do) not match (\d+) != (\d+) in the engine initiation phase`)
	// chainBroken is how an engine or a replica says that files of a replica are missing.
	chainBroken = pattern.MustCompile(`\.img\.meta: no such file|failed to find (the )?(parent|metadata)|(parent|chain).*(missing|not found)`)
)

// told is the newest text about a volume of a form.
func told(pl *evidence.Place, form *pattern.Pattern) (evidence.Text, bool) {
	return pl.Texts.First(func(t evidence.Text) bool { return form.MatchString(t.Raw) })
}

// refusal asks for a fresh text of a form; an older one is quoted and not enough.
func refusal(pl *evidence.Place, form *pattern.Pattern, what string) evidence.Answer {
	t, _ := told(pl, form)
	if t.Fresh {
		return evidence.Yes(t.Evidence())
	}
	return evidence.Unseen(evidence.Lack{Need: "api//events", Why: what}).With(t.Evidence())
}

// TooMany asks whether a volume whose data locality allows one replica has more. While it
// is attached and nothing was refused, the locality may just have been changed.
func TooMany(pl *evidence.Place) evidence.Answer {
	v := pl.Volume.LH()
	var facts []report.Evidence
	kept := 0
	for _, r := range pl.Volume.Longhorn.Replicas {
		facts = append(facts, evidence.FromAPI("Replica "+r.Name, "spec.healthyAt", OrNone(r.HealthyAt)))
		if r.DeletionTimestamp == nil {
			kept++
		}
	}
	if _, said := told(pl, strictLocal); v.Status.State == "attached" && !said {
		return evidence.No()
	}
	return evidence.When(v.DataLocality == "strict-local" && kept > 1, append(facts, evidence.FromAPI("Volume "+v.Name, "spec.dataLocality", v.DataLocality))...)
}

// LocalityRefused asks for a fresh refusal that names the data locality.
func LocalityRefused(pl *evidence.Place) evidence.Answer {
	return refusal(pl, strictLocal, "a fresh refusal that names the data locality")
}

// TooLarge asks whether an engine is larger than its volume: it met a replica of another size.
func TooLarge(e *snapshot.LHEngine, v *snapshot.LHVolume) evidence.Answer {
	return evidence.When(v.Size > 0 && e.CurrentSize > v.Size, evidence.FromAPI("Engine "+e.Name, "status.currentSize", fmt.Sprint(e.CurrentSize)), evidence.FromAPI("Volume "+v.Name, "spec.size", fmt.Sprint(v.Size)))
}

// SizesDiffer asks whether an engine that does not start has just said, by itself or through its manager, that one of its replicas
// is larger than the volume; and how large.
func SizesDiffer(pl *evidence.Place, e *snapshot.LHEngine, v *snapshot.LHVolume) (largest int64, a evidence.Answer) {
	raw, fact := "", report.Evidence{}
	if t, _ := told(pl, sizesDiffer); t.Fresh {
		raw, fact = t.Raw, t.Evidence()
	}
	for _, im := range runners(pl.X, e.NodeID, e.InstanceManager) {
		for l := range evidence.Lines(pl.X.LogsOf(pl.X.LonghornNamespace(), im)) {
			if raw == "" && strings.Contains(l.Text, e.Name) && sizesDiffer.MatchString(l.Text) && l.Within(pl.X, freshFor) {
				raw, fact = l.Text, l.Evidence()
			}
		}
	}
	if raw == "" || e.CurrentState == "running" {
		return 0, evidence.No()
	}
	for _, n := range sizesDiffer.FindStringSubmatch(raw)[1:] {
		bytes, _ := strconv.ParseInt(n, 10, 64)
		largest = max(largest, bytes)
	}
	return largest, evidence.When(v.Size > 0 && largest > v.Size, fact, evidence.FromAPI("Volume "+v.Name, "spec.size", fmt.Sprint(v.Size)))
}

// SizeRefused asks for a fresh refusal that names the two sizes.
func SizeRefused(pl *evidence.Place) evidence.Answer {
	return refusal(pl, sizeRefused, "a fresh refusal that names the two sizes")
}

// WrongSize are the replicas whose volume.meta is larger than their volume.
type WrongSize struct {
	First  *snapshot.LHReplica // nil: none is
	Words  string
	Facts  []report.Evidence
	Unread []string // where none is: the nodes on which no volume.meta was read
}

// OfWrongSize finds them.
func OfWrongSize(x *snapshot.Index, v *snapshot.Volume) WrongSize {
	var out WrongSize
	var which []string
	for _, r := range v.Longhorn.Replicas {
		switch d := directoryOf(x, r); {
		case d.Size > v.LH().Size:
			out.First = cmp.Or(out.First, r)
			which = append(which, fmt.Sprintf("replica %s on node %s has %s in its volume.meta", r.Name, r.NodeID, Bytes(d.Size)))
			out.Facts = append(out.Facts, evidence.FromNode(r.NodeID, d.path+"/volume.meta", d.Meta))
		case d.Meta == "" && r.NodeID != "":
			out.Unread = append(out.Unread, r.NodeID)
		}
	}
	if out.Words = strings.Join(which, "; "); out.First != nil {
		out.Unread = nil
	}
	return out
}

// Shown is a replica with its node and the times that decide about it, as a sentence names it.
func Shown(r *snapshot.LHReplica) string {
	return fmt.Sprintf("%s on %s (healthyAt %s, failedAt %s)", r.Name, OrNone(r.NodeID), OrNone(r.HealthyAt), OrNone(r.FailedAt))
}

// Half is a replica that counts as usable although its rebuild never ended.
type Half struct {
	Replica *snapshot.LHReplica
	Why     string
	Never   bool // the objects say as well that it never was complete
	facts   []report.Evidence
	named   evidence.Text
}

// HalfBuilt finds it: the engine cannot start on it. While the engine runs, a rebuild is
// in progress.
func HalfBuilt(pl *evidence.Place, e *snapshot.LHEngine) *Half {
	v := pl.Volume.LH()
	if v.Status.State == "attached" || e.CurrentState == "running" || WantedFor(pl.X, pl.Volume) < patience {
		return nil
	}
	said, named := told(pl, chainBroken)
	c, ok := e.Conditions.Get("InstanceCreation")
	fails := e.CurrentState == "error" || ok && c.Status == "False"
	for _, r := range pl.Volume.Longhorn.Replicas {
		if r.FailedAt != "" || r.NodeID == "" {
			continue
		}
		why, facts := directoryOf(pl.X, r).torn(r)
		never := r.HealthyAt == "" || rebuildFailed(r)
		if why != "" && (never || named || fails) {
			return &Half{r, why, never, facts, said}
		}
		if why == "" && said.Fresh && speaksOf(pl.X, said.Raw, r) {
			return &Half{r, "the engine says that files of it are missing", false, nil, said}
		}
	}
	return nil
}

// Is asks whether the replica counts as usable.
func (h Half) Is() evidence.Answer {
	r := h.Replica
	return evidence.Yes(evidence.FromAPI("Replica "+r.Name, "spec", fmt.Sprintf("failedAt %s, healthyAt %s, lastFailedAt %s", OrNone(r.FailedAt), OrNone(r.HealthyAt), OrNone(r.LastFailedAt))), h.named.Evidence())
}

// Both asks whether the files of its node and the objects say so.
func (h Half) Both() evidence.Answer {
	if len(h.facts) > 0 && h.Never {
		return evidence.Yes(h.facts...)
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + h.Replica.NodeID, Node: h.Replica.NodeID,
		Why: "that the replica never was complete: the objects and the files of its node do not both say so"}).With(h.facts...)
}

func rebuildFailed(r *snapshot.LHReplica) bool {
	c, ok := r.Conditions.Get("RebuildFailed")
	return ok && c.Status == "True"
}

// speaksOf tells whether a text names a replica, or the address of the instance-manager in
// which it runs.
func speaksOf(x *snapshot.Index, text string, r *snapshot.LHReplica) bool {
	if strings.Contains(text, r.Name) || r.IP != "" && strings.Contains(text, r.IP+":") {
		return true
	}
	return slices.ContainsFunc(x.InstanceManagersOn(r.NodeID), func(im *snapshot.LHInstanceManager) bool { return im.IP != "" && strings.Contains(text, im.IP+":") })
}
