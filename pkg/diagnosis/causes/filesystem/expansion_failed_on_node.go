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
		State: []evidence.Answer{evidence.Any(refused.With(sizes.Facts...), evidence.All(waits, claims.MountedHere(pl))),
			grows, claims.BackendGrown(pl), claims.WantedHere(pl)},
		Last: []evidence.Answer{evidence.Any(refused, sizes.Contradicts())},
		LookAlikes: []diagnosis.LookAlike{
			{Cause: "a filesystem that still grows", Is: atWork},
			{Cause: "filesystem-needs-fsck", Is: claims.NeedsCheck(pl)},
			{Cause: "a mount that is read-only on purpose", Is: claims.ReadOnly(pl)},
		},
		Steps: remedy.Grow(pl.Node, sizes.Part),
	}
	if sizes.Part != disk.Unread {
		p.Says = string(sizes.Part)
	}
	if refused.Yes() && len(pl.Volume.WaitingOn(pl.Node)) > 0 {
		p.Severity = report.Blocking // it is grown before it is handed to the pod
	}
	p.At(pl.Node)
	return p
}
