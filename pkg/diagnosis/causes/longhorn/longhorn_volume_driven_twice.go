package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_volume_driven_twice.md
var longhornVolumeDrivenTwiceDoc string

// VolumeDrivenTwice finds a volume whose spec.nodeID is written by somebody besides
// Longhorn's attachment controller.
var VolumeDrivenTwice = &diagnosis.Rule{
	Name: "longhorn-volume-driven-twice", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/volumeattachments")},
	Explains: []string{"volume-attach-loop", "attach-failed", "detach-stuck", "pod-waiting-for-volume"},
	Doc:      longhornVolumeDrivenTwiceDoc,
	Run: func(p *diagnosis.Pass) {
		if n, known := lhe.Version(p.Index); len(p.Cluster.Longhorn.Attachments) == 0 && (!known || n < 10500) {
			return // before 1.5 there are no tickets, and spec.nodeID is written by the API
		}
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && lh.NodeID != "" && lh.DeletionTimestamp == nil && !ticketFor(v, lh.NodeID) {
				drivenTwice(p, v, lh)
			}
		}
	},
}

func ticketFor(v *snapshot.Volume, node string) bool {
	if v.Longhorn.Attachment == nil {
		return false
	}
	for _, t := range v.Longhorn.Attachment.Tickets {
		if t.NodeID == node {
			return true
		}
	}
	return false
}

func drivenTwice(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	loops := p.Suffers(v, "volume-attach-loop")
	since, known := attachedSince(p, v, lh)
	writer, seen, traces := foreignWriter(p, v, lh)
	c := report.Certain
	switch {
	case loops, known && since > time.Minute:
	case known: // less than a minute
		return
	case lh.Status.State == "attached", seen, writer != "" && lh.Status.State != "detaching":
		c = report.Likely // how long the field has stood there is not known
	default:
		return // a ticket may just have been removed: the volume detaches within a minute
	}
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v).Located(lh.NodeID)
	f.Sayf("spec.nodeID of Longhorn volume %s names node %s, but no attachment ticket asks for that node: somebody besides Longhorn's attachment controller writes the field. The controller takes it back, the other writes it again; the volume is %s now.%s",
		lh.Name, lh.NodeID, none(lh.Status.State), writer)
	f.Fact(
		diagnosis.FromAPI("Volume "+lh.Name, "spec.nodeID", lh.NodeID),
		diagnosis.FromAPI("VolumeAttachment.longhorn.io "+lh.Name, "spec.attachmentTickets", ticketsOf(v)),
	)
	f.Fact(traces...)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "how long spec.nodeID has named the node without a ticket")
	}
	f.Unless("an attachment ticket for node " + lh.NodeID)
	f.Advise(remedy.Words("Find the other writer (a virtualisation layer, an operator, a script that attaches volumes through spec.nodeID or the old API) and update it: since Longhorn 1.5 it has to create an attachment ticket. Do not answer by writing spec.nodeID as well."))
	p.Report(f)
}

func ticketsOf(v *snapshot.Volume) string {
	if v.Longhorn.Attachment == nil || len(v.Longhorn.Attachment.Tickets) == 0 {
		return "none"
	}
	var all []string
	for _, t := range v.Longhorn.Attachment.Tickets {
		all = append(all, fmt.Sprintf("%s (%s, node %s)", t.ID, t.Type, t.NodeID))
	}
	return strings.Join(all, ", ")
}

// attachedSince is how long the volume has been attached, by its last events, or by a
// container on its node that runs with it.
func attachedSince(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) (time.Duration, bool) {
	if lh.Status.State != "attached" {
		return 0, false
	}
	for _, c := range v.LiveConsumersOn(lh.NodeID) {
		for _, s := range c.Pod.Status.ContainerStatuses {
			if s.State.Running != nil && p.Age(s.State.Running.StartedAt.Time) > time.Minute {
				return p.Age(s.State.Running.StartedAt.Time), true
			}
		}
	}
	var at, left time.Time
	for _, e := range p.Events("Volume", lh.Namespace, lh.Name) {
		switch {
		case e.Reason == "Attached" && e.Last.After(at):
			at = e.Last
		case e.Reason == "Detached" && e.Last.After(left):
			left = e.Last
		}
	}
	return p.Age(at), !at.IsZero() && !left.After(at)
}

var attachWords = regexp.MustCompile(`(?i)\b(attach|mount|detach)`)

// foreignWriter looks for who speaks of attaching the volume to that node outside
// Longhorn (seen, when that was just now), and for the name that the volume itself notes.
func foreignWriter(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) (said string, seen bool, out []report.Evidence) {
	if lh.LastAttachedBy != "" {
		said = " spec.lastAttachedBy says " + lh.LastAttachedBy + "."
		out = append(out, diagnosis.FromAPI("Volume "+lh.Name, "spec.lastAttachedBy", lh.LastAttachedBy))
	}
	for _, t := range p.Texts(v) {
		where, isPod := strings.CutPrefix(t.Locator, "logs/")
		if t.Source != "log" || !isPod || strings.HasPrefix(where, lh.Namespace+"/") || !strings.Contains(t.Raw, lh.NodeID) || !attachWords.MatchString(t.Raw) {
			continue
		}
		if ns, rest, ok := strings.Cut(where, "/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			said += fmt.Sprintf(" Pod %s/%s says that it attaches the volume.", ns, name)
		}
		return said, t.Fresh, append(out, t.Evidence())
	}
	return said, false, out
}
