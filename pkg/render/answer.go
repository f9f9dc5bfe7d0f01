package render

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// head prints the verdict line: what, for how long, and when that was seen.
func (p *page) head() {
	r := p.r
	word := strings.ToUpper(r.Verdict)
	name := spoken(r.Subject)
	rest := ""
	if d := lasting(r.Since, r.TakenAt); d != "" {
		rest = "  for " + d
	}
	if room := p.width() - columns(word+"  "+rest); columns(name) > room {
		name = middle(name, max(room, shortest))
	}
	left := p.in(verdictColor[r.Verdict], word) + "  " + p.in(bold, name) + rest
	at := r.TakenAt
	room := func() int { return p.width() - columns(word+"  "+name+rest) - columns(at) }
	if a := age(r); a != "" {
		// How old it is stands in the first line, whatever else goes.
		if at = "seen " + a + " ago, at " + at; room() < 2 {
			at = "seen " + a + " ago"
		}
		if room() < 2 {
			left, rest = strings.TrimSuffix(left, rest), ""
		}
	}
	if gap := room(); gap >= 2 {
		p.printf("%s%s%s\n", left, strings.Repeat(" ", gap), p.in(dim, at))
		return
	}
	p.printf("%s\n", left)
	if age(r) != "" {
		p.printf("  %s\n", p.in(dim, at))
		return
	}
	if quiet := r.Verdict == report.Waiting || r.Verdict == report.Healthy; r.TakenAt != "" && !quiet {
		p.printf("  %s\n", p.in(dim, "seen "+r.TakenAt))
	}
}

// shortest is below what no name is shortened: it could not be told from others.
const shortest = 20

// lasting is the time between two moments of a report, as kubectl writes it.
func lasting(since, until string) string {
	d, ok := between(since, until)
	if !ok {
		return ""
	}
	return report.Duration(int64(d / time.Second))
}

func between(since, until string) (time.Duration, bool) {
	from, err1 := time.Parse(time.RFC3339, since)
	to, err2 := time.Parse(time.RFC3339, until)
	return to.Sub(from), err1 == nil && err2 == nil && !to.Before(from)
}

// answer prints the first sentence of the most important cause, and how sure it is.
func (p *page) answer(c report.Cause) {
	p.text("  ", p.short(p.names.prose(opening(c.Message))))
	words := []string{sureness(c), c.Name}
	if other := p.another(c); other != "" {
		words = append(words, "pvc "+other)
	} else if v := p.names.volume; v != "" && p.isOf(c, v) {
		if columns(strings.Join(words, " · ")+" · volume "+v)+2 > p.width() {
			v = brief(v) // commands and -o wide have it whole
		}
		words = append(words, "volume "+v)
	}
	p.joined("  ", words)
}

// another is the claim that a cause hits where it is not the one that was asked about: another volume of the
// same pod.
func (p *page) another(c report.Cause) string {
	asked := p.r.Subject
	if asked.Kind != "PersistentVolumeClaim" || len(c.Affects) == 0 || slices.Contains(c.Affects, asked) || c.Affects[0].Kind != asked.Kind {
		return ""
	}
	return c.Affects[0].Namespace + "/" + c.Affects[0].Name
}

// isOf tells whether a cause is one of the named volume: what an asked pod lacks may belong to another one of its volumes.
func (p *page) isOf(c report.Cause, volume string) bool {
	return p.r.Subject.Kind != "Pod" || !slices.Contains([]string{"Secret", "ConfigMap", "ServiceAccount", "SecretProviderClass"}, c.Subject.Kind) || strings.Contains(c.Message, volume)
}

// answerLines is how many lines an answer may take before it loses its asides.
const answerLines = 2

// aside matches what stands in brackets inside a sentence.
var aside = regexp.MustCompile(` \([^()]*\)`)

// short takes asides out of a long sentence, the last one first; -o wide has them.
func (p *page) short(s string) string {
	for len(wrap(s, p.limit(2))) > answerLines {
		all := slices.DeleteFunc(aside.FindAllStringIndex(s, -1), func(at []int) bool { return operand(s[:at[0]]) })
		if len(all) == 0 {
			break
		}
		last := all[len(all)-1]
		s = s[:last[0]] + s[last[1]:]
	}
	return s
}

// operand tells whether what follows in brackets is part of the sentence: the values
// of a selector, "zone in (a, b)".
func operand(before string) bool {
	return strings.HasSuffix(before, " in") || strings.HasSuffix(before, " notin")
}

// joined prints short remarks with dots between them; a line breaks only there.
func (p *page) joined(indent string, words []string) { p.joinedIn("", indent, words) }

// joinedIn is joined in a colour.
func (p *page) joinedIn(color, indent string, words []string) {
	line := ""
	for _, w := range words {
		switch {
		case line == "":
			line = indent + w
		case columns(line+" · "+w) <= p.width():
			line += " · " + w
		default:
			p.printf("%s\n", p.in(color, line))
			line = indent + w
		}
	}
	p.printf("%s\n", p.in(color, line))
}

// sureness says how well a cause is proved, and what the weaker words mean.
func sureness(c report.Cause) string {
	switch c.Certainty {
	case report.Likely:
		return "likely, last link not seen"
	case report.Possible:
		return "possible, not proven"
	}
	return string(c.Certainty)
}

// opening is the first sentence of a message: up to a period that a space and a
// capital letter follow, so that "v1.2.3" and "pvc-1. of" stay whole.
func opening(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			return s[:i+1]
		}
	}
	return s
}

// spoken names a subject as kubectl would: pvc shop/data.
func spoken(s report.Subject) string {
	short := map[string]string{
		"PersistentVolumeClaim": "pvc", "PersistentVolume": "pv", "Pod": "pod", "Node": "node", "Cluster": "cluster", "Volume": "volume",
	}[s.Kind]
	switch {
	case s.Kind == "Cluster" && s.Namespace != "":
		return "namespace " + s.Namespace
	case s.Kind == "Cluster":
		return "cluster"
	case short == "":
		return s.String()
	case s.Namespace != "":
		return short + " " + s.Namespace + "/" + s.Name
	}
	return short + " " + s.Name
}
