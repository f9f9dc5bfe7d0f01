package longhorn

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// verdict says whether a ticket is still needed, and by what that is known.
type verdict struct {
	unneeded    bool
	maybeRepair bool // a person may have attached it on purpose
	unseenKind  bool // no object of the kind that it serves was seen at all
	why         string
	refute      string
	first       string // the owner's own way out, in words
	evidence    []report.Evidence
}

// judge applies, per type of ticket, what proves it unneeded.
func judge(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	switch t.Type {
	case "csi-attacher":
		return judgeCSI(p, v, t)
	case "longhorn-api":
		return judgeManual(p, v, t)
	case "longhorn-upgrader":
		return judgeUpgrader(p, v, t)
	case "backup-controller", "snapshot-controller":
		return judgeBackup(p, v, t)
	case "share-manager-controller":
		return judgeShare(p, v, t)
	}
	return judgeWork(p, v, t)
}

// judgeCSI: the id of a csi ticket is the name of its VolumeAttachment.
func judgeCSI(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	if !p.Has("storage.k8s.io/volumeattachments") || p.Attachment(t.ID) != nil {
		return verdict{}
	}
	return verdict{unneeded: true, why: "its id is that of a VolumeAttachment that does not exist any more", refute: "a VolumeAttachment named " + t.ID}
}

// judgeManual: a ticket of the UI or the API, left where no pod uses the volume.
func judgeManual(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	for _, o := range v.Longhorn.Attachment.Tickets {
		if o.Type == "csi-attacher" && o.NodeID == t.NodeID {
			return verdict{}
		}
	}
	if len(v.LiveConsumersOn(t.NodeID)) > 0 {
		return verdict{}
	}
	if blockedTicket(p, v, t) == nil && !drained(p, v, t.NodeID).blocked && (used(v) || !idleFor(p, v, t, 10*time.Minute)) {
		return verdict{}
	}
	return verdict{
		unneeded: true, maybeRepair: true, why: "it was made by hand (UI or API), and no pod on the node uses the volume",
		refute: "somebody who attached the volume on purpose, for a repair or a restore",
		first:  "Detach the volume in the Longhorn UI (or remove the ticket of whoever attached it), after asking whether a repair is under way.",
	}
}

// idleFor tells whether no pod has used the volume for a while, and nothing on the
// ticket's node does. Longhorn dates the last pod; where there never was one, the age
// of the ticket counts. Without either nobody knows: a repair may just have begun.
func idleFor(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket, d time.Duration) bool {
	if view := p.View(t.NodeID); view != nil {
		if dev, ok := p.DeviceOn(v, t.NodeID); ok && (len(view.Uses(dev.Dev)) > 0 || len(view.Openers(dev.Dev)) > 0) {
			return false // somebody works with it
		}
	}
	text := v.Longhorn.Volume.Status.Kubernetes.LastPodRefAt
	if text == "" {
		return settledSince(p, t, d)
	}
	last, err := time.Parse(time.RFC3339, text)
	return err == nil && p.Age(last) > d
}

// judgeUpgrader: tickets that the upgrade to 1.5 wrote once for attached volumes.
func judgeUpgrader(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	if v.AttachmentOn(t.NodeID) != nil || len(v.LiveConsumersOn(t.NodeID)) > 0 || !upgradeOver(p) {
		return verdict{}
	}
	return verdict{unneeded: true, why: "the upgrade that made it is over, and neither a VolumeAttachment nor a pod on the node wants the volume", refute: "a longhorn-manager of the old version"}
}

// upgradeOver tells whether every longhorn-manager runs the current version. One whose
// image carries no tag proves nothing.
func upgradeOver(p *diagnosis.Pass) bool {
	want, ok := p.Setting("current-longhorn-version")
	if !ok {
		return false
	}
	managers := 0
	for _, pod := range p.Cluster.Pods {
		if pod.Labels["app"] != "longhorn-manager" {
			continue
		}
		for _, c := range pod.Spec.Containers {
			image, _, _ := strings.Cut(c.Image, "@")
			if !strings.Contains(image, "longhorn-manager") {
				continue
			}
			if managers++; !strings.HasSuffix(image, ":"+want) {
				return false
			}
		}
	}
	return managers > 0
}

