package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BackingImage is the image under a name, or nil.
func BackingImage(x *snapshot.Index, name string) *snapshot.LHBackingImage {
	return evidence.First(x.Cluster.Longhorn.BackingImages, func(b *snapshot.LHBackingImage) bool { return b.Name == name })
}

// Copies describes the copies of a backing image by disk.
func Copies(b *snapshot.LHBackingImage) string {
	if b == nil {
		return "the BackingImage object does not exist"
	}
	var all []string
	for _, disk := range slices.Sorted(maps.Keys(b.Copies)) {
		c := b.Copies[disk]
		text := fmt.Sprintf("disk %s %s at %d %%", disk, OrNone(c.State), c.Progress)
		if c.Message != "" {
			text += " (" + c.Message + ")"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return "it has no copy on any disk"
	}
	return strings.Join(all, "; ")
}

// NoCopy asks whether no disk has a ready copy of the backing image of a volume.
func NoCopy(x *snapshot.Index, name string) evidence.Answer {
	b := BackingImage(x, name)
	if b == nil {
		return Read(x, "backingimages").Nothing(evidence.FromAPI("BackingImages", "", "none is named "+name))
	}
	for _, c := range b.Copies {
		if c.State == "ready" {
			return evidence.No(evidence.FromAPI("BackingImage "+name, "status.diskFileStatusMap", Copies(b)))
		}
	}
	return evidence.Yes(evidence.FromAPI("BackingImage "+name, "status.diskFileStatusMap", Copies(b)))
}

// idle is how long a copy that nobody has begun may take before waiting is no answer.
const idle = 30 * time.Minute

// Fetched tells whether a copy is being made, so that the volume needs only time: one has
// progress, or was begun less than half an hour ago.
func Fetched(x *snapshot.Index, v *snapshot.Volume) bool {
	b := BackingImage(x, v.LH().BackingImage)
	if b == nil {
		return false
	}
	for _, c := range b.Copies {
		switch c.State {
		case "in-progress", "in_progress", "starting", "pending", "ready-for-transfer":
			since := x.Age(c.Changed)
			if c.Changed.IsZero() {
				since = WantedFor(x, v)
			}
			if c.Progress > 0 || since < idle {
				return true
			}
		}
	}
	return false
}

// WaitsForImage asks whether Longhorn says, of a volume or one of its replicas, that it
// waits for the backing image.
func WaitsForImage(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	var out []report.Evidence
	look := func(object string, list snapshot.Conditions) {
		for _, kind := range []string{"WaitForBackingImage", "BackingImageIncompatible"} {
			if c, ok := list.Get(kind); ok && c.Status == "True" {
				out = append(out, evidence.FromAPI(object, "status.conditions["+kind+"]", strings.TrimSpace("True "+c.Reason+" "+c.Message)))
			}
		}
	}
	look("Volume "+v.LH().Name, v.LH().Status.Conditions)
	for _, r := range v.Longhorn.Replicas {
		look("Replica "+r.Name, r.Conditions)
	}
	return Read(x, "replicas").Found(out...)
}

// FailedCopy finds a replica that waits for a copy which failed on its disk.
func FailedCopy(x *snapshot.Index, v *snapshot.Volume) (*snapshot.LHReplica, snapshot.LHBackingCopy, evidence.Answer) {
	b := BackingImage(x, v.LH().BackingImage)
	for _, r := range v.Longhorn.Replicas {
		c, ok := r.Conditions.Get("WaitForBackingImage")
		if b == nil || !ok || c.Status != "True" {
			continue
		}
		if file := b.Copies[r.DiskID]; file.State == "failed" || file.State == "unknown" || file.State == "failed-and-cleanup" {
			return r, file, evidence.Yes(evidence.FromAPI("Replica "+r.Name, "status.conditions[WaitForBackingImage]", strings.TrimSpace("True "+c.Reason+" "+c.Message)),
				evidence.FromAPI("BackingImage "+b.Name, "status.diskFileStatusMap["+r.DiskID+"]", strings.TrimSpace(file.State+" "+file.Message)))
		}
	}
	return nil, snapshot.LHBackingCopy{}, evidence.No()
}
