package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_expansion_incomplete.md
var longhornExpansionIncompleteDoc string

// ExpansionIncomplete finds a resize of which the claim, the engine or the filesystem
// has not had its part.
var ExpansionIncomplete = &diagnosis.Rule{
	Name: "longhorn-expansion-incomplete", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"expansion-pending", "mount-failed", "attach-failed", "pod-waiting-for-volume"},
	Doc:      longhornExpansionIncompleteDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && v.Claim != nil {
				expansion(p, v, lh)
			}
		}
	},
}

// resize is what lags behind, since when, and what was said about it.
type resize struct {
	behind   []string
	evidence []report.Evidence
	since    time.Time
	refused  report.Evidence // the newest error text
	fresh    bool
	offline  bool // only a pod that mounts the volume is missing
	engine   bool // it is the engine that lags: the volume cannot be used before
	mistaken bool // the share-manager takes the filesystem for an encryption format (longhorn/longhorn 11120)
}

// frontendOff is how the CSI plugin meets a volume that is being expanded offline.
var frontendOff = regexp.MustCompile(`frontend is disabled`)

func expansion(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	r := resize{}
	if !r.measure(p, v, lh) || len(r.behind) == 0 || !r.listen(p, v) {
		return
	}
	old := !r.since.IsZero() && p.Age(r.since) > 5*time.Minute
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	c := report.Certain
	if !old && !r.fresh {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("PersistentVolumeClaim", v.Claim.Namespace, v.Claim.Name)).On(v)
	f.Waiting = c == report.Likely || r.offline && !r.fresh
	if len(v.Waiting()) == 0 {
		f.Severity = report.Degraded
	}
	if frontend, _ := said(p, v, frontendOff); r.refused.Text == "" && !r.engine && frontend.Text == "" {
		// What is not enlarged yet can be mounted.
		f.Severity, f.Explains = report.Degraded, []string{"expansion-pending"}
	}
	f.Fact(r.evidence...).Fact(r.refused).Fact(sizesOnNode(p, v, lh)...)
	last := ""
	if r.refused.Text != "" {
		last = " Last error: " + r.refused.Text
	}
	f.Sayf("The resize of claim %s/%s (Longhorn volume %s, %s) is not finished: %s.%s",
		v.Claim.Namespace, v.Claim.Name, lh.Name, describe(lh), strings.Join(r.behind, "; "), last)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "a resize that is older than five minutes, or an error of it")
	}
	if r.mistaken && p.LonghornVersion() != "" {
		f.Also = append(f.Also, "The share-manager is what enlarges the mapping and the filesystem of an encrypted shared volume, and that of Longhorn "+p.LonghornVersion()+" takes the filesystem for an encryption format: restarts do not help, a later release does.")
	}
	f.Unless("equal sizes of " + object + ", the Longhorn volume, its engine and the filesystem")
	r.advise(f, lh)
	p.Report(f)
}

