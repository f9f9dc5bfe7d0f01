package diagnosis

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// tally adds to a report what can be counted: since when, whom it hits, how much.
func (c *Catalog) tally(p *Pass, r *report.Report, findings []*Finding) {
	r.Since = p.since(r.Verdict)
	r.Counts = report.Counts{Unexplained: len(r.Unexplained), NotChecked: len(r.NotChecked), CausesExcluded: c.excluded(p, findings)}
	for _, k := range r.RootCauses {
		switch k.Severity {
		case report.Blocking:
			r.Counts.Blocking++
		case report.Degraded:
			r.Counts.Degraded++
		case report.Risk:
			r.Counts.Risk++
		}
	}
	for _, k := range r.Findings {
		if k.Severity == report.Risk {
			r.Counts.Risk++
		}
	}
}

// since is when the trouble of the asked volumes or pod began: the oldest pod that
// still waits, the oldest deletion that does not end, the claim that was never bound.
func (p *Pass) since(verdict string) string {
	if p.Sweep() || verdict == report.Healthy || verdict == report.UnknownState {
		return ""
	}
	var oldest time.Time
	for _, v := range p.asked() {
		for _, t := range p.begin(v) {
			if !t.IsZero() && (oldest.IsZero() || t.Before(oldest)) {
				oldest = t
			}
		}
	}
	if oldest.IsZero() || oldest.After(p.TakenAt) {
		return ""
	}
	return oldest.UTC().Format(time.RFC3339)
}

// asked are the volumes that the question names, without those of its pods' others.
func (p *Pass) asked() []*snapshot.Volume {
	if p.Question.Kind != "pod" && len(p.scope.volumes) > 1 {
		return p.scope.volumes[:1]
	}
	return p.scope.volumes
}

// begin lists the moments since which something of a volume does not go on.
func (p *Pass) begin(v *snapshot.Volume) []time.Time {
	var out []time.Time
	for _, w := range v.Consumers {
		if p.Question.Kind == "pod" && (w.Pod.Namespace != p.Question.Namespace || w.Pod.Name != p.Question.Name) {
			continue
		}
		switch {
		case w.Terminating():
			out = append(out, w.Pod.DeletionTimestamp.Time)
		case w.Waiting():
			out = append(out, w.Pod.CreationTimestamp.Time)
		}
	}
	for _, va := range v.Attachments {
		if va.DeletionTimestamp != nil {
			out = append(out, va.DeletionTimestamp.Time)
		}
	}
	if v.Claim != nil && len(out) == 0 {
		switch {
		case v.Claim.DeletionTimestamp != nil:
			out = append(out, v.Claim.DeletionTimestamp.Time)
		case v.PV == nil && v.Claim.Spec.VolumeName == "":
			out = append(out, v.Claim.CreationTimestamp.Time)
		}
	}
	return out
}

// excluded counts the causes that were looked for with all the evidence they need and
// were not found.
func (c *Catalog) excluded(p *Pass, findings []*Finding) int {
	open := map[string]bool{}
	for _, f := range findings {
		open[f.Cause] = true
	}
	for _, rules := range p.missed {
		for name := range rules {
			open[name] = true
		}
	}
	return len(c.Rules) - len(open)
}

// affected are the claims of the volumes that a finding is about, or the PVs that are left of them.
func (p *Pass) affected(f *Finding) []report.Subject {
	var out []report.Subject
	for _, v := range p.Index.Volumes {
		if !f.objects.has(v.Key()) {
			continue
		}
		if _, name := v.ClaimRef(); name != "" {
			out = append(out, VolumeOwner(v))
		}
	}
	slices.SortFunc(out, func(a, b report.Subject) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// fingerprint is equal from run to run while the same fault lasts: it holds no number
// that a reboot or a restart gives anew, if there is a claim to know it by.
func fingerprint(c report.Cause) string {
	words := []string{c.Name, c.Subject.Kind, c.Subject.Node}
	for _, s := range c.Affects {
		words = append(words, s.Namespace+"/"+s.Name)
	}
	if len(c.Affects) == 0 || c.Subject.Node == "" {
		words = append(words, c.Subject.Namespace+"/"+c.Subject.Name)
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// probes are the looks at nodes on which the answer rests.
func (p *Pass) probes() []report.Probe {
	var out []report.Probe
	for _, node := range slices.Sorted(maps.Keys(p.Snapshot.Nodes)) {
		r := p.Snapshot.Nodes[node]
		if r == nil || r.Facts == nil {
			continue
		}
		var took time.Duration
		for _, s := range r.Facts.Status {
			took += s.Elapsed
		}
		out = append(out, report.Probe{Node: node, Image: r.Image, Namespace: r.Namespace, Millis: took.Milliseconds()})
	}
	return out
}
