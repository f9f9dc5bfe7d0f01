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
		grows, told, files := claims.Grows(pl), claims.ToldGrown(pl), claims.HasFilesystem(pl)
		if !grows.Yes() && !told.Yes() || pl.Volume.IsLonghorn() || !files && !pl.Volume.Block() {
			return nil
		}
		if unused, closed := claims.Unused(pl), claims.ReadOnly(pl); files && grows.Yes() && !unused.No() {
			return []*diagnosis.Proof{grownIdle(pl, grows, unused, "unused")}
		} else if files && grows.Yes() && closed.Yes() {
			return []*diagnosis.Proof{grownIdle(pl, grows, closed, "closed")}
		}
		return evidence.Each(pl.AtConsumers(), func(at *evidence.Place) *diagnosis.Proof { return notGrown(at, grows, told) })
	},
}

// grownIdle is a volume that grows when a pod mounts it next, or mounts it for writing.
func grownIdle(pl *evidence.Place, grows, idle evidence.Answer, says string) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	want, _, got := claims.Sizes(pl)
	tried, step := claims.GivenUpOnNode(pl), "Start a pod that mounts the claim for writing: kubelet grows the file system then."
	if tried.Yes() {
		says, step = "tried", "Cure what the condition NodeResizeError of the claim says, then start a pod that mounts the claim for writing."
	}
	return &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim), Says: says, Waiting: says == "unused",
		With:  words.Fields{"claim": ns + "/" + claim, "want": want.String(), "got": got.String()},
		State: []evidence.Answer{grows, claims.BackendGrown(pl), evidence.Any(tried, claims.WaitsForNode(pl)), idle},
		Steps: []remedy.Step{remedy.Words(step)},
	}
}

func notGrown(pl *evidence.Place, grows, told evidence.Answer) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	want, _, got := claims.Sizes(pl)
	sizes := claims.SizesOn(pl)
	_, atWork := fs.AtWork(pl.X, pl.Volume, pl.Node)
	refused, waits := claims.RefusedOnNode(pl), evidence.Any(claims.WaitsForNode(pl), told)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim), Says: "unread", AtMost: map[bool]report.Certainty{true: report.Likely}[told.Yes()], // its driver may say what is not
		With: words.Fields{"claim": ns + "/" + claim, "want": want.String(), "got": got.String(), "node": pl.Node, "device": sizes.Name, "who": map[bool]string{true: "kubelet"}[refused.Yes()]},
		State: []evidence.Answer{evidence.Any(refused.With(sizes.Facts...), evidence.All(waits, claims.MountedHere(pl))),
			evidence.Any(grows, told), claims.BackendGrown(pl), claims.WantedHere(pl), evidence.Any(grows, sizes.Far(got.Value()))},
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
