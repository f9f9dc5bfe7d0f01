package symptom

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/drbd"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeDegraded: a volume works with fewer copies than it should. Of Longhorn, which
// replaces a replica by itself, it informs, and is noise until something depends on the
// missing one or it cannot be replaced; DRBD waits for its peers and does no more.
var volumeDegraded = &diagnosis.SymptomRule{Name: "volume-degraded", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		peersLost(p, v)
		lh := v.LH()
		if lh == nil || lh.Status.Robustness != "degraded" {
			continue
		}
		s := onVolume(v, fmt.Sprintf("Longhorn volume %s is degraded: it has fewer healthy replicas than the %d it wants.", lh.Name, lh.NumberOfReplicas))
		s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
		fails := longhorn.RebuildsFail(p.Index, v)
		s.Informal = !fails.Yes()
		s.At(lh.Status.CurrentNodeID)
		s.Evidence = append(s.Evidence, evidence.FromAPI("Volume "+lh.Name, "status.robustness", "degraded"))
		for _, r := range v.Longhorn.Replicas {
			if r.FailedAt != "" {
				s.At(r.NodeID)
				s.Evidence = append(s.Evidence, evidence.FromAPI("Replica "+r.Name, "spec.failedAt", r.FailedAt))
			}
		}
		if fails.Yes() {
			s.Message = fmt.Sprintf("Longhorn volume %s is degraded, and each try to rebuild a replica fails.", lh.Name)
			s.Evidence = append(fails.Facts(), s.Evidence...)
		}
		p.AddSymptom(s)
	}
}}

// peersLost takes the DRBD peers of a volume in use that are not reached.
func peersLost(p *diagnosis.Pass, v *snapshot.Volume) {
	seen := map[string]bool{}
	for _, c := range v.Live() {
		view := p.View(c.Node())
		if view == nil || seen[c.Node()] {
			continue
		}
		seen[c.Node()] = true
		at := (&evidence.Place{X: p.Index, Volume: v}).On(c.Node())
		r, ok := drbd.ResourceOf(at)
		if !ok || !r.InUse(at).Yes() {
			continue
		}
		lost, _ := drbd.LostPeers(at, r)
		for _, l := range lost {
			s := onVolume(v, fmt.Sprintf("Resource %s of %s on node %s is not connected to its peer %s (%s): what is written there is not replicated to it.", r.Name, name(v), at.Node, l.Peer, l.State))
			s.At(at.Node)
			s.Device(at.Node, r.Dev)
			s.Evidence = append(s.Evidence, l.Facts...)
			p.AddSymptom(s)
		}
	}
}
