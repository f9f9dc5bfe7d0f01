package render

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// shownFacts is how many facts carry the answer in the text; all are in -o wide.
const shownFacts = 3

// why prints the path from the pod to the bytes with the broken place, and the
// first facts, which are those of the proof.
func (p *page) why(c report.Cause) {
	p.title("WHY")
	p.path()
	p.facts(c.Evidence, 2, enoughLines)
}

// path prints the chain as one line: what works up to what is broken.
func (p *page) path() {
	steps := p.steps()
	if len(steps) == 0 {
		return
	}
	line := ""
	for i, s := range steps {
		lead := " → "
		switch {
		case s.broken:
			lead = " " + brokenMark + " "
		case i == 0:
			lead = ""
		}
		if i == 0 {
			lead = strings.TrimLeft(lead, " ")
		}
		if line != "" && columns(line+lead+s.words) > p.width()-2 {
			p.printf("  %s\n", p.marked(line))
			line, lead = "", "  "+strings.TrimLeft(lead, " ")
		}
		line += lead + middle(s.words, p.width()-8)
	}
	p.printf("  %s\n", p.marked(line))
}

// marked paints the mark of what is broken.
func (p *page) marked(line string) string {
	return strings.ReplaceAll(line, brokenMark, p.in(bold+red, brokenMark))
}

// facts prints where something was read and what stood there: in columns where it
// fits, else below its place and behind a bar. A long text that comes first takes some lines,
// and after enough lines no long one follows.
func (p *page) facts(list []report.Evidence, first, enough int) {
	shown := p.ofNode(list, telling(list))
	where, place := 0, 0
	for _, e := range shown {
		where = max(where, columns(origin(e)))
	}
	for _, e := range shown {
		if p.inline(e, where, shortPlace) {
			place = max(place, min(columns(p.locator(e)), p.width()-where-columns(words(e))-6))
		}
	}
	lines := 0
	for _, e := range shown {
		inline := p.inline(e, where, shortPlace)
		if lines >= enough && !inline || lines > enough {
			continue // -o wide has it
		}
		most := 1
		if lines == 0 {
			most = first
		}
		p.quote(e, where, place, most)
		p.said[quoteKey(e)] = true
		lines += 3
		if inline {
			lines -= 2
		}
	}
}

// ofNode adds what a node showed first to the facts that tell most, where none of them is of a node and
// it takes a line only: it is what nobody sees in the API.
func (p *page) ofNode(list, shown []report.Evidence) []report.Evidence {
	isNode := func(e report.Evidence) bool { return e.Source == "node" }
	i := slices.IndexFunc(list, isNode)
	if i < 0 || slices.ContainsFunc(shown, isNode) || !p.inline(list[i], columns(origin(list[i])), shortPlace) {
		return shown
	}
	return append(shown, list[i])
}

// quoteKey is equal for what was read at one place once.
func quoteKey(e report.Evidence) string { return e.Source + e.Node + e.Locator + "\x00" + e.Text }

// enoughLines are enough where the facts prove an answer.
const enoughLines = 3

// shortPlace is how far a place may be shortened so that its fact fits the line.
const shortPlace = 30

