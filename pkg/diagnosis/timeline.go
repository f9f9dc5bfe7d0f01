package diagnosis

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// longestStory bounds the timeline; of a longer one the newest moments stay.
const longestStory = 200

// timeline lists the dated facts of the story, oldest first: what the API dates,
// what was said about the volumes, and the kernel lines that the root causes quote.
func (p *Pass) timeline(roots []*Finding) []report.Moment {
	s := &story{}
	if !p.Sweep() {
		for _, v := range p.Volumes() {
			s.pods(v)
			s.attachments(v)
			s.longhorn(v)
			s.texts(p.Texts(v))
		}
		s.nodes(p)
	}
	for _, f := range roots {
		s.kernel(p, f)
	}
	return s.told()
}

type moment struct {
	at   time.Time
	what string
	said string // what a log repeats, without what numbers and dates its lines
}

type story struct{ moments []moment }

func (s *story) add(at time.Time, format string, args ...any) {
	s.keep(moment{at: at, what: fmt.Sprintf(format, args...)})
}

func (s *story) keep(m moment) {
	if !m.at.IsZero() && !slices.Contains(s.moments, m) {
		s.moments = append(s.moments, m)
	}
}

func (s *story) pods(v *snapshot.Volume) {
	for _, c := range v.Consumers {
		name := "pod " + c.Pod.Namespace + "/" + c.Pod.Name
		s.add(c.Pod.CreationTimestamp.Time, "%s created", name)
		for _, st := range c.Pod.Status.ContainerStatuses {
			if st.State.Running != nil {
				s.add(st.State.Running.StartedAt.Time, "container %s of %s started", st.Name, name)
			}
		}
		if c.Pod.DeletionTimestamp != nil {
			s.add(c.Pod.DeletionTimestamp.Time, "%s should have been gone (deletionTimestamp)", name)
		}
	}
}

func (s *story) attachments(v *snapshot.Volume) {
	for _, va := range v.Attachments {
		name := "VolumeAttachment " + va.Name + " to " + va.Spec.NodeName
		s.add(va.CreationTimestamp.Time, "%s created", name)
		if e := va.Status.AttachError; e != nil {
			s.add(e.Time.Time, "%s: attach error: %s", name, e.Message)
		}
		if e := va.Status.DetachError; e != nil {
			s.add(e.Time.Time, "%s: detach error: %s", name, e.Message)
		}
		if va.DeletionTimestamp != nil {
			s.add(va.DeletionTimestamp.Time, "%s is being deleted", name)
		}
	}
}

func (s *story) longhorn(v *snapshot.Volume) {
	if v.Longhorn == nil || v.Longhorn.Volume == nil {
		return
	}
	l := v.Longhorn.Volume
	s.add(stamp(l.Status.RemountRequestedAt), "Longhorn asks for a remount of volume %s", l.Name)
	s.add(stamp(l.Status.LastDegradedAt), "Longhorn volume %s became degraded", l.Name)
	for _, r := range v.Longhorn.Replicas {
		s.add(stamp(r.FailedAt), "replica %s on %s failed", r.Name, r.NodeID)
	}
}

func (s *story) texts(list []Text) {
	for _, t := range list {
		m := moment{at: t.At, what: strings.TrimSpace(t.Component+" "+t.Locator) + ": " + t.Raw}
		if t.Source == "log" {
			log, _, _ := strings.Cut(t.Locator, ":")
			m.said = log + " " + undated(t.Raw)
		}
		s.keep(m)
	}
}

// header is how much of a log's line may be its date, process and place in the program.
const header = 48

// undated is a log's line without the digits of its header.
func undated(line string) string {
	n := min(len(line), header)
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, line[:n]) + line[n:]
}

// once keeps of what a log repeats the first and the last time.
func once(list []moment) []moment {
	times := map[string]int{}
	first := map[string]time.Time{}
	for _, m := range list {
		if times[m.said]++; times[m.said] == 1 {
			first[m.said] = m.at
		}
	}
	seen := map[string]int{}
	var out []moment
	for _, m := range list {
		n := times[m.said]
		seen[m.said]++
		switch k := seen[m.said]; {
		case m.said == "" || k == 1 || n < 3:
		case k < n:
			continue
		default:
			m.what += fmt.Sprintf(" (%d times since %s)", n, first[m.said].UTC().Format(time.TimeOnly))
		}
		out = append(out, m)
	}
	return out
}

func (s *story) nodes(p *Pass) {
	for _, n := range p.Nodes() {
		if r := p.NodeReady(n); r.Exists && r.Known && !r.Ready {
			s.add(r.Since, "node %s is not ready any more: %s", n, r.Reason)
		}
		if v := p.View(n); v != nil {
			s.add(v.Facts.Identity.Boot(), "node %s booted", n)
		}
	}
}

// kernel adds the kernel lines that a finding quotes as evidence.
func (s *story) kernel(p *Pass, f *Finding) {
	for _, e := range f.facts.list {
		view := p.View(e.Node)
		if view == nil {
			continue
		}
		for _, k := range view.Facts.Kernel {
			if k.Text != "" && strings.Contains(e.Text, k.Text) {
				s.add(k.At, "kernel of %s: %s", e.Node, k.Text)
			}
		}
	}
}

func (s *story) told() []report.Moment {
	sort.SliceStable(s.moments, func(i, j int) bool {
		if a, b := s.moments[i], s.moments[j]; !a.at.Equal(b.at) {
			return a.at.Before(b.at)
		}
		return s.moments[i].what < s.moments[j].what
	})
	list := once(s.moments)
	list = list[max(0, len(list)-longestStory):]
	out := []report.Moment{}
	for _, m := range list {
		out = append(out, report.Moment{At: m.at.UTC().Format(time.RFC3339), What: m.what})
	}
	return out
}

// stamp reads Longhorn's times; they are strings and empty when unset.
func stamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
