package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// less orders roots: severity, certainty, whether somebody suffers from it now, nearness to
// what was asked, number of objects hit, deeper layer, name, subject. No weights.
func less(a, b *Finding) bool {
	if x, y := a.Severity.Rank(), b.Severity.Rank(); x != y {
		return x > y
	}
	if a.Waiting != b.Waiting {
		return !a.Waiting
	}
	if x, y := a.Certainty.Rank(), b.Certainty.Rank(); x != y {
		return x > y
	}
	if a.felt != b.felt {
		return a.felt
	}
	if a.near != b.near {
		return a.near > b.near
	}
	if x, y := len(a.objects.list), len(b.objects.list); x != y {
		return x > y
	}
	if x, y := depth[a.rule.Layer], depth[b.rule.Layer]; x != y {
		return x > y
	}
	if a.Cause != b.Cause {
		return a.Cause < b.Cause
	}
	return a.Subject.String() < b.Subject.String()
}

// relate settles which of two true causes is the reason of the other: first who
// yields, then who is nested, then what is only "perhaps because". Parents form no circle,
// as LeadsTo has none (NewCatalog).
func (c *Catalog) relate(all []*Finding) {
	found := map[string]bool{}
	for _, f := range all {
		found[f.Cause] = true
	}
	likely := func(f *Finding) bool { return f.Certainty.Rank() >= report.Likely.Rank() }
	near := indexKeys(all)
	for _, b := range all {
		for _, a := range near.of(&b.Keys) {
			if a == b || a.rule.Severity == report.Risk || !likely(a) || a.below(b) || !a.sameObject(&b.Keys) {
				continue
			}
			if c.yields(b, a) && !a.yieldsAround(b) && !c.leads(b.Cause, a.Cause, found) {
				b.yieldTo = better(b.yieldTo, a)
			}
		}
	}
	for _, b := range all {
		if b.rule.Severity == report.Risk {
			continue
		}
		for _, a := range near.of(&b.Keys) {
			if a == b || a.rule.Severity == report.Risk || a.below(b) || !a.sameObject(&b.Keys) || !a.mayLead(b) || !c.leads(a.Cause, b.Cause, found) {
				continue
			}
			if likely(a) {
				b.parent = better(b.parent, a)
			} else if likely(b) {
				b.perhaps = add(b.perhaps, a.Cause)
				a.folded = true
			}
		}
	}
}

// below tells whether a finding cannot be the reason of another one that is better proven:
// only an application tells of it, which says what it met and not why.
func (f *Finding) below(o *Finding) bool {
	return f.ownWord && f.Certainty.Rank() < o.Certainty.Rank()
}

// mayLead tells whether neither of two findings says that the one did not lead to the other.
// What is nowhere in particular is everywhere.
func (f *Finding) mayLead(o *Finding) bool {
	from := o.From == nil || len(o.From) > 0 && len(f.at.list) == 0 || slices.ContainsFunc(o.From, f.at.has)
	return from && !slices.Contains(f.NotTo, o.Cause)
}

// yields tells whether b gives way to a when both are true of one object.
func (c *Catalog) yields(b, a *Finding) bool {
	if slices.Contains(b.rule.YieldsTo, a.Cause) {
		return a.covers(b)
	}
	if len(b.rule.Residual) == 0 || a.Cause == b.Cause {
		return false
	}
	return slices.Contains(b.rule.Residual, a.rule.Layer) && a.meets(&b.Keys) && a.shares(b) || c.leads(a.Cause, b.Cause, nil)
}

// covers tells whether a cause of a node can take the place of another one there: of the
// same node, and of all its volumes. That a pod does not belong on a node says nothing of
// what the volumes of others lack there.
func (f *Finding) covers(o *Finding) bool {
	if f.Subject.Kind != "Node" || o.Subject.Kind != "Node" {
		return true
	}
	mine, theirs := volumeKeys(f.objects.list), volumeKeys(o.objects.list)
	return f.Subject.Name == o.Subject.Name && (len(mine) == 0 || !slices.ContainsFunc(theirs, func(k string) bool { return !slices.Contains(mine, k) }))
}

func volumeKeys(objects []string) []string {
	return slices.DeleteFunc(slices.Clone(objects), func(k string) bool { return !strings.HasPrefix(k, "volume/") })
}

// shares tells whether two findings could be the reason of one symptom. What explains
// none of the other's does not take its place.
func (f *Finding) shares(o *Finding) bool {
	return slices.ContainsFunc(f.symptoms(), func(s string) bool { return slices.Contains(o.symptoms(), s) })
}

// symptoms are those that the finding may explain.
func (f *Finding) symptoms() []string {
	if f.Explains != nil {
		return f.Explains
	}
	return f.rule.Explains
}

// yieldsAround tells whether f itself gives way to o, which would make a circle.
func (f *Finding) yieldsAround(o *Finding) bool {
	for x := f; x != nil; x = x.yieldTo {
		if x == o {
			return true
		}
	}
	return false
}

func better(old, candidate *Finding) *Finding {
	if old == nil || less(candidate, old) {
		return candidate
	}
	return old
}

// root is the top of a finding's tree, through parents and through those that it
// gave way to.
func (f *Finding) root() *Finding {
	seen := map[*Finding]bool{}
	for x := f; ; {
		if seen[x] {
			return x
		}
		seen[x] = true
		switch {
		case x.yieldTo != nil:
			x = x.yieldTo
		case x.parent != nil:
			x = x.parent
		default:
			return x
		}
	}
}
