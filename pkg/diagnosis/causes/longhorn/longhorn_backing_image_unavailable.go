package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// BackingImageUnavailable finds a backing image of which no disk has a ready copy.
var BackingImageUnavailable = &diagnosis.Rule{
	Name: "longhorn-backing-image-unavailable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil || v.BackingImage == "" || v.Status.State == "attached" {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("BackingImage", v.Namespace, v.BackingImage),
			With:    words.Fields{"volume": v.Name, "image": v.BackingImage, "state": lh.OrNone(v.Status.State), "copies": lh.Copies(lh.BackingImage(pl.X, v.BackingImage))},
		}
		p.Object("backingimage", v.BackingImage)
		waits, missing := lh.WaitsForImage(pl.X, pl.Volume), lh.NoCopy(pl.X, v.BackingImage)
		switch {
		case missing.No():
			failedCopy(pl, p)
		case waits.No() && len(pl.Volume.Waiting()) == 0:
			return nil
		case waits.Yes():
			p.Says, p.State, p.Hint = "none", []evidence.Answer{missing}, waits
		default: // a pod waits, and Longhorn does not say for what
			p.Says, p.State, p.AtMost = "none", []evidence.Answer{missing}, report.Likely
		}
		p.Waiting = p.Says == "none" && lh.Fetched(pl.X, pl.Volume)
		if missing.Unseen() {
			p.Says = "unread"
		}
		p.Steps = append(p.Steps, adviseImage(pl, p)...)
		return []*diagnosis.Proof{p}
	},
}

// failedCopy is a replica whose own copy failed while another disk has a ready one:
// Longhorn may yet copy it from there.
func failedCopy(pl *evidence.Place, p *diagnosis.Proof) {
	r, file, failed := lh.FailedCopy(pl.X, pl.Volume)
	p.Says, p.State, p.AtMost = "one", []evidence.Answer{failed}, report.Likely
	if r != nil {
		p.With["replica"], p.With["node"], p.With["disk"], p.With["copy"], p.With["why"] = r.Name, r.NodeID, r.DiskID, file.State, lh.OrNone(file.Message)
		p.At(r.NodeID)
	}
}

func adviseImage(pl *evidence.Place, p *diagnosis.Proof) []remedy.Step {
	b, cure := lh.BackingImage(pl.X, pl.Volume.LH().BackingImage), ""
	switch {
	case p.Says == "one":
		cure = "Clear the failed copy on that disk in the Longhorn UI (Backing Image, clean up the disk): Longhorn then copies the image again from the disk that has it."
	case p.Waiting:
		cure = "Wait while a copy is being made and its progress rises; the volume attaches by itself when it is ready."
	case p.Says == "unread":
		cure = "Look at the copies of the backing image first."
	case b == nil:
		cure = "Create the backing image again under the same name with identical bytes."
	case b.SourceType == "download" || b.SourceType == "restore":
		cure = "Clear the failed copies of the image in the Longhorn UI (Backing Image, clean up the disks): an image of type " + b.SourceType + " is then fetched again from its source. Check that the source answers, and look for a data source pod of the image that hangs."
	default:
		cure = "The image is of type " + lh.OrNone(b.SourceType) + ": it must be provided again with identical bytes (the checksum in spec is compared). Look for a data source pod of the image that hangs."
	}
	return []remedy.Step{remedy.Words(cure), remedy.Words("Keep the BackingImage object and the replicas: the volume's own data lies on top of the image.")}
}
