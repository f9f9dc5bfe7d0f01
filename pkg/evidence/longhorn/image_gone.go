package longhorn

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nameless is the name that Longhorn gives the engine image of an empty text: the hash of nothing.
const nameless = "ei-cf83e135"

// ImageGone asks whether no EngineImage is there for the image of the place's volume, which may
// name none at all. Longhorn keeps at least the one of its own version: an empty list is not all.
func ImageGone(pl *evidence.Place) evidence.Answer {
	v := pl.Volume.LH()
	named := evidence.FromAPI("Volume "+v.Name, "spec.image", OrNone(v.Image))
	if v.Image == "" {
		return pl.Texts.Say(func(t evidence.Text) bool {
			return strings.Contains(t.Raw, `"`+nameless+`" not found`)
		}).With(named)
	}
	images := pl.X.Cluster.Longhorn.EngineImages
	there := evidence.Each(images, func(ei *snapshot.LHEngineImage) string { return ei.Image })
	if len(images) == 0 || slices.Contains(there, v.Image) {
		return evidence.No()
	}
	return Read(pl.X, "engineimages").Nothing(named, evidence.FromAPI("EngineImages", "spec.image", strings.Join(there, ", ")))
}
