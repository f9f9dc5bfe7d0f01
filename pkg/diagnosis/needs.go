package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// A rule that is no proof yet does not say which of its arguments are arguments from
// absence. What it declares to need, and what every look at a node rests on, has to be
// read whole before the engine lets it be certain.

// everyLook are the tables that any statement about a node rests on: a probe that did
// not come to its end there leaves nothing certain.
var everyLook = []probes.Table{probes.Machine, probes.Processes, probes.Mounts, probes.Block}

// missNeeds notes the running rule as not checked for everything that it declares and
// that was not read whole.
func (p *Pass) missNeeds() {
	for _, n := range p.rule.Needs {
		if n.API != "" {
			p.Has(n.API)
		}
		if n.Probe == "" {
			continue
		}
		for _, view := range p.scope.views {
			for _, l := range p.whole(nil, view.Name, evidence.TableOf(n.Probe)).Lacks() {
				p.Miss(l.Need, l.Node)
			}
		}
	}
}

// capByNeeds caps a finding at likely when something that it may rest on was not read.
func (p *Pass) capByNeeds(f *Finding) {
	var needs evidence.Reading
	for _, n := range f.rule.Needs {
		if n.API != "" {
			needs = needs.And(evidence.Resource(p.Index, n.API))
		}
		if n.API == "/pods" { // which volumes a pod uses stands in its claims
			needs = needs.And(evidence.Resource(p.Index, "/persistentvolumeclaims"))
		}
	}
	volumes := p.volumesOf(f.Keys)
	for _, node := range f.places() {
		if p.View(node) == nil {
			continue
		}
		needs = needs.And(p.ended(node))
		for _, t := range f.rule.tables() {
			needs = needs.And(p.whole(volumes, node, t))
		}
	}
	for _, l := range needs.And(p.undisputed(f.rule.Name)).Lacks() {
		f.Missing(l.String())
	}
}

// blind tells whether a finding speaks of a node of which only a bundle of another tool
// tells, and rests on a table that such a bundle does not have. A rule that is no proof
// would take "nothing was read" for "there is none".
func (p *Pass) blind(f *Finding) bool {
	if p.rule.Run == nil {
		return false
	}
	for _, node := range f.places() {
		view := p.View(node)
		if g, ok := p.Gap("node/" + node); !ok || g.Reason != snapshot.NotInBundle || view == nil {
			continue
		}
		for _, n := range p.rule.Needs {
			if n.Probe != "" && view.Facts.Status[n.Probe].State != "ok" {
				return true
			}
		}
	}
	return false
}

// users are the tables in which something that uses a volume can be.
var users = []probes.Table{probes.Block, probes.DeviceNodes, probes.Swaps, probes.Superblocks, probes.Mounts, probes.Processes, probes.Descriptors}

// tables are those that a rule reads by its own word. One that is what remains when
// nothing else is found argues from the absence of every user.
func (r *Rule) tables() []probes.Table {
	var out []probes.Table
	for _, n := range r.Needs {
		if n.Probe != "" {
			out = append(out, evidence.TableOf(n.Probe))
		}
	}
	if len(r.Residual) > 0 {
		out = append(out, users...)
	}
	return out
}

// whole says whether a table of a node was read whole, as far as one of some volumes can
// be in it; without volumes, as far as anything can.
func (p *Pass) whole(volumes []*snapshot.Volume, node string, table probes.Table) evidence.Reading {
	if len(volumes) == 0 {
		return evidence.Tables(p.Index, node, table)
	}
	var r evidence.Reading
	for _, v := range volumes {
		if r = evidence.TablesFor(p.Index, v, node, table); !r.Complete() {
			break
		}
	}
	return r
}

// ended says whether the probes that every statement about a node rests on came to
// their end there.
func (p *Pass) ended(node string) evidence.Reading {
	var r evidence.Reading
	for _, t := range everyLook {
		r = r.And(evidence.Ended(p.Index, node, t))
	}
	return r
}

// places are the nodes that a finding speaks of: where it is located, and where its
// evidence was read.
func (f *Finding) places() []string {
	out := slices.Concat(f.at, f.nodes)
	for _, e := range f.Evidence {
		out = add(out, e.Node)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// volumesOf are the volumes of the question that keys name.
func (p *Pass) volumesOf(k Keys) []*snapshot.Volume {
	var at []int
	for _, o := range k.objects {
		if i, ok := p.scope.byKey[o]; ok && !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	var out []*snapshot.Volume
	for _, i := range at {
		out = append(out, p.scope.volumes[i])
	}
	return out
}

// partial lists what the probes of the question's nodes could not read and that can
// hide something about it: one line for each node and table.
func (p *Pass) partial(known []report.NotChecked) []report.NotChecked {
	said := map[string]bool{}
	for _, n := range known {
		said[n.Need] = true
	}
	volumes := p.scope.volumes
	if p.Sweep() {
		volumes = nil
	}
	var out []report.NotChecked
	for _, view := range p.scope.views {
		for _, t := range evidence.AllTables() {
			for _, l := range p.whole(volumes, view.Name, t).Lacks() {
				if !said[l.Need] && !evidence.NotAsked(p.Index, view.Name, t) {
					said[l.Need] = true
					out = append(out, report.NotChecked{Need: l.Need, Node: view.Name, Reason: snapshot.Partial, Detail: l.Why})
				}
			}
		}
	}
	return out
}
