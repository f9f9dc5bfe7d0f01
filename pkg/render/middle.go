package render

import (
	"regexp"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

var (
	uuidInName = regexp.MustCompile(`([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})`)
	hashInName = regexp.MustCompile(`([0-9a-f]{8})[0-9a-f]{20,}([0-9a-f]{4})`)
)

// brief shortens UIDs and hashes, which tell things apart by their ends as well.
func brief(s string) string {
	return hashInName.ReplaceAllString(uuidInName.ReplaceAllString(s, "$1…$2"), "$1…$2")
}

// middle shortens a text that is wider than width in its middle: both ends of a name
// or path say more about it than what is between them.
func middle(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	if s = brief(s); columns(s) <= width {
		return s
	}
	if width < 3 {
		return displaywidth.TruncateString(s, width, "")
	}
	head := (width - 1) / 2
	tail := width - 1 - head
	return strings.TrimRight(displaywidth.TruncateString(s, head, ""), " ") + "…" + strings.TrimLeft(ending(s, tail), " ")
}

// ending is the end of a text, at most width columns of it.
func ending(s string, width int) string {
	g := displaywidth.StringGraphemes(s)
	total := columns(s)
	at := 0
	for total > width && g.Next() {
		total -= g.Width()
		at += len(g.Value())
	}
	return s[at:]
}