// served is the object that a ticket serves, as far as it is there.
type served struct {
	kind, name, namespace, state, message string
	since                                 time.Time
	unseen                                bool // no object of the kind was read
}

// servedBy finds the Backup or Snapshot that a ticket serves: its id is the type of the
// ticket and the object's name, so of several names that fit it is the longest.
func servedBy(p *diagnosis.Pass, t *snapshot.LHTicket) served {
	l := &p.Cluster.Longhorn
	if t.Type == "snapshot-controller" {
		out := served{kind: "Snapshot", unseen: len(l.Snapshots) == 0}
		for _, s := range l.Snapshots {
			if out.fits(t.ID, s.Name) {
				out.name, out.namespace, out.message, out.since = s.Name, s.Namespace, s.Error, s.CreationTimestamp.Time
			}
		}
		return out
	}
	out := served{kind: "Backup", unseen: len(l.Backups) == 0}
	for _, b := range l.Backups {
		if out.fits(t.ID, b.Name) {
			out.name, out.namespace, out.state, out.message, out.since = b.Name, b.Namespace, b.State, b.Message, b.CreationTimestamp.Time
		}
	}
	return out
}

func (s *served) fits(id, name string) bool {
	return (id == name || strings.HasSuffix(id, "-"+name)) && len(name) > len(s.name)
}

// judgeBackup: the Backup or Snapshot that the ticket serves is gone, failed or stuck.
func judgeBackup(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	s := servedBy(p, t)
	if !p.Has("longhorn.io/" + strings.ToLower(s.kind) + "s") {
		return verdict{}
	}
	if s.name == "" {
		if since := lastChange(t); !since.IsZero() && p.Age(since) < 10*time.Minute {
			return verdict{} // its work has just ended or begun
		}
		name := strings.TrimPrefix(t.ID, t.Type+"-")
		return verdict{unneeded: true, unseenKind: s.unseen, why: "the " + s.kind + " " + name + " that it serves does not exist any more", refute: "a " + s.kind + " named " + name}
	}
	stuck := strings.EqualFold(s.state, "Error") || strings.EqualFold(s.state, "Pending") && p.Age(s.since) > 10*time.Minute || strings.Contains(s.message, "not found")
	if !stuck {
		return verdict{}
	}
	return verdict{
		unneeded: true, refute: "a " + s.kind + " that still makes progress",
		why:      fmt.Sprintf("the %s %s that it serves is %s (%s) and will never end", s.kind, s.name, none(s.state), none(s.message)),
		first:    fmt.Sprintf("Delete the stuck %s %s in namespace %s: while it exists the controller makes the ticket again.", s.kind, s.name, s.namespace),
		evidence: []report.Evidence{diagnosis.FromAPI(s.kind+" "+s.name, "status.state", strings.TrimSpace(s.state+" "+s.message))},
	}
}

// judgeShare: the share-manager that wanted the device is gone.
func judgeShare(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	if !p.Has("longhorn.io/sharemanagers") {
		return verdict{}
	}
	if v.RegularRWX() || v.Longhorn.ShareManager != nil {
		for i := range v.Longhorn.Attachment.Tickets {
			if o := &v.Longhorn.Attachment.Tickets[i]; o.Type == "csi-attacher" && !judgeCSI(p, v, o).unneeded {
				return verdict{}
			}
		}
	}
	if v.Longhorn.ShareManager != nil && used(v) {
		return verdict{}
	}
	why := "no pod and no csi ticket want the share"
	if v.Longhorn.ShareManager == nil {
		why = "the volume has no share-manager any more"
	}
	return verdict{unneeded: true, why: why, refute: "a pod that uses the shared volume"}
}
