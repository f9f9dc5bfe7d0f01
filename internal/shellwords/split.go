// Package shellwords takes command lines apart as a shell does, so that tests can see what
// a printed command would do.
package shellwords

import (
	"slices"
	"strings"
)

// Split takes a line apart as a POSIX shell does, and the script behind "-c" in turn. Operators and
// what the shell expands are words of their own.
func Split(line string) []string {
	var out []string
	var cur strings.Builder
	quote, begun := byte(0), false
	end := func() {
		if begun {
			out = append(out, cur.String())
		}
		cur.Reset()
		begun = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			cur.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+1 < len(line):
			i++
			cur.WriteByte(line[i])
			begun = true
		case c == '\'' || c == '"':
			quote, begun = c, true
		case strings.IndexByte(" \t\n", c) >= 0:
			end()
		case strings.IndexByte("|&;<>(){}", c) >= 0:
			end()
			out = append(out, "operator "+string(c))
		case strings.IndexByte("$`*?[~#", c) >= 0 && (c != '~' && c != '#' || !begun):
			out = append(out, "expansion "+string(c))
			begun = true
		default:
			cur.WriteByte(c)
			begun = true
		}
	}
	end()
	if i := slices.Index(out, "-c"); i >= 0 && i+1 < len(out) && i > 0 && out[i-1] == "sh" {
		out = append(out[:i+1], Split(out[i+1])...)
	}
	return out
}
