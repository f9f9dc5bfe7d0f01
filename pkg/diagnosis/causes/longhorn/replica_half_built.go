package longhorn

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// chainBroken is how an engine or a replica says that files of a replica are missing.
var chainBroken = regexp.MustCompile(`\.img\.meta: no such file|failed to find (the )?(parent|metadata)|(parent|chain).*(missing|not found)`)

// halfBuilt looks for a replica that counts as usable although its rebuild never
// ended: the engine cannot start on it. While the engine runs, a rebuild is in progress.
func halfBuilt(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	e := p.EngineActive(v)
	if e == nil || lh.Status.State == "attached" || e.CurrentState == "running" || wantedFor(p, v) < patience {
		return
	}
	said, fresh := said(p, v, chainBroken)
	for _, r := range v.Longhorn.Replicas {
		if r.FailedAt != "" || r.NodeID == "" {
			continue
		}
		d := directoryOf(p, r)
		onNode := d.Building || len(d.unmatched) > 0
		named := said.Text != "" && fresh && speaksOf(p, said.Text, r)
		never := r.HealthyAt == "" || rebuildFailed(r)
		switch {
		case onNode && (never || said.Text != "" || startFails(e)):
		case named:
		default:
			continue
		}
		c := report.Likely
		if onNode && never {
			c = report.Certain
		}
		reportHalfBuilt(p, v, c, r, d, said)
		return
	}
}

func startFails(e *snapshot.LHEngine) bool {
	c, ok := e.Conditions.Get("InstanceCreation")
	return e.CurrentState == "error" || ok && c.Status == "False"
}

func rebuildFailed(r *snapshot.LHReplica) bool {
	c, ok := r.Conditions.Get("RebuildFailed")
	return ok && c.Status == "True"
}

// speaksOf tells whether a text names the replica, or the address of the
// instance-manager in which it runs.
func speaksOf(p *diagnosis.Pass, text string, r *snapshot.LHReplica) bool {
	if strings.Contains(text, r.Name) || r.IP != "" && strings.Contains(text, r.IP+":") {
		return true
	}
	for _, im := range p.InstanceManagersOn(r.NodeID) {
		if im.IP != "" && strings.Contains(text, im.IP+":") {
			return true
		}
	}
	return false
}

func reportHalfBuilt(p *diagnosis.Pass, v *snapshot.Volume, c report.Certainty, r *snapshot.LHReplica, d directory, said report.Evidence) {
	lh := v.LH()
	f := p.Find(c, diagnosis.ObjectSubject("Replica", r.Namespace, r.Name)).On(v).Located(r.NodeID)
	var why []string
	if d.Building {
		why = append(why, "volume.meta says that its rebuild is not finished")
		f.Fact(diagnosis.FromNode(r.NodeID, d.path+"/volume.meta", d.metaText))
	}
	if len(d.unmatched) > 0 {
		why = append(why, "snapshot images lack their .img.meta file: "+strings.Join(d.unmatched, ", "))
		f.Fact(diagnosis.FromNode(r.NodeID, d.path+"/"+d.unmatched[0]+".meta", "does not exist"))
	}
	if len(why) == 0 {
		why = append(why, "the engine says that files of it are missing")
		p.Probed(r.NodeID)
	}
	f.Sayf("Replica %s of Longhorn volume %s on node %s counts as usable (failedAt empty, healthyAt %s), but its rebuild never ended: %s. The engine cannot start on it, so the volume stays %s.%s",
		r.Name, lh.Name, r.NodeID, none(r.HealthyAt), strings.Join(why, "; "), none(lh.Status.State), completeOnes(p, v, r))
	f.Fact(diagnosis.FromAPI("Replica "+r.Name, "spec", fmt.Sprintf("failedAt %s, healthyAt %s, lastFailedAt %s", none(r.FailedAt), none(r.HealthyAt), none(r.LastFailedAt))), said)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "that the replica never was complete: the objects and the files of its node do not both say so")
	}
	f.Unless("a complete chain of images with .meta files in the directory of " + r.Name)
	f.Advise(remedy.Words("Copy the directories of all replicas before anything else. Then let Longhorn use a complete replica instead of this one (salvage with that replica chosen in the UI), or restore a backup. Remove no replica before the copies exist, and do not salvage blindly."))
	p.Report(f)
}

// completeOnes names other replicas whose directory looks complete.
func completeOnes(p *diagnosis.Pass, v *snapshot.Volume, bad *snapshot.LHReplica) string {
	for _, r := range v.Longhorn.Replicas {
		if d := directoryOf(p, r); r.Name != bad.Name && d.metaText != "" && !d.Building && len(d.unmatched) == 0 {
			return fmt.Sprintf(" The directory of replica %s on node %s looks complete (failedAt %s).", r.Name, r.NodeID, none(r.FailedAt))
		}
	}
	return ""
}
