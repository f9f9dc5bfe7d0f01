package render

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// longQuote is where keeping a quotation together costs more than it helps.
const longQuote = 40

// wrap breaks a text into lines of at most width columns, at blanks only: a name, a
// path, a hash or a command that is longer than a line stands alone on one, whole.
func wrap(s string, width int) []string { return wrapTo(s, width, width) }

// wrapTo is wrap with another width for the first line.
func wrapTo(s string, first, width int) []string {
	var out []string
	cur, room := "", first
	for _, w := range units(s, min(width/2, longQuote)) {
		switch {
		case cur == "":
			cur = w
		case columns(cur)+1+columns(w) <= room:
			cur += " " + w
		default:
			out = append(out, cur)
			cur, room = w, width
		}
	}
	return append(out, cur)
}

// units are the words of a text; a short quotation is one.
func units(s string, most int) []string {
	var out []string
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if n := quotation(words[i:], most); n > 1 {
			w = strings.Join(words[i:i+n], " ")
			i += n - 1
		}
		out = append(out, w)
	}
	return out
}

// quotation counts the words from an opening quote to the closing one, as far as
// they fit into most columns.
func quotation(words []string, most int) int {
	first := words[0]
	if !strings.ContainsAny(first[:1], `"'`) {
		return 0
	}
	length := 0
	for i, w := range words {
		length += columns(w) + 1
		if length > most {
			return 0
		}
		if i == 0 {
			w = w[1:]
		}
		if strings.HasSuffix(strings.TrimRight(w, ".,:;)"), first[:1]) {
			return i + 1
		}
	}
	return 0
}

// wrapVerbatim breaks a quoted line at blanks without touching those inside a part.
func wrapVerbatim(s string, width int) []string {
	s = strings.ReplaceAll(strings.TrimRight(s, " \t"), "\t", "  ")
	var out []string
	for len(s) > width && columns(s[:min(len(s), 8*width)]) > width {
		cut := lastBlank(s, width)
		if cut <= 0 {
			break
		}
		out = append(out, strings.TrimRight(s[:cut], " "))
		s = strings.TrimLeft(s[cut:], " ")
	}
	return append(out, s)
}

// lastBlank is the place of the last blank within width columns, else of the first
// one after them; -1 without one. Blanks at the beginning do not count.
func lastBlank(s string, width int) int {
	at := -1
	indent := len(s) - len(strings.TrimLeft(s, " "))
	for i := indent; i < len(s); i++ {
		if s[i] != ' ' {
			continue
		}
		if columns(s[:i]) > width {
			if at < 0 {
				at = i
			}
			return at
		}
		at = i
	}
	return at
}

// columns is the number of columns that a text fills on a terminal; our colours fill none.
func columns(s string) int { return displaywidth.Options{ControlSequences: true}.String(s) }
