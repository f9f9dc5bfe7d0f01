package longhorn

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ExpansionIncomplete finds a resize of which the claim, the engine or the filesystem
// has not had its part.
var ExpansionIncomplete = &diagnosis.Rule{
	Name: "longhorn-expansion-incomplete", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Resizing, diagnosis.Attaching, diagnosis.Staging},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v, claim := pl.Volume.LH(), pl.Volume.Claim
		if v == nil || claim == nil {
			return nil
		}
		r := lh.ResizeOf(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", claim.Namespace, claim.Name),
			With: words.Fields{"claim": claim.Namespace + "/" + claim.Name, "volume": v.Name, "state": lh.Condition(v),
				"behind": strings.Join(r.Behind, "; "), "error": r.Said},
			State:      []evidence.Answer{r.Lags()},
			Last:       []evidence.Answer{r.Lasts()},
			LookAlikes: []diagnosis.LookAlike{{Cause: "filesystem-needs-fsck", Is: r.NeedsCheck()}},
			Waiting:    !r.Lasts().Yes() && !r.Dropped && !r.Map || r.Offline && !r.Fresh,
		}
		if len(pl.Volume.Waiting()) == 0 || r.Usable() {
			p.Severity = report.Degraded
		}
		if r.Usable() {
			p.Breaks = []diagnosis.Step{diagnosis.Resizing}
		}
		if version := r.MistakenBy(pl.X); version != "" {
			p.Also = []string{"The share-manager is what enlarges the mapping and the filesystem of an encrypted shared volume, and that of Longhorn " + version + " takes the filesystem for an encryption format: restarts do not help, a later release does."}
		}
		cure := "Let the resizer finish while the volume is detached or in maintenance; the text of the last error names what it waits for."
		switch {
		case r.Offline:
			cure = "Start a pod that mounts the claim: the filesystem is enlarged at the next mount."
		case r.Mistaken:
			cure = "Upgrade Longhorn to a release that has this mended (1.8.0 to 1.8.2 and 1.9.0 have the fault): its share-manager enlarges mapping and filesystem when the volume is attached the next time."
		case r.NoRoom:
			cure = "Make room on the disks of the replicas, or add disks: Longhorn refuses the new size. Or ask for less again, not below the capacity that the claim has (Kubernetes 1.34, or the gate RecoverVolumeExpansionFailure)."
		case r.Map:
			cure = "Scale the workload to 0 so that the volume detaches, and up again: the mapping is opened anew with the size of the disk. Longhorn 1.10.2 enlarges it while it is in use."
		case r.Dropped:
			cure = "Ask for a little more than the claim has: a size that Longhorn does not count as reached begins the expansion anew. Attaching again alone does not help; Longhorn 1.12.1 has it mended."
		case v.Status.State == "attached":
			cure = "Scale the workload to 0 so that the volume detaches, wait until the resizer has finished (the claim's capacity equals its request), and scale it up again; or upgrade Longhorn to a version that enlarges attached volumes. A read-only mount cannot grow."
		}
		p.Steps = []remedy.Step{remedy.Words(cure), remedy.Words("Neither shrink anything nor enlarge the filesystem of a device by hand while it may be mounted elsewhere.")}
		return []*diagnosis.Proof{p}
	},
}
