package diagnosis

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// sortedMisses returns what could not be read, in a stable order.
func (p *Pass) sortedMisses() []missKey {
	return slices.SortedFunc(maps.Keys(p.missed), func(a, b missKey) int { return strings.Compare(a.need, b.need) })
}

// misses are what one rule could not read, in order of need.
type misses struct {
	all    []missKey
	byNode map[string]missKey // the first of each node; "" for what is no node's
}

// missesOf sorts them once, when every rule has run.
func (p *Pass) missesOf(rule string) misses {
	if p.missesBy == nil {
		p.missesBy = map[string]misses{}
		for _, k := range p.sortedMisses() {
			for r := range p.missed[k] {
				m := p.missesBy[r]
				if m.byNode == nil {
					m.byNode = map[string]missKey{}
				}
				if _, ok := m.byNode[k.node]; !ok {
					m.byNode[k.node] = k
				}
				m.all = append(m.all, k)
				p.missesBy[r] = m
			}
		}
	}
	return p.missesBy[rule]
}

// first is what kept the rule from being checked for something located on nodes (none:
// anywhere).
func (m misses) first(at []string) (missKey, bool) {
	if len(at) == 0 {
		if len(m.all) == 0 {
			return missKey{}, false
		}
		return m.all[0], true
	}
	best, found := m.byNode[""]
	for _, n := range at {
		if k, ok := m.byNode[n]; ok && (!found || k.need < best.need) {
			best, found = k, true
		}
	}
	return best, found
}

// reason finds why something is missing.
func (p *Pass) reason(k missKey) (reason, detail string) {
	if rest, ok := strings.CutPrefix(k.need, "api/"); ok {
		if g, ok := p.GapFor(rest); ok {
			return g.Reason, g.Detail
		}
	}
	if rule, ok := strings.CutPrefix(k.need, ruleNeed); ok {
		return snapshot.Failed, p.whyFailed(rule)
	}
	if strings.HasPrefix(k.need, csi.DriverNeed) {
		return snapshot.Disputed, p.whys[k]
	}
	if node, table, ok := strings.Cut(strings.TrimPrefix(k.need, "node/"), "/"); ok {
		if p.View(node) != nil {
			t := probes.Table(table)
			if evidence.NotAsked(p.Index, node, t) {
				return snapshot.NotRequested, "not recorded"
			}
			if r := evidence.Tables(p.Index, node, t); !r.Complete() {
				return snapshot.Partial, r.Lacks()[0].Why
			}
		}
	}
	if k.node != "" || p.whys[k] == "" {
		if g, ok := p.NodeGap(k.node); ok {
			return g.Reason, g.Detail
		}
	}
	if g, ok := p.Gap(k.need); ok {
		return g.Reason, g.Detail
	}
	if why := p.whys[k]; why != snapshot.NotRequested { // it was read, and what is looked for is not in it
		return snapshot.NotRequested, why
	}
	return snapshot.NotRequested, ""
}

// blockedBy is what is missing and why, in one text for all whom it blocks.
func (p *Pass) blockedBy(k missKey) string {
	if s, ok := p.blocks[k]; ok {
		return s
	}
	reason, detail := p.reason(k)
	s := k.need + ": " + reason
	if detail != "" {
		s += " (" + detail + ")"
	}
	if p.blocks == nil {
		p.blocks = map[missKey]string{}
	}
	p.blocks[k] = s
	return s
}

// notChecked lists what could not be looked at and which causes that leaves open.
func (p *Pass) notChecked() []report.NotChecked {
	out := []report.NotChecked{}
	for _, k := range p.sortedMisses() {
		reason, detail := p.reason(k)
		if reason == snapshot.NotServed && strings.Contains(k.need, "longhorn.io/") {
			continue // no Longhorn in this cluster: nothing was missed
		}
		causes := slices.Sorted(maps.Keys(p.missed[k]))
		out = append(out, report.NotChecked{Need: k.need, Node: k.node, Reason: reason, Detail: detail, Causes: causes})
	}
	out = append(out, p.notFailed(out)...)
	out = append(out, p.notProbed(out)...)
	out = append(out, p.partial(out)...)
	gaps := slices.Clone(p.Gaps)
	slices.SortStableFunc(gaps, func(a, b snapshot.Gap) int { return strings.Compare(a.Need, b.Need) })
	for _, g := range gaps {
		if p.concerns(g) && !slices.ContainsFunc(out, func(n report.NotChecked) bool { return n.Need == g.Need }) {
			out = append(out, report.NotChecked{Need: g.Need, Reason: g.Reason, Detail: g.Detail})
		}
	}
	return out
}

// notProbed lists the nodes that were not looked at: those of a node or cluster question,
// whose hazards are unknown, also when no volume led a rule there, and those where a pod runs
// with a volume in question, which may be dead under it.
func (p *Pass) notProbed(known []report.NotChecked) []report.NotChecked {
	nodes := p.Nodes()
	if !p.Sweep() {
		nodes = p.usedOn()
	}
	said := map[string]bool{}
	for _, n := range known {
		said[n.Need] = true
	}
	var out []report.NotChecked
	for _, node := range nodes {
		need := "node/" + node
		if g, missing := p.NodeGap(node); missing && !said[need] {
			out = append(out, report.NotChecked{Need: need, Node: node, Reason: g.Reason, Detail: g.Detail})
		}
	}
	return out
}

// usedOn are the nodes where a pod runs with a volume in question.
func (p *Pass) usedOn() []string {
	var out []string
	for _, v := range p.Volumes() {
		for _, c := range v.Live() {
			if c.Pod.Status.Phase == corev1.PodRunning && c.Node() != "" {
				out = evidence.Once(out, c.Node())
			}
		}
	}
	return out
}

// concerns tells whether a gap that no rule met must be said all the same: what
// was wanted and refused may hide a symptom, and silence never looks like health.
func (p *Pass) concerns(g snapshot.Gap) bool {
	switch {
	case g.Reason == snapshot.Malformed:
		return true
	case g.Reason == snapshot.NotServed || g.Reason == snapshot.NotRequested:
		return false
	case strings.HasPrefix(g.Need, "api/"):
		return !p.ofOthers(g)
	case strings.HasPrefix(g.Need, "logs"):
		return slices.ContainsFunc(p.awaited(), func(pod *corev1.Pod) bool {
			return g.Need == "logs" || strings.HasPrefix(g.Need, "logs/"+pod.Namespace+"/"+pod.Name+"/")
		})
	}
	node, ok := strings.CutPrefix(g.Need, "node/")
	return ok && slices.Contains(p.Nodes(), node)
}

// ofOthers tells whether a gap is about namespaces whose pods, claims and events have no part in what is asked: nobody there
// can use a claim of another one. What a rule wanted of them it has missed by itself.
func (p *Pass) ofOthers(g snapshot.Gap) bool {
	parts := strings.Split(strings.TrimPrefix(g.Need, "api/"), "/")
	if len(parts) != 3 || p.Sweep() || !slices.Contains([]string{"pods", "persistentvolumeclaims", "events"}, parts[1]) {
		return false
	}
	asked := []string{p.Question.Namespace}
	for _, v := range p.Volumes() {
		if ns, _ := v.ClaimRef(); ns != "" {
			asked = append(asked, ns)
		}
	}
	return !slices.ContainsFunc(asked, func(ns string) bool {
		in, narrow := p.GapIn("/"+parts[1], ns)
		return narrow && in.Need == g.Need || ns == "" && len(asked) == 1
	})
}
