package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/xfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// XFSUUIDDuplicate finds copies of an XFS filesystem whose original is mounted on the
// same node.
var XFSUUIDDuplicate = &diagnosis.Rule{
	Name: "xfs-uuid-duplicate", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"mount-of-dead-device", "mount-pinned-in-namespace"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c, ok := filesystem.CarrierOf(pl)
		if !ok {
			return []*diagnosis.Proof{diagnosis.Unread(filesystem.Looked(pl))}
		}
		twin := xfs.CopyOf(c)
		o := twin.Original()
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, c.Block.Dev), Says: twin.Kind,
			With: words.Fields{"volume": volume.Name(pl.Volume), "device": c.Name(), "node": pl.Node, "uuid": twin.UUID,
				"original": o.Name, "point": o.Point},
			State: []evidence.Answer{twin.Refused, o.Is},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "mount-of-dead-device", Is: o.Own},
				{Cause: "a mount that succeeded since", Is: c.Mounted()},
			},
			Steps: []remedy.Step{
				remedy.Words("Mount the copy with the option nouuid (mountOptions of its StorageClass or PersistentVolume, or a newer driver that sets it), or run the pod on a node that does not mount the original."),
				remedy.Words("Only where nouuid is impossible, and once a copy of the data exists: a new UUID for the unmounted clone with a clean log. Some drivers' own way to a new UUID formats the volume."),
			},
		}
		if twin.Kind == "btrfs" {
			p.Steps = []remedy.Step{
				remedy.Words("Run the pod on a node that does not mount the original; a kernel of 6.7 or newer mounts copies of a single device beside each other. Do not mount one in the other's place: Btrfs takes two devices of one UUID for one filesystem and writes to both."),
				remedy.Words("A new UUID (btrfstune) only for the unmounted clone, on a machine that does not see the original, and once a copy of the data exists."),
			}
		}
		switch {
		case twin.Said.Yes():
			p.State, p.Last = []evidence.Answer{twin.Said}, []evidence.Answer{o.Is}
		case !twin.Refused.Yes(): // the kernel refuses it as soon as it is asked (xfs_uuid_mount)
			p.State, p.AtMost = []evidence.Answer{twin.Fails, o.Is}, report.Likely
			p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "copies that are mounted with nouuid", Is: o.Apart})
		}
		p.Carried(pl.Volume, pl.Node, c.Numbers()...)
		return []*diagnosis.Proof{p}
	},
}
