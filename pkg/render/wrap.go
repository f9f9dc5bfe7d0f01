package render

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks a text into lines of at most width columns. Words that are longer
// than a line (device paths, names with two UIDs) are cut only after a
// separator or, failing that, at the margin: nothing is ever dropped.
func wrap(s string, width int) []string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		out = append(out, wrapParagraph(paragraph, width)...)
	}
	return out
}

func wrapParagraph(s string, width int) []string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return []string{""}
	}
	var out []string
	cur := ""
	for _, w := range words {
		switch {
		case cur == "":
			cur = w
		case columns(cur)+1+columns(w) <= width:
			cur += " " + w
		default:
			out = append(out, cur)
			cur = w
		}
		for columns(cur) > width {
			head, tail := split(cur, width)
			out = append(out, head)
			cur = tail
		}
	}
	return append(out, cur)
}

// wrapVerbatim breaks a quoted line without touching the spaces inside it.
func wrapVerbatim(s string, width int) []string {
	s = strings.ReplaceAll(strings.TrimRight(s, " \t"), "\t", "  ")
	var out []string
	for columns(s) > width {
		head, tail := splitAt(s, width, " ")
		if !strings.HasSuffix(head, " ") && !strings.HasPrefix(tail, " ") {
			head, tail = split(s, width)
		}
		out = append(out, strings.TrimRight(head, " "))
		s = strings.TrimLeft(tail, " ")
	}
	return append(out, s)
}

// split cuts a word that is too long after the last separator that fits.
func split(s string, width int) (head, tail string) { return splitAt(s, width, "/-_,:=.") }

func splitAt(s string, width int, separators string) (head, tail string) {
	end, best := 0, 0
	for n := 0; n < width && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
		if strings.ContainsAny(s[end-size:end], separators) && n >= width/3 {
			best = end
		}
	}
	if best == 0 {
		best = end
	}
	return s[:best], s[best:]
}

// columns counts runes. After clean every rune is printable; wide East Asian
// characters do not occur in the names that Kubernetes allows.
func columns(s string) int { return utf8.RuneCountInString(s) }
