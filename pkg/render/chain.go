package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const brokenMark = "✗"

// chain prints one row per object; the broken row has a mark and, on a terminal,
// a colour.
func (p *page) chain() {
	if len(p.r.Chain) == 0 {
		return
	}
	p.title("CHAIN")
	rows := [][]string{}
	for _, l := range p.r.Chain {
		mark := ""
		if l.Broken {
			mark = brokenMark
		}
		rows = append(rows, []string{mark, shortKind(l.Kind), p.shortName(line(l.Name)), line(l.State), line(l.Since), p.shortName(line(l.Note))})
	}
	head := []string{"", "OBJECT", "NAME", "STATE", "SINCE", "NOTE"}
	p.table(head, rows)
}

// shortKind uses short names where the long ones would fill the page.
func shortKind(kind string) string {
	switch kind = line(kind); kind {
	case "PersistentVolumeClaim":
		return "PVC"
	case "PersistentVolume":
		return "PV"
	case "VolumeAttachment":
		return "Attachment"
	}
	return kind
}

// shortName shortens UIDs and hashes, which repeat from row to row and would
// leave no room for the state. The wide table has them whole.
func (p *page) shortName(s string) string {
	if p.Wide {
		return s
	}
	return brief(s)
}

// table prints rows in aligned columns that fit the page.
func (p *page) table(head []string, rows [][]string) {
	widths := p.columnWidths(head, rows)
	var buf bytes.Buffer
	t := newTable(&buf)
	t.Header(head)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = middle(c, widths[i])
		}
		if err := t.Append(cells); err != nil {
			p.printf("  (%v)\n", err)
		}
	}
	if err := t.Render(); err != nil {
		p.printf("  (%v)\n", err)
	}
	for _, l := range strings.Split(strings.TrimRight(buf.String(), "\n"), "\n") {
		l = strings.TrimRight(l, " ")
		if strings.Contains(l, brokenMark) {
			l = p.in(bold+red, l)
		}
		p.printf("%s\n", l)
	}
}

// newTable is a table without lines. East Asian width and wrapping are switched
// off: both would make the output depend on the environment.
func newTable(buf *bytes.Buffer) *tablewriter.Table {
	off := tw.Off
	pad := tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}}
	return tablewriter.NewTable(buf,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.Border{Left: off, Right: off, Top: off, Bottom: off},
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: off, ShowFooter: off, BetweenRows: off, BetweenColumns: off},
				Lines:      tw.Lines{ShowTop: off, ShowBottom: off, ShowHeaderLine: off, ShowFooterLine: off},
			},
		})),
		tablewriter.WithEastAsian(off),
		tablewriter.WithTrimSpace(off),
		tablewriter.WithHeaderAutoFormat(off),
		tablewriter.WithHeaderConfig(tw.CellConfig{Alignment: tw.CellAlignment{Global: tw.AlignLeft},
			Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: off}, Padding: pad}),
		tablewriter.WithRowConfig(tw.CellConfig{Alignment: tw.CellAlignment{Global: tw.AlignLeft},
			Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone}, Padding: pad}),
	)
}

// columnWidths gives every column its natural width; the free texts (name, note,
// then state) are made narrower, the widest first, until the row fits the page.
func (p *page) columnWidths(head []string, rows [][]string) []int {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = max(columns(h), 1)
	}
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], columns(c))
		}
	}
	if p.Wide {
		return widths
	}
	p.shrink(widths, []int{2, 5}, 22)
	p.shrink(widths, []int{5}, 12)
	p.shrink(widths, []int{2, 3, 5}, 10)
	return widths
}

// shrink narrows some columns, not below least, until a row fits.
func (p *page) shrink(widths, which []int, least int) {
	for sum(widths)+2*len(widths)-2 > p.width() {
		widest := which[0]
		for _, i := range which {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least {
			return
		}
		widths[widest]--
	}
}

func sum(list []int) int {
	n := 0
	for _, x := range list {
		n += x
	}
	return n
}

func number(n int, word string) string {
	return fmt.Sprintf("%d %s", n, word)
}
