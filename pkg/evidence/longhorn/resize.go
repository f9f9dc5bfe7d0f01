package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// resizes is how long a resize may take before it counts as unfinished.
const resizes = 5 * time.Minute

// Bytes writes a size as a claim would, with the exact number.
func Bytes(n int64) string {
	return fmt.Sprintf("%s (%d bytes)", resource.NewQuantity(n, resource.BinarySI).String(), n)
}

// Resize is what lags behind in the expansion of a volume, since when, and what was said
// about it.
type Resize struct {
	Behind   []string // as sentences
	Said     string   // the newest error
	Fresh    bool     // of the error
	Offline  bool     // only a pod that mounts the volume is missing
	Engine   bool     // it is the engine that lags: the volume cannot be used before
	NoRoom   bool     // the disks of the replicas have no room for the new size
	Dropped  bool     // Longhorn counts it as done, so nobody goes on with it (longhorn/longhorn 13379)
	Map      bool     // it is the mapping of an encrypted volume that lags
	Mistaken bool     // the share-manager takes the filesystem for an encryption format (longhorn/longhorn 11120)

	pl      *evidence.Place
	facts   []report.Evidence
	since   time.Time
	refused report.Evidence
	ahead   bool
	dirty   evidence.Answer
}

// ResizeOf compares the sizes of the claim, the volume and its engine.
func ResizeOf(pl *evidence.Place) Resize {
	r := Resize{pl: pl, dirty: evidence.No()}
	r.engineBehind()
	if v := pl.Volume.LH(); v.Status.ExpansionRequired && len(r.Behind) == 0 {
		r.Engine = true
		r.behind("Longhorn says that the volume must still be expanded to "+Bytes(v.Size), evidence.FromAPI("Volume "+v.Name, "status.expansionRequired", "true"))
	}
	r.claimBehind()
	r.listen()
	r.mapBehind()
	return r
}

func (r *Resize) behind(text string, facts ...report.Evidence) {
	r.Behind, r.facts = append(r.Behind, text), append(r.facts, facts...)
}

// engineBehind: an engine that is larger than its volume is no unfinished resize but
// longhorn-replica-inconsistent.
func (r *Resize) engineBehind() {
	e, v := r.pl.X.EngineActive(r.pl.Volume), r.pl.Volume.LH()
	if e == nil || e.CurrentSize <= 0 || e.CurrentSize >= v.Size {
		r.ahead = e != nil && e.CurrentSize > v.Size
		return
	}
	r.Engine = true
	r.behind(fmt.Sprintf("the engine has %s, the Longhorn volume asks for %s", Bytes(e.CurrentSize), Bytes(v.Size)),
		evidence.FromAPI("Engine "+e.Name, "status.currentSize", fmt.Sprint(e.CurrentSize)), evidence.FromAPI("Volume "+v.Name, "spec.size", fmt.Sprint(v.Size)))
	if t, err := time.Parse(time.RFC3339, e.LastExpansionFailedAt); err == nil {
		r.earlier(t)
	}
	if e.LastExpansionError != "" {
		r.refused = evidence.FromAPI("Engine "+e.Name, "status.lastExpansionError", e.LastExpansionError)
	}
}

