package render

import "fmt"

// command prints a command so that it can be copied: a long one goes on after a
// backslash between two words of the shell, never inside one.
func (p *page) command(indent, c string) { p.hanging(indent, indent, c) }

// hanging is command with another indent for its further lines.
func (p *page) hanging(head, indent, c string) {
	parts := shell(c, p.limit(columns(head)+4), p.limit(columns(indent)+6)) // the prompt or indent, and the backslash
	for i, part := range parts {
		lead, tail := head+"$ ", ""
		if i > 0 {
			lead = indent + "    "
		}
		if i < len(parts)-1 {
			tail = ` \`
		}
		fmt.Fprintf(p, "%s%s\n", lead, p.in(cyan, part+tail))
	}
}

// shell breaks a command line between words, at a width of the first line and one of the
// others; what the shell joins stays joined.
func shell(s string, width, rest int) []string {
	var out []string
	cur := ""
	for _, w := range shellWords(s) {
		switch {
		case cur == "":
			cur = w
		case columns(cur)+1+columns(w) <= width:
			cur += " " + w
		default:
			out = append(out, cur)
			cur, width = w, rest
		}
	}
	return append(out, cur)
}

// shellWords splits at the blanks that a POSIX shell splits at (Shell Command
// Language, 2.2 Quoting): none inside quotes and none behind a backslash, which
// means nothing within single quotes. The words keep their quotes.
func shellWords(s string) []string {
	var out []string
	quote, start := byte(0), 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			if i > start {
				out = append(out, s[start:i])
			}
			start = i + 1
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
