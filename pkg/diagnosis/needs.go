package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// users are the tables in which something that uses a volume can be. A cause that is what
// remains when nothing else is found argues from the absence of every user.
var users = []probes.Table{probes.Block, probes.DeviceNodes, probes.Swaps, probes.Superblocks, probes.Mounts, probes.Processes, probes.Descriptors}

// capByLook caps a finding that is what remains at likely when the nodes that it speaks of
// were not looked at to the end. Any other rests on what was seen; what it argues from absence
// are Readings of its own.
func (p *Pass) capByLook(f *Finding) {
	if len(f.rule.Residual) == 0 {
		return
	}
	var look evidence.Reading
	volumes := p.volumesOf(&f.Keys)
	for _, node := range f.places() {
		if p.View(node) == nil {
			continue
		}
		for _, t := range users {
			look = look.And(p.whole(volumes, node, t))
		}
	}
	for _, l := range look.Lacks() {
		f.NotConfirmed = add(f.NotConfirmed, l.String())
		f.Certainty = f.Certainty.AtMost(report.Likely)
	}
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

// places are the nodes that a finding speaks of: where it is located, and where its
// evidence was read.
func (f *Finding) places() []string {
	var out set[string]
	out.add(f.at.list...)
	out.add(f.nodes.list...)
	for _, e := range f.facts.list {
		if e.Node != "" {
			out.add(e.Node)
		}
	}
	return slices.Sorted(slices.Values(out.list))
}

// volumesOf are the volumes of the question that keys name.
func (p *Pass) volumesOf(k *Keys) []*snapshot.Volume {
	var at set[int]
	for _, o := range k.objects.list {
		if i, ok := p.scope.byKey[o]; ok {
			at.add(i)
		}
	}
	return evidence.Each(slices.Sorted(slices.Values(at.list)), func(i int) *snapshot.Volume { return p.scope.volumes[i] })
}

// partial lists what the probes of the question's nodes could not read and that can
// hide something about it: one line for each node and table.
func (p *Pass) partial(known []report.NotChecked) []report.NotChecked {
	said := map[string]bool{}
	for _, n := range known {
		said[n.Need] = true
	}
	volumes := p.scope.volumes
	if p.sweepsNodes() {
		volumes = nil
	}
	var out []report.NotChecked
	for _, view := range p.scope.views {
		for _, t := range evidence.AllTables() {
			// What is asked only where it matters is missed only by who needs it; the kernel speaks of everything.
			unasked := evidence.NotAsked(p.Index, view.Name, t)
			if unasked && t != probes.KernelLog {
				continue
			}
			for _, l := range p.whole(volumes, view.Name, t).Lacks() {
				if !said[l.Need] {
					said[l.Need] = true
					reason, detail := snapshot.Partial, l.Why
					if unasked {
						reason, detail = p.reason(missKey{l.Need, l.Node})
					}
					out = append(out, report.NotChecked{Need: l.Need, Node: view.Name, Reason: reason, Detail: detail})
				}
			}
		}
	}
	return out
}
