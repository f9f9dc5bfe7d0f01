package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	fs "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ExpansionFailedOnNode finds a volume that has grown in the backend and not on its node.
var ExpansionFailedOnNode = &diagnosis.Rule{
	Name: "expansion-failed-on-node", Layer: diagnosis.Filesystem, Severity: report.Degraded,
	Breaks:   []diagnosis.Step{diagnosis.Resizing, diagnosis.Publishing},
	YieldsTo: []string{"filesystem-needs-fsck", "filesystem-readonly-after-error", "multipath-map-orphaned"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		grows := claims.Grows(pl)
		if !grows.Yes() || pl.Volume.IsLonghorn() || !claims.HasFilesystem(pl) {
			return nil
		}
		if unused := claims.Unused(pl); !unused.No() {
			return []*diagnosis.Proof{grownUnused(pl, grows, unused)}
		}
		return evidence.Each(pl.AtConsumers(), func(at *evidence.Place) *diagnosis.Proof { return notGrown(at, grows) })
	},
}

// grownUnused is a volume that grows when a pod mounts it next.
func grownUnused(pl *evidence.Place, grows, unused evidence.Answer) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	want, _, got := claims.Sizes(pl)
	return &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim), Says: "unused", Waiting: true,
		With:  words.Fields{"claim": ns + "/" + claim, "want": want.String(), "got": got.String()},
		State: []evidence.Answer{grows, claims.BackendGrown(pl), claims.WaitsForNode(pl), unused},
		Steps: []remedy.Step{remedy.Words("Start a pod that mounts the claim: kubelet grows the file system then.")},
	}
}

func notGrown(pl *evidence.Place, grows evidence.Answer) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	want, backend, got := claims.Sizes(pl)
	sizes := disk.SizesOf(pl, got.Value(), backend.Value())
	_, atWork := fs.AtWork(pl.X, pl.Volume, pl.Node)
	refused, waits := claims.RefusedOnNode(pl), claims.WaitsForNode(pl)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim), Says: "unread",
		With: words.Fields{"claim": ns + "/" + claim, "want": want.String(), "got": got.String(), "node": pl.Node, "device": sizes.Name},
		State: []evidence.Answer{grows, claims.BackendGrown(pl), claims.WantedHere(pl),
			evidence.Any(refused.With(sizes.Facts...), evidence.All(waits, claims.MountedHere(pl)))},
		Last: []evidence.Answer{evidence.Any(refused, sizes.Contradicts())},
		LookAlikes: []diagnosis.LookAlike{
			{Cause: "a filesystem that still grows", Is: atWork},
			{Cause: "filesystem-needs-fsck", Is: claims.NeedsCheck(pl)},
			{Cause: "a mount that is read-only on purpose", Is: claims.ReadOnly(pl)},
		},
		Steps: []remedy.Step{remedy.Check("Compare the sizes of disk, mapper and file system on the node.", remedy.OnNode(pl.Node, "lsblk", "-b", "-o", "NAME,SIZE,MOUNTPOINT"))},
	}
	if sizes.Part != disk.Unread {
		p.Says = string(sizes.Part)
	}
	if refused.Yes() && len(pl.Volume.WaitingOn(pl.Node)) > 0 {
		p.Severity = report.Blocking // it is grown before it is handed to the pod
	}
	p.At(pl.Node)
	p.Steps = append(p.Steps, remedy.Words(cures[sizes.Part]),
		remedy.Words("Never run a resize tool on a device that is mounted elsewhere, never make a file system smaller, and do not edit status.capacity of the claim."))
	return p
}

// cures are the ways to let each part take its new size.
var cures = map[disk.Behind]string{
	disk.Unread:     "Read what the driver's node plugin says, cure that, and kubelet tries again. A driver that cannot grow a mounted volume does so when it is unmounted and mounted again: replace the pod at a quiet time.",
	disk.Device:     "Let the node read the size of the disk again (1 into sys/class/block/DISK/device/rescan, iscsiadm -m session -R, nvme ns-rescan: they only read), then kubelet tries again.",
	disk.Map:        "Let the mapping take the new size of its disks (multipathd resize map NAME; for a LUKS mapping cryptsetup resize, which asks for its passphrase), then kubelet tries again. Where the driver's plugin runs a multipathd of its own, that one must see udev's data of the host.",
	disk.Filesystem: "Disk and mapping have the new size, only the file system was not grown: cure what the tool says in the text of kubelet or in the kernel log; kubelet tries again. Else replace the pod at a quiet time, so that the volume is mounted anew.",
}
