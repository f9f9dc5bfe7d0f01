package diagnosis

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// couldBe names the causes of a symptom that were not checked, and why: what everybody thinks
// of first comes first. Where the ground is missing on which rules of a layer stand, every one
// of them is open, whether it came so far as to miss something or not.
func (c *Catalog) couldBe(p *Pass, s *Symptom) []report.CouldBe {
	var out []report.CouldBe
	ground, refused := p.groundOf(s), p.refusedAfar(s)
	volumes := p.volumesOf(&s.Keys)
	for _, r := range c.offered(p, s) {
		if refused && slices.Contains(onNodes, r.Layer) {
			continue
		}
		m, ok := p.missesOf(r.Name).first(s.at.list)
		if !ok {
			m, ok = ground.below(r.Layer)
			// What only the kubelet suffers from, of other volumes, no list of objects hides.
			ok = ok && (m.node != "" || len(volumes) == 0 || slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool { return r.can(p.supposed(v)) }))
		}
		if ok {
			out = append(out, report.CouldBe{Cause: r.Name, BlockedBy: p.blockedBy(m)})
		}
	}
	if slices.ContainsFunc(s.Evidence, func(e report.Evidence) bool { return disk.SaysUnnamed(evidence.Text{Raw: e.Text}) }) {
		slices.SortStableFunc(out, func(a, b report.CouldBe) int { return hides(a) - hides(b) })
	}
	return oneOf(p.couldBe, out)
}

// hides is 0 for a cause of which a disk that is not found is the ordinary sign: where the driver says that, who holds or claims
// the disk is a later thought.
func hides(c report.CouldBe) int {
	if slices.Contains([]string{"attached-in-api-missing-on-node", "device-link-missing", "device-renumbered"}, c.Cause) {
		return 0
	}
	return 1
}

// refusedAfar tells whether the storage has refused to attach the volumes of a symptom, which are on no other node: what lives on
// the node had no part in that.
func (p *Pass) refusedAfar(s *Symptom) bool {
	volumes := p.volumesOf(&s.Keys)
	return len(volumes) > 0 && !slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool {
		refused := slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool {
			return va.Status.AttachError != nil && !va.Status.Attached && len(v.Attachments) == 1
		})
		return !refused || !around.KindOf(p.Index, v, "").Afar() || len(p.Index.NodesOf(v)) > 1
	})
}

// ground is what was not read that rules need to come to a volume at all, by the layers that
// stand on it; nil is all of them.
type ground []struct {
	layers []Layer
	lack   missKey
}

func (g ground) below(l Layer) (missKey, bool) {
	for _, x := range g {
		if x.layers == nil || slices.Contains(x.layers, l) {
			return x.lack, true
		}
	}
	return missKey{}, false
}

// groundOf is that of the volumes of a symptom, and of its nodes: who uses which volume, what
// was said of it, what it is attached to, and what every statement about a node rests on.
func (p *Pass) groundOf(s *Symptom) ground {
	var out ground
	add := func(r evidence.Reading, layers ...Layer) {
		for _, l := range r.Lacks() {
			out = append(out, struct {
				layers []Layer
				lack   missKey
			}{layers, missKey{l.Need, l.Node}})
		}
	}
	x, volumes := p.Index, p.volumesOf(&s.Keys)
	for _, v := range volumes {
		if v.PV == nil {
			add(evidence.Resource(x, "/persistentvolumes"))
		}
		namespace, _ := v.ClaimRef()
		add(evidence.ConsumersOf(x, v).And(evidence.ResourceIn(x, "/events", namespace)))
		if v.IsLonghorn() {
			for _, kind := range []string{"volumes", "engines", "replicas", "instancemanagers", "nodes", "sharemanagers", "engineimages", "volumeattachments"} {
				add(evidence.Resource(x, "longhorn.io/"+kind))
			}
		}
	}
	if len(volumes) == 0 {
		add(evidence.Resources(x, "/persistentvolumes", "/persistentvolumeclaims", "/events"))
	}
	add(evidence.Resource(x, "/nodes"))
	add(evidence.Resource(x, "storage.k8s.io/volumeattachments"), Attach, Claim)
	for _, n := range s.at.list {
		for _, t := range evidence.AllTables() {
			if p.View(n) != nil && !evidence.NotAsked(x, n, t) && p.speaksOf(volumes, t) {
				add(evidence.Ended(x, n, t))
			}
		}
	}
	return out
}

// speaksOf tells whether one of some volumes can be in a table of a node: no share is in
// those of disks.
func (p *Pass) speaksOf(volumes []*snapshot.Volume, t probes.Table) bool {
	of := volume.Anything
	switch t {
	case probes.Sessions, probes.NVMeDevices, probes.RBDDevices, probes.Maps, probes.Swaps, probes.Superblocks:
		of = volume.Disk
	case probes.NFSClient:
		of = volume.NFS
	}
	return len(volumes) == 0 || slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool { return p.kindOf(v)&of != 0 })
}
