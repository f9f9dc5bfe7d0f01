package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_replica_inconsistent.md
var longhornReplicaInconsistentDoc string

// ReplicaInconsistent finds replicas whose number, size or rebuild contradicts the
// volume, so that the engine cannot use them.
var ReplicaInconsistent = &diagnosis.Rule{
	Name: "longhorn-replica-inconsistent", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines"), diagnosis.API("longhorn.io/replicas")},
	Explains: []string{"volume-attach-loop", "attach-failed", "pod-waiting-for-volume", "volume-degraded", "volume-io-error"},
	LeadsTo:  []string{"longhorn-volume-faulted"},
	Offers:   []string{"delete-replica"},
	Doc:      longhornReplicaInconsistentDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil {
				tooManyReplicas(p, v, lh)
				if !tooLargeEngine(p, v, lh) {
					halfBuilt(p, v, lh)
				}
			}
		}
	},
}

var (
	strictLocal = regexp.MustCompile(`(?i)replica.*strict-local|strict-local.*replica`)
	sizeRefused = regexp.MustCompile(`expected size \d+ .*should not be smaller than the current size \d+`)
)

// tooManyReplicas: strict-local allows one replica; with more the webhook refuses
// every change of the volume.
func tooManyReplicas(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	kept := 0
	for _, r := range v.Longhorn.Replicas {
		if r.DeletionTimestamp == nil {
			kept++
		}
	}
	if lh.DataLocality != "strict-local" || kept < 2 {
		return
	}
	said, fresh := said(p, v, strictLocal)
	if said.Text == "" && lh.Status.State == "attached" {
		return // nothing was refused: the locality may just have been changed
	}
	c := report.Certain
	if !fresh {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v)
	var names []string
	for _, r := range v.Longhorn.Replicas {
		names = append(names, fmt.Sprintf("%s on %s (healthyAt %s, failedAt %s)", r.Name, none(r.NodeID), none(r.HealthyAt), none(r.FailedAt)))
		f.Fact(diagnosis.FromAPI("Replica "+r.Name, "spec.healthyAt", none(r.HealthyAt)))
	}
	f.Sayf("Longhorn volume %s has data locality strict-local, which allows one replica, and has %d: %s. Longhorn refuses every change of such a volume.",
		lh.Name, len(names), strings.Join(names, "; "))
	f.Fact(diagnosis.FromAPI("Volume "+lh.Name, "spec.dataLocality", lh.DataLocality), said)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "a fresh refusal that names the data locality")
	}
	f.Unless("one replica, or another data locality")
	f.Advise(remedy.Words("Copy the replica directories first. Then remove the replica that holds no data."))
	for _, r := range v.Longhorn.Replicas {
		if withoutData(p, r) {
			f.Advise(remedy.DeleteReplica(v, r))
			break
		}
	}
	p.Report(f)
}

// withoutData tells whether a replica never was healthy, and its directory holds no
// snapshot.
func withoutData(p *diagnosis.Pass, r *snapshot.LHReplica) bool {
	if r.HealthyAt != "" || r.LastHealthyAt != "" {
		return false
	}
	if r.NodeID == "" {
		return true
	}
	d := directoryOf(p, r)
	return p.View(r.NodeID) != nil && d.images == 0 && (d.seen || r.DataDirectory == "")
}

// tooLargeEngine: an engine met a replica of another size. It reports whether the
// sizes contradict each other.
func tooLargeEngine(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) bool {
	e := p.EngineActive(v)
	if e == nil || lh.Size == 0 || e.CurrentSize <= lh.Size {
		return false
	}
	said, fresh := said(p, v, sizeRefused)
	c := report.Certain
	if !fresh {
		c = report.Likely
	}
	subject := diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	var which []string
	var facts []report.Evidence
	unread := ""
	for _, r := range v.Longhorn.Replicas {
		d := directoryOf(p, r)
		switch {
		case d.Size > lh.Size:
			if len(which) == 0 {
				subject = diagnosis.ObjectSubject("Replica", r.Namespace, r.Name)
			}
			which = append(which, fmt.Sprintf("replica %s on node %s has %s in its volume.meta", r.Name, r.NodeID, bytes(d.Size)))
			facts = append(facts, diagnosis.FromNode(r.NodeID, d.path+"/volume.meta", d.metaText))
		case d.metaText == "" && r.NodeID != "":
			unread += " " + r.NodeID
			p.Probed(r.NodeID)
		}
	}
	f := p.Find(c, subject).On(v).Located(e.NodeID)
	f.Sayf("The engine of Longhorn volume %s has %s, the volume only %s, and nobody asked for more: %s. The engine cannot start on replicas of different sizes, so the volume does not stay attached.",
		lh.Name, bytes(e.CurrentSize), bytes(lh.Size), whichReplica(which, unread))
	f.Fact(diagnosis.FromAPI("Engine "+e.Name, "status.currentSize", fmt.Sprint(e.CurrentSize)), diagnosis.FromAPI("Volume "+lh.Name, "spec.size", fmt.Sprint(lh.Size)), said)
	f.Fact(facts...)
	if !fresh {
		f.NotConfirmed = append(f.NotConfirmed, "a fresh refusal that names the two sizes")
	}
	f.Unless("a current size that equals the size of the volume")
	f.Advise(remedy.Words("Copy the directories of all replicas first. Then follow the version notes of Longhorn (1.3.2 to 1.5.0) for the replica whose size is wrong, while the others have the right one; or restore a backup. This is no unfinished resize: do not enlarge the volume to match."))
	p.Report(f)
	return true
}

func whichReplica(which []string, unread string) string {
	switch {
	case len(which) > 0:
		return strings.Join(which, "; ")
	case unread != "":
		return "which replica is too large shows in volume.meta of its directory, which was not read on node" + unread
	}
	return "no replica's volume.meta that was read shows it"
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
