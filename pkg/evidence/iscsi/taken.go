package iscsi

import (
	"maps"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TakenBy asks whether one other node is logged in to the target that refuses, and names it: storage that gives
// each volume a target of its own may allow that target one session (DSM and QTS do unless "allow multiple sessions"
// is set), and refuses every other initiator for good. A target that carries several volumes, or to which several
// nodes are logged in, takes more, as one of a volume for many nodes must, and one that speaks of who asks has another reason.
func (r Refusal) TakenBy(pl *evidence.Place) (is evidence.Answer, nodes []string) {
	nodes = []string{}
	if !pl.Volume.Exclusive() {
		return evidence.No(), nodes
	}
	var facts []report.Evidence
	for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		if n == pl.Node || r.Target == "" || r.Auth || !r.Fatal {
			continue
		}
		for _, s := range pl.X.View(n).SessionsOf(r.Target) {
			if s.State != "LOGGED_IN" {
				continue
			}
			if !ofVolume(pl.On(n), s) {
				return evidence.No(), []string{}
			}
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
			facts = append(facts, evidence.FromNode(n, "sys/class/iscsi_session/"+s.Name+"/targetname", s.Target+" ("+s.State+")"))
		}
	}
	if len(nodes) != 1 {
		return evidence.No(), []string{}
	}
	return evidence.Yes(facts...), nodes
}

// ofVolume tells whether every disk of a session is the volume's; one whose disks nobody listed is, by its target's name.
func ofVolume(pl *evidence.Place, s *probes.ISCSISession) bool {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	return ok && !slices.ContainsFunc(s.Disks, func(name string) bool {
		b := pl.View.ByName(name)
		return b == nil || !slices.Contains(d.Numbers(), b.Dev) && !slices.Contains(d.Paths, b)
	})
}
