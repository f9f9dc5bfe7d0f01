package diagnosis

import (
	"fmt"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// attachments adds the VolumeAttachments of a volume.
func (c *chain) attachments(v *snapshot.Volume) {
	for _, va := range v.Attachments {
		state, since := attachState(va)
		to := "to "
		if va.DeletionTimestamp != nil {
			to = "from "
		}
		c.add(row{Link: report.Link{Kind: "VolumeAttachment", Name: va.Name, State: state, Since: c.since(since), Note: to + va.Spec.NodeName},
			subject: "VolumeAttachment " + va.Name, layer: Attach})
	}
}

func attachState(va *storagev1.VolumeAttachment) (string, time.Time) {
	switch {
	case va.DeletionTimestamp != nil && va.Status.DetachError != nil:
		return "detach error", va.DeletionTimestamp.Time
	case va.DeletionTimestamp != nil:
		return "detaching", va.DeletionTimestamp.Time
	case va.Status.Attached:
		return "attached", va.CreationTimestamp.Time
	case va.Status.AttachError != nil:
		return "attach error", va.CreationTimestamp.Time
	}
	return "attaching", va.CreationTimestamp.Time
}

// longhorn adds the Longhorn objects of a volume.
func (c *chain) longhorn(v *snapshot.Volume) {
	l := v.Longhorn
	if l == nil {
		return
	}
	if l.Volume != nil {
		c.longhornVolume(l.Volume)
	}
	for _, e := range l.Engines {
		note := joinWords("on", e.NodeID)
		if len(l.Engines) > 1 && !e.Active {
			note += " (not active)"
		}
		c.add(row{Link: report.Link{Kind: "Engine", Name: e.Name, State: e.CurrentState, Note: strings.TrimSpace(note)}, subject: "Engine " + e.Name})
	}
	for _, f := range l.Frontends {
		note := joinWords("on", f.NodeID)
		if len(l.Frontends) > 1 && !f.Active {
			note += " (not active)"
		}
		c.add(row{Link: report.Link{Kind: "EngineFrontend", Name: f.Name, State: f.CurrentState, Note: strings.TrimSpace(note)}, subject: "EngineFrontend " + f.Name})
	}
	if n := len(l.Replicas); n > 0 {
		running := 0
		var failed []string
		for _, r := range l.Replicas {
			if r.CurrentState == "running" && r.FailedAt == "" {
				running++
			} else {
				failed = add(failed, r.NodeID)
			}
		}
		c.add(row{Link: report.Link{Kind: "Replicas", Name: l.Replicas[0].VolumeName, State: fmt.Sprintf("%d/%d running", running, n),
			Note: joinWords("not on", strings.Join(failed, ", "))}, subject: "Replicas"})
	}
	if s := l.ShareManager; s != nil {
		c.add(row{Link: report.Link{Kind: "ShareManager", Name: s.Name, State: s.State, Note: joinWords("owner", s.OwnerID)}, subject: "ShareManager " + s.Name})
	}
	c.tickets(l)
}

func (c *chain) longhornVolume(v *snapshot.LHVolume) {
	state := strings.TrimSpace(v.Status.State + " " + v.Status.Robustness)
	note := joinWords("on", v.Status.CurrentNodeID)
	if v.Status.CurrentNodeID == "" && v.NodeID != "" {
		note = "wanted on " + v.NodeID
	}
	c.add(row{Link: report.Link{Kind: "Volume", Name: v.Name, State: state, Since: c.since(v.CreationTimestamp.Time), Note: note},
		subject: "Volume " + v.Name, layer: Longhorn})
}

// tickets adds Longhorn's attachment tickets, the wishes that decide where a
// volume is attached.
func (c *chain) tickets(l *snapshot.LonghornVolume) {
	if l.Attachment == nil {
		return
	}
	for _, t := range l.Attachment.Tickets {
		state := "waiting"
		if t.Satisfied && t.SatisfiedGeneration {
			state = "satisfied"
		}
		c.add(row{Link: report.Link{Kind: "Ticket", Name: t.ID, State: state, Note: joinWords(t.Type+" for", t.NodeID)}, subject: "Ticket " + t.ID})
	}
}

// joinWords joins a word with what belongs to it, or says nothing without it.
func joinWords(word, rest string) string {
	if rest == "" {
		return ""
	}
	return word + " " + rest
}
