package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Document prints the Markdown of a rule for a terminal: headings, paragraphs,
// lists and code are all that such a document uses.
func Document(w io.Writer, markdown string, o Options) error {
	out := bufio.NewWriter(w)
	d := &document{page: page{Writer: out, Options: o, paint: paint{o.Color}}}
	for _, l := range strings.Split(strings.TrimSpace(report.Lines(markdown)), "\n") {
		d.line(l)
	}
	d.flush()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return nil
}

// document collects the lines of a paragraph or list item before it wraps them.
type document struct {
	page
	head, text string
	code       bool
	blank      bool
}

func (d *document) line(l string) {
	trimmed := strings.TrimSpace(l)
	switch {
	case strings.HasPrefix(trimmed, "```"):
		d.flush()
		d.code = !d.code
	case d.code:
		fmt.Fprintf(d, "    %s\n", l)
	case strings.HasPrefix(trimmed, "|"):
		d.flush()
		d.tableRow(trimmed)
	case trimmed == "":
		d.flush()
		if !d.blank {
			d.printf("\n")
		}
		d.blank = true
		return
	case strings.HasPrefix(trimmed, "#"):
		d.flush()
		d.printf("%s\n", d.in(bold, heading(trimmed)))
	default:
		d.take(l, trimmed)
	}
	d.blank = false
}

// take adds a line to the current paragraph, or starts a list item.
func (d *document) take(l, trimmed string) {
	marker := bullet(trimmed)
	if marker == "" {
		d.text = strings.TrimSpace(d.text + " " + trimmed)
		return
	}
	d.flush()
	d.head = "  " + l[:len(l)-len(strings.TrimLeft(l, " "))] + marker
	d.text = strings.TrimSpace(trimmed[len(marker):])
}

func (d *document) flush() {
	if d.text != "" {
		head := d.head
		if head == "" {
			head = "  "
		}
		d.page.text(head, strings.NewReplacer("**", "", "`", "").Replace(d.text))
	}
	d.head, d.text = "", ""
}

// tableRow prints the cells of a Markdown table as a list item; a table whose
// cells are sentences would not fit a terminal.
func (d *document) tableRow(s string) {
	if strings.Trim(s, "|-: ") == "" {
		return
	}
	cells := strings.Split(strings.Trim(s, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	d.head, d.text = "  · ", strings.Join(cells, " — ")
	d.flush()
}

// bullet returns the marker of a list item with its space: "- ", "12. ".
func bullet(s string) string {
	if strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") {
		return "- "
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && strings.HasPrefix(s[digits:], ". ") {
		return s[:digits+2]
	}
	return ""
}

func heading(s string) string {
	level := len(s) - len(strings.TrimLeft(s, "#"))
	s = strings.TrimSpace(s[level:])
	if level > 1 {
		s = strings.ToUpper(s)
	}
	return s
}
