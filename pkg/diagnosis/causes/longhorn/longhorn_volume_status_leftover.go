package longhorn

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_volume_status_leftover.md
var longhornVolumeStatusLeftoverDoc string

// VolumeStatusLeftover finds a status field that an interrupted operation or an
// upgrade left behind and that keeps the volume from moving on.
var VolumeStatusLeftover = &diagnosis.Rule{
	Name: "longhorn-volume-status-leftover", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/settings")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume", "detach-stuck"},
	Doc:      longhornVolumeStatusLeftoverDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || lh.Status.State == "attached" || lh.Standby || lh.Status.IsStandby || wantedFor(p, v) < patience {
				continue
			}
			for _, l := range leftovers(p, v, lh) {
				statusLeftover(p, v, lh, l)
			}
		}
	},
}

// leftoverField is a field that says something that is not so any more.
type leftoverField struct {
	field, value, why string
	missing           string // a fact that would make it certain
}

// leftovers lists the fields. pendingNodeID blocks on 1.5.0 to 1.5.4 only, whichever
// node it names; from 1.5.5 on nobody reads it.
func leftovers(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) []leftoverField {
	var out []leftoverField
	st := lh.Status
	if n, known := version(p); st.PendingNodeID != "" && (!known || n >= 10500 && n <= 10504) {
		l := leftoverField{"status.pendingNodeID", st.PendingNodeID, "Longhorn 1.5.0 to 1.5.4 waits for that node and never attaches the volume", ""}
		if !known {
			l.missing = "Longhorn's version (only 1.5.0 to 1.5.4 read the field)"
		}
		out = append(out, l)
	}
	if st.CurrentNodeID != "" && lh.NodeID == "" && goneNode(p, st.CurrentNodeID) {
		out = append(out, leftoverField{"status.currentNodeID", st.CurrentNodeID, "no node of that name exists, and spec.nodeID is empty", ""})
	}
	if st.OwnerID != "" && lh.NodeID == "" && st.CurrentNodeID == "" && goneNode(p, st.OwnerID) {
		out = append(out, leftoverField{"status.ownerID", st.OwnerID, "no node of that name exists, and no other manager has taken the volume over", "that the other managers work and have had time to take over"})
	}
	if done := progressOf(p.EngineActive(v)); st.RestoreRequired && done.finished {
		out = append(out, leftoverField{"status.restoreRequired", "true", "the restore has finished: " + done.text, ""})
	}
	return out
}

// goneNode tells whether neither Kubernetes nor Longhorn has a node of that name.
func goneNode(p *diagnosis.Pass, name string) bool {
	return p.Collected("/nodes") && p.Collected("longhorn.io/nodes") && p.Node(name) == nil && p.LHNode(name) == nil
}

func statusLeftover(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, l leftoverField) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v)
	for _, n := range wantedNodes(v) {
		f.Located(n)
	}
	f.Sayf("%s of Longhorn volume %s still says %s: %s. It is left over from an operation that was cut off, and the volume has been %s for %s although it is wanted.",
		l.field, lh.Name, l.value, l.why, none(lh.Status.State), wantedFor(p, v).Round(time.Second))
	f.Fact(diagnosis.FromAPI("Volume "+lh.Name, l.field, l.value), diagnosis.FromAPI("Volume "+lh.Name, "status.state", none(lh.Status.State)))
	if have := p.LonghornVersion(); have != "" {
		f.Fact(diagnosis.FromAPI("Setting current-longhorn-version", "value", have))
	}
	for _, t := range waitingTickets(v) {
		f.Fact(diagnosis.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "status.attachmentTicketStatuses["+t.ID+"]", "not satisfied"))
	}
	if l.missing != "" {
		f.Missing(l.missing)
	}
	f.Unless("a state of the volume that changes by itself")
	f.Advise(remedy.Words(fmt.Sprintf("Empty %s of volume %s in namespace %s through the status subresource (kubectl edit with --subresource=status; an ordinary edit does not write it). Note the old value: writing it back undoes the step. Then upgrade Longhorn. Verify: the volume attaches within a minute.", l.field, lh.Name, lh.Namespace)))
	p.Report(f)
}
