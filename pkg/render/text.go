package render

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Text prints a report for a person on one screen: the answer, what to do, why,
// and what is left open. Wide has everything.
func Text(w io.Writer, r *report.Report, o Options) error {
	out := bufio.NewWriter(w)
	p := &page{Writer: out, Options: o, paint: paint{o.Color}, r: safe(r), said: map[string]bool{}}
	p.names = namesOf(p.r)
	p.head()
	if p.r.Error != "" {
		p.text("  error: ", p.r.Error)
	}
	if o.Wide {
		p.wide()
	} else {
		p.screen()
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// screen prints what belongs on one.
func (p *page) screen() {
	r := p.r
	if len(r.RootCauses) == 0 && len(r.Unexplained) == 0 && len(r.Volumes) == 0 {
		p.quiet()
		return
	}
	if r.Verdict == report.Waiting && len(r.RootCauses) > 0 {
		p.wait(r.RootCauses[0])
		return
	}
	switch r.Subject.Kind {
	case "Node":
		p.node()
	case "Cluster":
		p.cluster()
	default:
		if len(r.RootCauses) > 0 {
			c := r.RootCauses[0]
			p.answer(c)
			p.fix(c)
			p.why(c)
			p.others(r.RootCauses[1:])
		}
		p.puzzle(r.Unexplained)
	}
	p.closing()
}

// wide prints everything, each thing once.
func (p *page) wide() {
	p.text("  ", p.r.Summary)
	p.chain()
	p.volumes()
	p.causes()
	p.symptoms()
	p.unexplained()
	p.noise()
	p.notChecked()
	p.timeline()
	p.more()
}

// page is one text report in the making.
type page struct {
	*bufio.Writer
	Options
	paint
	r     *report.Report
	names names
	said  map[string]bool // sentences of steps that stand above
}

// printf prints anything but commands: nothing that others wrote can look like one,
// wherever a line happens to break.
func (p *page) printf(format string, args ...any) {
	fmt.Fprint(p, prompt.ReplaceAllString(fmt.Sprintf(format, args...), `$1\$$`))
}

// prompt is what stands before a command, at the beginning of a line.
var prompt = regexp.MustCompile(`(?m)^((?:\x1b\[[0-9;]*m|[ │·])*)\$`)

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
	lines := wrapTo(s, p.limit(columns(head)), p.limit(columns(indent)))
	for i, l := range lines {
		lead := indent
		if i == 0 {
			lead = head
		}
		p.printf("%s\n", strings.TrimRight(lead+l, " "))
	}
}

func (p *page) title(s string) { p.printf("\n%s\n", p.in(bold, s)) }