// telling picks the first facts that are not alike: one line of a mount table stands
// for its neighbours. That a pod or a claim is Pending is in the path above: it comes last.
func telling(list []report.Evidence) []report.Evidence {
	outside := slices.DeleteFunc(slices.Clone(list), inPath)
	list = append(outside, slices.DeleteFunc(slices.Clone(list), func(e report.Evidence) bool { return !inPath(e) })...)
	var out []report.Evidence
	seen := map[string]bool{}
	for _, e := range list {
		if k := kindOf(e); !seen[k] && len(out) < shownFacts {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}

// inPath tells whether a fact is that a pod or a claim is Pending.
func inPath(e report.Evidence) bool {
	return e.Source == "api" && strings.HasSuffix(e.Locator, "status.phase") && strings.HasPrefix(e.Text, "Pending")
}

// kindOf is equal for facts of one table, and for one field of objects of one kind.
func kindOf(e report.Evidence) string {
	words := strings.Fields(e.Locator)
	if e.Source == "api" && len(words) > 1 {
		return "api " + words[0] + " " + words[len(words)-1]
	}
	place, _, _ := strings.Cut(e.Locator, ":")
	return e.Source + " " + e.Node + " " + place
}

// origin is the node or the kind of source.
func origin(e report.Evidence) string {
	if e.Source == "node" && e.Node != "" {
		return middle(e.Node, shortest)
	}
	return e.Source
}

// locator is the place of a fact; the volume is known, so its name is left to -o wide.
func (p *page) locator(e report.Evidence) string {
	l := strings.TrimPrefix(e.Locator, "Event ")
	if v := p.names.volume; v != "" {
		l = strings.ReplaceAll(l, " "+v+" ", " ")
	}
	return brief(l)
}

// inline tells whether a fact fits one line beside a place of some columns.
func (p *page) inline(e report.Evidence, where, place int) bool {
	return 2+where+2+min(place, columns(p.locator(e)))+2+columns(words(e)) <= p.width()
}

// quote prints one fact. Of a long text the end is kept: it says what went wrong.
func (p *page) quote(e report.Evidence, where, place, most int) {
	head := "  " + pad(origin(e), where) + "  "
	l, text := p.locator(e), words(e)
	if p.inline(e, where, shortPlace) {
		room := p.width() - columns(head) - 2 - columns(text)
		p.printf("%s\n", strings.TrimRight(head+pad(shortLocator(l, room), min(place, room))+"  "+text, " "))
		return
	}
	bar := "  " + strings.Repeat(" ", where) + "  │ "
	room := p.limit(columns(bar))
	if p.ofTheAsked(e) && text != "" {
		// An event of what was asked about: its name stands above already.
		for i, l := range lastLines(text, room, most) {
			if i == 0 {
				p.printf("%s%s%s\n", head, p.in(dim, "│ "), l)
				continue
			}
			p.printf("%s%s\n", bar, l)
		}
		return
	}
	p.printf("%s%s\n", head, p.in(dim, shortLocator(l, max(p.width()-columns(head), shortest))))
	if text == "" {
		return
	}
	lines := lastLines(text, room, most)
	if columns(text) > room && (e.Source == "node" || e.Source == "api" && denies(text)) {
		lines = []string{middleWords(shortWords(text), room)}
	}
	for _, l := range lines {
		p.printf("%s%s\n", bar, l)
	}
}

// denies tells whether a fact is that something is not there: without its first words it would say the opposite.
func denies(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	return slices.Contains([]string{"no", "not", "none", "nothing"}, first) || first == "does" && strings.HasPrefix(rest, "not ")
}

// ofTheAsked tells whether a fact is an event of an object that the head or the path
// names: the asked one, or a pod of the chain.
func (p *page) ofTheAsked(e report.Evidence) bool {
	words := strings.Fields(e.Locator)
	if e.Source != "event" || len(words) < 3 {
		return false
	}
	named := words[1] + " " + words[2]
	if p.r.Subject.String() == named {
		return true
	}
	return slices.ContainsFunc(p.r.Chain, func(l report.Link) bool { return l.Kind+" "+l.Name == named })
}

// lastLines wraps a text and keeps its end, as much of it as the lines take, and of a decision of
// the API server its begin. What only wraps a message goes first; then its head stays, as far as it fits one of the lines.
func lastLines(text string, width, most int) []string {
	lines := wrap(brief(text), width)
	if len(lines) > most {
		if inner, wrapped := report.Innermost(text, func(s string) bool { return len(wrap("… "+brief(s), width)) <= most }); wrapped {
			return bothEnds("… "+brief(inner), width, most)
		}
	}
	if at := report.Decided(text); at >= 0 && len(lines) > most {
		if decided := "… " + brief(text[at:]); len(wrap(decided, width)) > most {
			lines = wrap(decided, width-2)[:most]
			lines[most-1] += " …"
		}
	}
	if words := strings.Fields(brief(text)); len(lines) > most {
		lines = lines[len(lines)-1:] // in case one word fills the room
		for from := len(words) - 1; from > 0; from-- {
			end := wrap("… "+strings.Join(words[from:], " "), width)
			if len(end) > most {
				break
			}
			lines = end
		}
	}
	for i, l := range lines {
		lines[i] = middle(l, width)
	}
	return lines
}

// bothEnds wraps a message and keeps its first line with its end.
func bothEnds(text string, width, most int) []string {
	lines := wrap(text, width)
	if len(lines) <= most || most == 1 || report.Decided(text) >= 0 || columns(lines[0]) > width {
		return lastLines(text, width, most)
	}
	return append(lines[:1:1], lastLines(strings.Join(lines[1:], " "), width, most-1)...)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-columns(s), 0))
}
