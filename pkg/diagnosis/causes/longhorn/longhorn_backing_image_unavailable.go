package longhorn

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_backing_image_unavailable.md
var longhornBackingImageUnavailableDoc string

// BackingImageUnavailable finds a backing image of which no disk has a ready copy.
var BackingImageUnavailable = &diagnosis.Rule{
	Name: "longhorn-backing-image-unavailable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/backingimages")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "claim-pending"},
	Doc:      longhornBackingImageUnavailableDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && lh.BackingImage != "" && lh.Status.State != "attached" && p.Has("longhorn.io/backingimages") {
				backingImage(p, v, lh)
			}
		}
	},
}

func backingImage(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	image := imageNamed(p, lh.BackingImage)
	state, ready, moving := copiesOf(image)
	evidence, waits := imageCondition(v, lh)
	if ready {
		failedCopy(p, v, lh, image)
		return
	}
	if !waits && len(v.Waiting()) == 0 {
		return
	}
	c := report.Certain
	if !waits {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("BackingImage", lh.Namespace, lh.BackingImage)).On(v)
	f.Object("backingimage", lh.BackingImage)
	f.Waiting = moving
	f.Fact(evidence...)
	if image != nil {
		f.Fact(diagnosis.FromAPI("BackingImage "+image.Name, "status.diskFileStatusMap", state))
	}
	f.Sayf("Longhorn volume %s is made from backing image %s, and no disk has a ready copy of it: %s. The replicas cannot start without the image, so the volume stays %s.",
		lh.Name, lh.BackingImage, state, none(lh.Status.State))
	if !waits {
		f.NotConfirmed = append(f.NotConfirmed, "a condition WaitForBackingImage on the volume or its replicas")
	}
	f.Unless("a copy of the image in state ready")
	adviseImage(f, image, moving)
	p.Report(f)
}

// failedCopy finds a replica that waits for a copy which failed on its disk, while another
// disk has a ready one: Longhorn may yet copy it from there.
func failedCopy(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, image *snapshot.LHBackingImage) {
	for _, r := range v.Longhorn.Replicas {
		c, ok := r.Conditions.Get("WaitForBackingImage")
		file := image.Copies[r.DiskID]
		if !ok || c.Status != "True" || file.State != "failed" && file.State != "unknown" && file.State != "failed-and-cleanup" {
			continue
		}
		f := p.Find(report.Likely, diagnosis.ObjectSubject("BackingImage", lh.Namespace, image.Name)).On(v).Located(r.NodeID)
		f.Object("backingimage", image.Name)
		f.Sayf("Replica %s of Longhorn volume %s on node %s waits for its copy of backing image %s, which is %s on disk %s (%s), while another disk has a ready copy.",
			r.Name, lh.Name, r.NodeID, image.Name, file.State, r.DiskID, none(file.Message))
		f.Fact(diagnosis.FromAPI("Replica "+r.Name, "status.conditions[WaitForBackingImage]", strings.TrimSpace("True "+c.Reason+" "+c.Message)),
			diagnosis.FromAPI("BackingImage "+image.Name, "status.diskFileStatusMap["+r.DiskID+"]", strings.TrimSpace(file.State+" "+file.Message)))
		f.NotConfirmed = append(f.NotConfirmed, "that the copy from the ready disk is not made again by itself")
		f.Unless("a copy in state ready on disk " + r.DiskID)
		f.Advise(remedy.Words("Clear the failed copy on that disk in the Longhorn UI (Backing Image, clean up the disk): Longhorn then copies the image again from the disk that has it. Keep the BackingImage object and the replicas."))
		p.Report(f)
		return
	}
}

func imageNamed(p *diagnosis.Pass, name string) *snapshot.LHBackingImage {
	for _, b := range p.Cluster.Longhorn.BackingImages {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// copiesOf describes the copies by disk. An image that is being fetched needs time.
func copiesOf(b *snapshot.LHBackingImage) (state string, ready, moving bool) {
	if b == nil {
		return "the BackingImage object does not exist", false, false
	}
	var all []string
	for _, disk := range slices.Sorted(maps.Keys(b.Copies)) {
		c := b.Copies[disk]
		switch c.State {
		case "ready":
			ready = true
		case "in-progress", "in_progress", "starting", "pending", "ready-for-transfer":
			moving = true
		}
		text := fmt.Sprintf("disk %s %s at %d %%", disk, none(c.State), c.Progress)
		if c.Message != "" {
			text += " (" + c.Message + ")"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return "it has no copy on any disk", false, false
	}
	return strings.Join(all, "; "), ready, moving
}

// imageCondition finds the condition by which Longhorn says that it waits for the image.
func imageCondition(v *snapshot.Volume, lh *snapshot.LHVolume) ([]report.Evidence, bool) {
	var out []report.Evidence
	look := func(object string, list snapshot.Conditions) {
		for _, kind := range []string{"WaitForBackingImage", "BackingImageIncompatible"} {
			if c, ok := list.Get(kind); ok && c.Status == "True" {
				out = append(out, diagnosis.FromAPI(object, "status.conditions["+kind+"]", strings.TrimSpace("True "+c.Reason+" "+c.Message)))
			}
		}
	}
	look("Volume "+lh.Name, lh.Status.Conditions)
	for _, r := range v.Longhorn.Replicas {
		look("Replica "+r.Name, r.Conditions)
	}
	return out, len(out) > 0
}

func adviseImage(f *diagnosis.Finding, image *snapshot.LHBackingImage, moving bool) {
	switch {
	case moving:
		f.Advise(remedy.Words("Wait while a copy is being made and its progress rises; the volume attaches by itself when it is ready."))
	case image != nil && (image.SourceType == "download" || image.SourceType == "restore"):
		f.Advise(remedy.Words("Clear the failed copies of the image in the Longhorn UI (Backing Image, clean up the disks): an image of type " + image.SourceType + " is then fetched again from its source. Check that the source answers."))
	case image != nil:
		f.Advise(remedy.Words("The image is of type " + none(image.SourceType) + ": it must be provided again with identical bytes (the checksum in spec is compared). Look for a data source pod of the image that hangs."))
	default:
		f.Advise(remedy.Words("Create the backing image again under the same name with identical bytes."))
	}
	f.Advise(remedy.Words("Keep the BackingImage object and the replicas: the volume's own data lies on top of the image."))
}