func (r *Resize) claimBehind() {
	c := r.pl.Volume.Claim
	object := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	want, have := c.Spec.Resources.Requests[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	if !have.IsZero() && want.Cmp(have) > 0 {
		r.behind(fmt.Sprintf("the claim asks for %s and has %s; the Longhorn volume has %s", want.String(), have.String(), Bytes(r.pl.Volume.LH().Size)),
			evidence.FromAPI(object, "spec.resources.requests.storage", want.String()), evidence.FromAPI(object, "status.capacity.storage", have.String()))
	} else if v := r.pl.Volume.LH(); r.Engine && !have.IsZero() && have.Value() >= v.Size && !v.Status.ExpansionRequired {
		r.Dropped = true
		r.behind("claim and volume count as enlarged, so nobody goes on", evidence.FromAPI("Volume "+v.Name, "status.expansionRequired", "false"))
	}
	for _, k := range c.Status.Conditions {
		fact := evidence.FromAPI(object, "status.conditions["+string(k.Type)+"]", "True "+k.Message)
		switch {
		case k.Status != corev1.ConditionTrue:
		case k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && !r.pl.Volume.Block():
			r.behind("the filesystem has not been enlarged (FileSystemResizePending)", fact)
			r.Offline = len(r.pl.Volume.Live()) == 0
			r.earlier(k.LastTransitionTime.Time)
		case (k.Type == corev1.PersistentVolumeClaimResizing || k.Type == corev1.PersistentVolumeClaimFileSystemResizePending) && len(r.Behind) > 0:
			r.facts = append(r.facts, fact)
			r.earlier(k.LastTransitionTime.Time)
		}
	}
}

// mapBehind: where claim and engine have the new size, the mapping of an encrypted volume on its node may
// keep the old one. Nobody tells the claim: a block volume has no step of its own there (longhorn/longhorn#12366).
func (r *Resize) mapBehind() {
	v := r.pl.Volume.LH()
	if !v.Encrypted || len(r.Behind) > 0 || r.ahead {
		return
	}
	for _, node := range r.pl.X.DeviceNodes(r.pl.Volume) {
		at := r.pl.On(node)
		if s := disk.SizesOf(at, v.Size, v.Size); s.Part == disk.Map {
			r.Map = true
			r.behind(fmt.Sprintf("on node %s the disk has %s, and the mapping %s above it kept less", node, Bytes(v.Size), s.Name), s.Facts...)
		}
	}
}

func (r *Resize) earlier(t time.Time) {
	if !t.IsZero() && (r.since.IsZero() || t.Before(r.since)) {
		r.since = t
	}
}

// listen takes the newest error of the resize.
func (r *Resize) listen() {
	for _, t := range r.pl.Texts {
		if !t.ResizeEvent() && !t.Is(message.ResizeFailed) {
			continue
		}
		if t.Is(message.NeedsFsck) || strings.Contains(t.Raw, "e2fsck -f") {
			r.dirty = evidence.Yes(t.Evidence())
		}
		r.refused, r.Fresh = t.Evidence(), t.Fresh
		r.Mistaken = t.Is(message.EncryptionFormatMistaken)
		r.NoRoom = strings.Contains(t.Raw, "more bytes to disk")
		break
	}
	r.Said = r.refused.Text
}

// Lags asks whether a part has not had its share of the expansion, and shows the sizes
// where a node of the volume was probed.
func (r Resize) Lags() evidence.Answer {
	if r.ahead || len(r.Behind) == 0 {
		return evidence.No()
	}
	sizes := min(2, len(r.facts)) // what was said comes before the conditions
	a := evidence.Yes(r.facts[:sizes]...).With(r.refused).With(r.facts[sizes:]...)
	have := r.pl.Volume.Claim.Status.Capacity[corev1.ResourceStorage]
	for _, node := range r.pl.X.DeviceNodes(r.pl.Volume) {
		a = a.With(disk.SizesOf(r.pl.On(node), have.Value(), r.pl.Volume.LH().Size).Facts...)
	}
	return a
}

// Lasts asks whether it has taken longer than it should, or fails now.
func (r Resize) Lasts() evidence.Answer {
	if r.Fresh || !r.since.IsZero() && r.pl.X.Age(r.since) > resizes {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "api//persistentvolumeclaims", Why: "a resize that is older than five minutes, or an error of it"})
}

// NeedsCheck asks whether the filesystem has to be checked before it can grow.
func (r Resize) NeedsCheck() evidence.Answer { return r.dirty }

// Usable tells whether the volume can be used at its old size: what is not enlarged yet
// can be mounted, unless something refuses it.
func (r Resize) Usable() bool {
	// How the CSI plugin meets a volume that is being expanded offline.
	offline := slices.ContainsFunc(r.pl.Texts, func(t evidence.Text) bool { return strings.Contains(t.Raw, "frontend is disabled") })
	return r.Said == "" && !r.Engine && !offline
}

// MistakenBy names the release of Longhorn whose share-manager is mistaken; empty: none is,
// or it is not known.
func (r Resize) MistakenBy(x *snapshot.Index) string {
	if !r.Mistaken {
		return ""
	}
	return x.LonghornVersion()
}
