package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// table prints rows in aligned columns that fit the page: a cell is shortened in its
// middle, but not those of the column that stays whole (-1: none), and columns that still
// do not fit are left out in the order of spare.
func (p *page) table(head []string, rows [][]string, whole int, spare ...int) {
	widths := p.fit(head, rows, whole, spare)
	var buf bytes.Buffer
	t := newTable(&buf)
	t.Header(cells(head, widths))
	for _, r := range rows {
		if err := t.Append(cells(r, widths)); err != nil {
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
		p.printf("  %s\n", l)
	}
}

// cells shortens a row to the widths; a column of no width is gone.
func cells(row []string, widths []int) []string {
	var out []string
	for i, c := range row {
		if widths[i] > 0 {
			out = append(out, middle(c, widths[i]))
		}
	}
	return out
}

// leastCell is what remains of a cell at least: enough to tell names apart.
const leastCell = 16

// fit returns the widths of the columns: their natural ones, or with the widest made
// narrower, or without what can be spared. A column without a word has none.
func (p *page) fit(head []string, rows [][]string, whole int, spare []int) []int {
	widths := natural(head, rows)
	if p.Wide {
		return widths
	}
	for {
		if fits, ok := narrowed(widths, p.width()-2, leastCell, whole); ok {
			return fits
		}
		if len(spare) == 0 {
			break
		}
		widths[spare[0]], spare = 0, spare[1:]
	}
	fits, _ := narrowed(widths, p.width()-2, 3, whole)
	return fits
}

// natural are the widths of columns that are not shortened.
func natural(head []string, rows [][]string) []int {
	widths := make([]int, len(head))
	for i := range head {
		for _, r := range rows {
			widths[i] = max(widths[i], columns(r[i]))
		}
		if widths[i] > 0 {
			widths[i] = max(widths[i], columns(head[i]))
		}
	}
	return widths
}

// narrowed takes from the widest columns what is too much, down to a least width.
func narrowed(widths []int, room, least, whole int) (out []int, ok bool) {
	out = slices.Clone(widths)
	for total(out) > room {
		widest := -1
		for i, w := range out {
			if i != whole && w > least && (widest < 0 || w > out[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return out, false
		}
		out[widest]--
	}
	return out, true
}

// total is what columns and the two blanks between them fill.
func total(widths []int) int {
	n := -2
	for _, w := range widths {
		if w > 0 {
			n += w + 2
		}
	}
	return n
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