// measure compares the sizes. An engine that is larger than its volume is no unfinished
// resize but longhorn-replica-inconsistent.
func (r *resize) measure(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) bool {
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	if e := p.EngineActive(v); e != nil && e.CurrentSize > 0 {
		if e.CurrentSize > lh.Size {
			return false
		}
		if e.CurrentSize < lh.Size {
			r.engine = true
			r.behind = append(r.behind, fmt.Sprintf("the engine has %s, the Longhorn volume asks for %s", bytes(e.CurrentSize), bytes(lh.Size)))
			r.evidence = append(r.evidence, diagnosis.FromAPI("Engine "+e.Name, "status.currentSize", fmt.Sprint(e.CurrentSize)), diagnosis.FromAPI("Volume "+lh.Name, "spec.size", fmt.Sprint(lh.Size)))
			r.dated(e.LastExpansionFailedAt)
			if e.LastExpansionError != "" {
				r.refused = diagnosis.FromAPI("Engine "+e.Name, "status.lastExpansionError", e.LastExpansionError)
			}
		}
	}
	if lh.Status.ExpansionRequired && len(r.behind) == 0 {
		r.engine = true
		r.behind = append(r.behind, fmt.Sprintf("Longhorn says that the volume must still be expanded to %s", bytes(lh.Size)))
		r.evidence = append(r.evidence, diagnosis.FromAPI("Volume "+lh.Name, "status.expansionRequired", "true"))
	}
	want, have := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage], v.Claim.Status.Capacity[corev1.ResourceStorage]
	if !have.IsZero() && want.Cmp(have) > 0 {
		r.behind = append(r.behind, fmt.Sprintf("the claim asks for %s and has %s; the Longhorn volume has %s", want.String(), have.String(), bytes(lh.Size)))
		r.evidence = append(r.evidence, diagnosis.FromAPI(object, "spec.resources.requests.storage", want.String()), diagnosis.FromAPI(object, "status.capacity.storage", have.String()))
	}
	for _, k := range v.Claim.Status.Conditions {
		if k.Status != corev1.ConditionTrue {
			continue
		}
		switch {
		case k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && !v.Block():
			r.behind = append(r.behind, "the filesystem has not been enlarged (FileSystemResizePending)")
			r.offline = len(v.Live()) == 0
		case k.Type == corev1.PersistentVolumeClaimResizing && len(r.behind) > 0:
		default:
			continue
		}
		r.earlier(k.LastTransitionTime.Time)
		r.evidence = append(r.evidence, diagnosis.FromAPI(object, "status.conditions["+string(k.Type)+"]", "True "+k.Message))
	}
	return true
}

func (r *resize) dated(text string) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		r.earlier(t)
	}
}

func (r *resize) earlier(t time.Time) {
	if !t.IsZero() && (r.since.IsZero() || t.Before(r.since)) {
		r.since = t
	}
}

// listen takes the newest error of the resize. A filesystem that must be checked
// first is another cause.
func (r *resize) listen(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Reason != "VolumeResizeFailed" && t.Reason != "FileSystemResizeFailed" && !t.Is(message.ResizeFailed) {
			continue
		}
		if t.Is(message.NeedsFsck) || strings.Contains(t.Raw, "e2fsck -f") {
			return false
		}
		r.refused, r.fresh = t.Evidence(), t.Fresh
		r.mistaken = t.Is(message.EncryptionFormatMistaken)
		break
	}
	return true
}

func (r *resize) advise(f *diagnosis.Finding, lh *snapshot.LHVolume) {
	switch {
	case r.offline:
		f.Advise(remedy.Words("Start a pod that mounts the claim: the filesystem is enlarged at the next mount."))
	case r.mistaken:
		f.Advise(remedy.Words("Upgrade Longhorn to a release that has this mended (1.8.0, 1.8.1 and 1.9.0 have the fault): its share-manager enlarges mapping and filesystem when the volume is attached the next time."))
	case lh.Status.State == "attached":
		f.Advise(remedy.Words("Scale the workload to 0 so that the volume detaches, wait until the resizer has finished (the claim's capacity equals its request), and scale it up again; or upgrade Longhorn to a version that enlarges attached volumes. A read-only mount cannot grow."))
	default:
		f.Advise(remedy.Words("Let the resizer finish while the volume is detached or in maintenance; the text of the last error names what it waits for."))
	}
	f.Advise(remedy.Words("Neither shrink anything nor enlarge the filesystem of a device by hand while it may be mounted elsewhere."))
}

// said is the newest text about the volume of a form.
func said(p *diagnosis.Pass, v *snapshot.Volume, form *regexp.Regexp) (report.Evidence, bool) {
	for _, t := range p.Texts(v) {
		if form.MatchString(t.Raw) {
			return t.Evidence(), t.Fresh
		}
	}
	return report.Evidence{}, false
}
