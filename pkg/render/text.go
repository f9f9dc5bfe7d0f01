package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Text prints a report for a person: the answer first, then the chain, the
// causes with their evidence, and what is left open.
func Text(w io.Writer, r *report.Report, o Options) error {
	out := bufio.NewWriter(w)
	p := &page{Writer: out, Options: o, paint: paint{o.Color}, r: safe(r)}
	p.head()
	p.chain()
	p.causes()
	p.symptoms()
	p.unexplained()
	p.noise()
	p.notChecked()
	if o.Wide {
		p.timeline()
	}
	p.readOn()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// page is one text report in the making.
type page struct {
	*bufio.Writer
	Options
	paint
	r *report.Report
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// limit is the number of columns that a text with an indent may fill.
func (p *page) limit(indent int) int {
	if p.Wide {
		return 1 << 20
	}
	return max(p.width()-indent, 24)
}

// text prints a wrapped text: the first line after head, the others below it.
func (p *page) text(head, s string) { p.hang(head, strings.Repeat(" ", columns(head)), s) }

// hang prints a wrapped text with an indent of its own for further lines.
func (p *page) hang(head, indent, s string) {
	lines := wrap(s, p.limit(max(columns(head), columns(indent))))
	for i, l := range lines {
		lead := indent
		if i == 0 {
			lead = head
		}
		p.printf("%s\n", strings.TrimRight(lead+l, " "))
	}
}

func (p *page) title(s string) { p.printf("\n%s\n", p.in(bold, s)) }

// head is the verdict line and the one-sentence answer.
func (p *page) head() {
	r := p.r
	left := strings.ToUpper(r.Verdict) + "  " + line(spoken(r.Subject))
	colored := p.in(verdictColor[r.Verdict], strings.ToUpper(r.Verdict)) + "  " + p.in(bold, line(spoken(r.Subject)))
	at := r.TakenAt
	if age := p.age(); age != "" {
		at = "seen " + age + " ago, at " + at
	}
	if gap := p.width() - columns(left) - columns(at); gap >= 2 {
		p.printf("%s%s%s\n", colored, strings.Repeat(" ", gap), p.in(dim, at))
	} else {
		p.printf("%s\n%s\n", colored, p.in(dim, at))
	}
	p.volume()
	if r.Summary != "" {
		p.text("", r.Summary)
	}
	if r.Error != "" {
		p.text("error: ", r.Error)
	}
}

// age is how old the evidence was when the report was written, or empty where that
// does not matter.
func (p *page) age() string {
	taken, err1 := time.Parse(time.RFC3339, p.r.TakenAt)
	read, err2 := time.Parse(time.RFC3339, p.r.ReadAt)
	if err1 != nil || err2 != nil {
		return ""
	}
	switch d := read.Sub(taken); {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	case d >= 3*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
}

// volume prints the whole name of the volume below the verdict: the table
// shortens it, and it is what one copies.
func (p *page) volume() {
	for _, l := range p.r.Chain {
		if l.Kind == "PersistentVolume" && p.shortName(l.Name) != l.Name && p.r.Subject.Kind != "Pod" {
			p.printf("%s\n", p.in(dim, "volume "+line(l.Name)))
			return
		}
	}
}

// spoken names a subject as kubectl would: pvc shop/data.
func spoken(s report.Subject) string {
	short := map[string]string{
		"PersistentVolumeClaim": "pvc", "PersistentVolume": "pv", "Pod": "pod", "Node": "node", "Cluster": "cluster", "Volume": "volume",
	}[s.Kind]
	switch {
	case s.Kind == "Cluster":
		return "cluster"
	case short == "":
		return s.String()
	case s.Namespace != "":
		return short + " " + s.Namespace + "/" + s.Name
	}
	return short + " " + s.Name
}

// readOn ends the report with where to go next.
func (p *page) readOn() {
	p.title("READ ON")
	if len(p.r.RootCauses) > 0 {
		p.text("  ", "kubectl mountdoctor explain "+p.r.RootCauses[0].Name)
	} else {
		p.text("  ", "kubectl mountdoctor causes")
	}
	if !p.Wide {
		p.text("  ", "-o wide shows all evidence and the timeline, -o json everything for programs")
	}
}
