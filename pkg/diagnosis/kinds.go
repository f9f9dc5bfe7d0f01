package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// What a volume cannot have is never looked for in it, and never offered as what it could
// be: a share has no disk, a directory of the node no transport, a volume that does not
// exist no filesystem. The engine knows that once, for all rules.

// ofFiles are the causes of layer filesystem that any mounted filesystem can have.
var ofFiles = []string{"filesystem-full", "fsgroup-chown-slow", "selinux-label-conflict", "selinux-relabel-slow", "node-watch-limit-reached"}

// ofDisks are causes of other layers that speak of a block device.
var ofDisks = []string{
	"attached-in-api-missing-on-node", "device-link-missing", "device-renumbered",
	"block-volume-staging-lost", "block-volume-unmap-stuck", "multipath-may-claim",
	"device-claimed-by-unknown", "device-mapped-on-other-node", "device-lun-reused",
}

// ofNodes are causes that speak of what a node has to let go. The disk below a directory of
// the node stays where it is: it is the volume, whoever else looks at it.
var ofNodes = []string{"mount-pinned-in-namespace", "mount-lazily-detached", "device-held-by-process"}

// ofKubelet are causes by which a kubelet itself hangs: its pods wait then, whatever their volumes are.
var ofKubelet = []string{"nfs-server-unreachable"}

// ofProtocol are the causes of layer transport that are one protocol's, by the first part
// of their names.
var ofProtocol = map[string]volume.Kind{
	"iscsi": volume.Disk, "iscsid": volume.Disk, "selinux-denies-iscsi": volume.Disk,
	"nfs-client-missing": volume.NFS | volume.SMB | volume.FUSE | volume.Share,
	"nfs":                volume.NFS, "smb": volume.SMB, "fuse": volume.FUSE | volume.Ceph,
	"ceph": volume.Ceph | volume.Disk, "network": volume.Disk | volume.NFS | volume.SMB,
}

// bears are the kinds of volumes that can have a rule's cause.
func (r *Rule) bears() volume.Kind {
	switch {
	case slices.Contains(ofFiles, r.Name):
		return volume.Anything
	case slices.Contains(ofDisks, r.Name):
		return volume.Disk
	case slices.Contains(ofNodes, r.Name):
		return volume.Disk | volume.Shares
	case r.Name == "local-pool-inactive": // it explains why nothing can be made there
		return volume.Anything | volume.Unmade
	case r.Layer == Device, r.Layer == Filesystem, r.Name == "mount-of-dead-device":
		return volume.Disk | volume.Directory
	case r.Layer == Transport:
		first, _, _ := strings.Cut(r.Name, "-")
		if k, ok := ofProtocol[r.Name]; ok {
			return k
		}
		if k, ok := ofProtocol[first]; ok {
			return k | unmade(k)
		}
	}
	return volume.Anything | volume.Unmade
}

// unmade: provisioners of shares talk to the server before there is a volume.
func unmade(k volume.Kind) volume.Kind {
	if k&volume.Shares != 0 {
		return volume.Unmade
	}
	return 0
}

// kindOf is what a volume is, asked once.
func (p *Pass) kindOf(v *snapshot.Volume) volume.Kind {
	k, ok := p.kinds[v]
	if !ok {
		k = volume.KindOf(p.Index, v)
		p.kinds[v] = k
	}
	return k
}

// can tells whether a volume of a kind can have a rule's cause. One that does not exist
// yet can only have what is said to concern it.
func (r *Rule) can(k volume.Kind) bool {
	if k&volume.Unmade != 0 {
		return r.bears()&volume.Unmade != 0
	}
	return r.bears()&k != 0
}

// only keeps the volumes that can have the running rule's cause; equal sets share a list.
func (p *Pass) only(list []*snapshot.Volume) []*snapshot.Volume {
	if p.rule == nil || p.rule.bears()&(volume.Anything|volume.Unmade) == volume.Anything|volume.Unmade {
		return list
	}
	k := p.rule.bears()
	if kept, ok := p.bearing[k]; ok && kept.of == len(list) {
		return kept.volumes
	}
	out := evidence.Keep(list, func(v *snapshot.Volume) bool { return p.rule.can(p.kindOf(v)) })
	if len(out) == len(list) {
		out = list
	}
	p.bearing[k] = bearing{len(list), out}
	return out
}

// bearing are the volumes of a list of some length that can have causes of one set.
type bearing struct {
	of      int
	volumes []*snapshot.Volume
}

// offer is what decides which causes a symptom of a volume can have.
type offer struct {
	symptom string
	kind    volume.Kind
	early   bool // the volume was not attached, or not made: its filesystem is not the reason
}

// offered are the rules whose causes are possible for what a symptom is about: for one of
// its volumes, or for no volume in particular.
func (c *Catalog) offered(p *Pass, s *Symptom) []*Rule {
	var offers []offer
	for _, v := range p.volumesOf(&s.Keys) {
		early := p.Suffers(v, "attach-failed", "multi-attach-error", "claim-pending", "expansion-pending") && !p.Suffers(v, "mount-failed", "volume-io-error", "volume-readonly", "volume-hung")
		if o := (offer{s.Name, p.supposed(v), early}); !slices.Contains(offers, o) {
			offers = append(offers, o)
		}
	}
	switch len(offers) {
	case 0:
		return c.explaining[s.Name]
	case 1:
		return c.offeredBy(p, offers[0])
	}
	return evidence.Keep(c.explaining[s.Name], func(r *Rule) bool {
		return slices.ContainsFunc(offers, func(o offer) bool { return slices.Contains(c.offeredBy(p, o), r) })
	})
}

// supposed is what a volume is, or, where only the name of its driver tells, what that driver makes: enough to
// say what it could be, not to leave anything out that was found.
func (p *Pass) supposed(v *snapshot.Volume) volume.Kind {
	k := p.kindOf(v)
	if k != volume.Anything {
		return k
	}
	switch of := around.KindOf(p.Index, v, ""); of {
	case around.Unknown, around.Local:
		return k
	case around.NFS:
		return volume.NFS
	case around.SMB: // Azure Files has both protocols
		return volume.SMB | volume.NFS
	case around.CephFS:
		return volume.Ceph | volume.FUSE
	case around.FUSE:
		return volume.FUSE
	case around.Parallel:
		return volume.Share
	}
	return volume.Disk
}

func (c *Catalog) offeredBy(p *Pass, o offer) []*Rule {
	out, ok := p.offers[o]
	if !ok {
		out = evidence.Keep(c.explaining[o.symptom], func(r *Rule) bool {
			can := r.can(o.kind) || o.symptom == "pod-waiting-for-volume" && slices.Contains(ofKubelet, r.Name)
			return can && (r.Layer != Filesystem || !o.early || slices.Contains([]string{"filesystem-full", "expansion-failed-on-node"}, r.Name))
		})
		p.offers[o] = out
	}
	return out
}
