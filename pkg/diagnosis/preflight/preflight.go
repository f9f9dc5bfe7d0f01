package preflight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// check is one thing that storage needs of a node.
type check struct {
	name     string
	needs    []string // kinds of storage; none: any
	severity report.Severity
	ask      func(t target) finding
}

// target is the node that is asked, beside the others of the run.
type target struct {
	x     *snapshot.Index
	node  string
	among []string
	wants func(kind string) bool
}

// finding is what a check found. Good: yes passed, no failed, not seen not checked.
type finding struct {
	good    evidence.Answer
	passed  string // what is well, in a clause
	says    string // what is not, in sentences that do not name the node
	steps   []remedy.Step
	nothing bool // the check does not apply to the node
}

// Run checks nodes for kinds of storage.
func Run(x *snapshot.Index, nodes []string, storage []report.Storage) *report.Preflight {
	out := &report.Preflight{
		APIVersion: report.APIVersion, Kind: report.KindPreflight, TakenAt: x.TakenAt.UTC().Format(time.RFC3339),
		Storage: storage, Nodes: []report.PreflightNode{}, NotChecked: []report.NotChecked{},
	}
	wants := func(kind string) bool {
		return slices.ContainsFunc(storage, func(s report.Storage) bool { return s.Name == kind })
	}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, node(target{x, n, nodes, wants}))
	}
	for _, resource := range []string{"/nodes", "storage.k8s.io/storageclasses", "storage.k8s.io/csidrivers", "longhorn.io/settings"} {
		if g, missing := x.GapFor(resource); missing && g.Reason != snapshot.NotServed {
			out.NotChecked = append(out.NotChecked, report.NotChecked{Need: g.Need, Reason: g.Reason, Detail: g.Detail})
		}
	}
	out.Verdict = verdict(out)
	return out
}

// node asks every check that the wanted storage needs.
func node(t target) report.PreflightNode {
	out := report.PreflightNode{Name: t.node, Checks: []report.Check{}}
	if n := t.x.Node(t.node); n != nil {
		out.System, out.Kernel = n.Status.NodeInfo.OSImage, n.Status.NodeInfo.KernelVersion
	}
	if v := t.x.View(t.node); v != nil && v.Facts != nil {
		out.System = cmp.Or(v.Facts.Identity.OSRelease["PRETTY_NAME"], out.System)
		out.Kernel = cmp.Or(v.Facts.Identity.Kernel, out.Kernel)
	}
	if r := evidence.NodePlace(t.x, t.node).Probed(); !r.Complete() {
		out.Reason = r.Lacks()[0].Why
		if g, ok := t.x.NodeGap(t.node); ok && g.Detail != "" {
			out.Reason += ": " + g.Detail
		}
	}
	for i := range checks {
		if c, ok := checks[i].run(t); ok {
			out.Checks = append(out.Checks, c)
		}
	}
	switch {
	case out.Count(report.LacksIt) > 0:
		out.Verdict = report.NotReady
	case out.Count(report.NotLookedAt) > 0:
		out.Verdict = report.UnknownState
	default:
		out.Verdict = report.Ready
	}
	return out
}

// run asks a check about a node; not ok: no wanted storage needs it there. A check that
// fails itself is one that was not made.
func (c *check) run(t target) (out report.Check, ok bool) {
	out = report.Check{Name: c.name, For: []string{}, Severity: c.severity, Evidence: []report.Evidence{}, Remedies: []report.Remedy{}}
	for _, k := range c.needs {
		if t.wants(k) {
			out.For = append(out.For, k)
		}
	}
	if len(out.For) == 0 && len(c.needs) > 0 {
		return out, false
	}
	defer func() {
		if recover() != nil {
			out.Outcome, out.Reason, ok = report.NotLookedAt, "this program failed at the check", true
		}
	}()
	f := c.ask(t)
	if f.nothing {
		return out, false
	}
	out.Evidence = append(out.Evidence, f.good.Facts()...)
	switch {
	case f.good.Yes():
		out.Outcome, out.Message = report.Passed, f.passed
	case f.good.No():
		out.Outcome, out.Message = report.LacksIt, f.says
		if c.severity == report.Risk {
			out.Outcome = report.AtRisk
		}
		for _, s := range f.steps {
			if r, keep := s.Decide(t.x); keep {
				out.Remedies = append(out.Remedies, r)
			}
		}
	default:
		out.Outcome, out.Message, out.Reason = report.NotLookedAt, f.passed, why(f.good)
	}
	return out, true
}

// why names what kept an answer from being seen, each reason once.
func why(a evidence.Answer) string {
	var out []string
	for _, l := range a.Lacks() {
		if !slices.Contains(out, l.Why) {
			out = append(out, l.Why)
		}
	}
	return cmp.Or(strings.Join(out, "; "), "it was not read")
}

// verdict is that of the worst node; what could not be read is not ready.
func verdict(p *report.Preflight) string {
	out := report.Ready
	for _, n := range p.Nodes {
		if n.Verdict == report.NotReady {
			return report.NotReady
		}
		if n.Verdict == report.UnknownState {
			out = report.UnknownState
		}
	}
	if len(p.Nodes) == 0 || len(p.NotChecked) > 0 {
		out = report.UnknownState
	}
	return out
}
