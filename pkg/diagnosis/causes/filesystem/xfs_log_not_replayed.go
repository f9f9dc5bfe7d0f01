package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	fs "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/xfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// XFSLogNotReplayed finds a filesystem whose log waits for a mount that is not made.
var XFSLogNotReplayed = &diagnosis.Rule{
	Name: "xfs-log-not-replayed", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"xfs-uuid-duplicate", "filesystem-readonly-after-error", "device-is-not-the-volume"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		w := xfs.WaitingOf(pl)
		if !w.Is.Yes() {
			return nil
		}
		protected, replay := "", remedy.Words("Make a snapshot or backup first, and see that no pod uses the volume and that it is mounted in no namespace of any node. One read-write mount into an empty directory and a clean unmount replay the log (Longhorn: attach it through the UI; a clone wants the option nouuid), or a driver version that mounts before it checks does so.")
		if w.Protected() {
			protected, replay = "The disk itself is write-protected for the node", remedy.Words("Let the storage give node "+pl.Node+" the disk for writing, and find out why it does not: a LUN that is mapped read-only, the passive copy of a replication, a snapshot, a pool without space. The next mount then replays the log; there is nothing to repair before.")
			if fs.ForReading(pl.Volume).Yes() {
				replay = remedy.Words("The volume is for reading alone, so let its disk stay closed for writing; where it is a copy, make it anew of a filesystem that was unmounted or frozen, or of a writable copy that was mounted once.")
			}
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.VolumeSubject(pl.Volume), Says: w.Says,
			With:       words.Fields{"volume": pl.Volume.PVName(), "node": pl.Node, "device": w.Name, "dev": "", "protected": protected},
			State:      []evidence.Answer{w.Is},
			LookAlikes: []diagnosis.LookAlike{{Cause: "filesystem-needs-fsck", Is: w.Damaged(pl)}},
			Steps: []remedy.Step{
				replay,
				remedy.Words("Use that shall stay read-only: the mount options norecovery (XFS, with nouuid for a clone) or noload (ext4), knowing that the newest changes are not seen. Do not destroy the log (xfs_repair -L) before that mount has failed, and then only on a copy: it loses data."),
			},
		}
		if !w.Dev.IsZero() {
			p.Subject, p.With["dev"] = diagnosis.DeviceSubject(pl.Node, w.Dev), w.Dev.String()
			p.Device(pl.Node, w.Dev)
		}
		return []*diagnosis.Proof{p}
	},
}
