package security

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

// Denied are the fresh denials of SELinux on a node that are about programs of some names
// and do not call themselves permissive, the newest last: in the kernel's log, and in the
// text logs that the host keeps (auditd takes the records from the former).
func Denied(view *snapshot.NodeView, x *snapshot.Index, comms ...string) []Line {
	var out []Line
	add := func(text, locator string, at time.Time) {
		l, _ := parse(view, text, at)
		if l.SELinux && !l.At.IsZero() && l.fields["permissive"] != "1" && slices.Contains(comms, l.Comm()) && x.Age(l.At) < fresh && !l.At.After(x.TakenAt.Add(time.Minute)) {
			l.fact = evidence.FromNode(view.Name, locator, strings.TrimSpace(text))
			l.perms = strings.Fields(perms.FindStringSubmatch(text)[1])
			out = append(out, l)
		}
	}
	if view == nil {
		return nil
	}
	for _, k := range view.Facts.Kernel {
		add(k.Text, fmt.Sprintf("@kmsg:%d", k.Sequence), k.At)
	}
	for _, path := range slices.Sorted(maps.Keys(view.Facts.Files)) {
		if !strings.HasPrefix(path, "var/log/") {
			continue
		}
		for i, text := range strings.Split(view.Facts.Files[path].Content, "\n") {
			if strings.Contains(text, "avc:") {
				add(text, fmt.Sprintf("%s:%d", path, i+1), time.Time{})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Line) int { return a.At.Compare(b.At) })
	return out
}

// Permissions is what a line denied, without the kind of object.
func (l Line) Permissions() string { return strings.Join(l.perms, " ") }

// Found asks whether there are such lines; the last one is quoted.
func Found(list []Line) evidence.Answer {
	var facts []report.Evidence
	if len(list) > 0 {
		facts = append(facts, list[len(list)-1].Fact())
	}
	return evidence.Reading{}.Found(facts...)
}

// Held asks whether a step of the volume fails at the place now, or its attachment there
// has been asked for longer than that takes.
func Held(pl *evidence.Place) evidence.Answer {
	if a := fails(pl); a.Yes() {
		return a
	}
	va := pl.Volume.AttachmentOn(pl.Node)
	if va == nil || va.Status.Attached || pl.X.Age(va.CreationTimestamp.Time) < 2*time.Minute {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
}
