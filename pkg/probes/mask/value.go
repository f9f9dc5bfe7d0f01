package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// lone is a word on a line of its own, which YAML reads as the value of the name above it.
var lone = pattern.MustCompile(`^[^\s:#>|{\[-][^\s:]*(?:\n|$)`)

// block is a value of several lines in YAML: all that stands further in.
var block = pattern.MustCompile(`^[|>][+-]?[0-9]?[ \t]*(?:\n[ \t]+[^\n]*)+`)

var inMap = pattern.MustCompile(`^<key:.*?" ?>`)

// folded is such a value after its lines were put into one: it goes up to the next name.
var folded = pattern.MustCompile(`^[|>][+-]?[0-9]?[ \t]+[^\n]+?(?:[ \t][A-Za-z0-9_.-]+:(?:[ \t]|$)|\n|$)`)

// value is the extent of one value: a quoted text, a bracketed list, or a word.
func value(s string, at int) (from, to int) {
	if slashes := len(s[at:]) - len(strings.TrimLeft(s[at:], `\`)); slashes > 0 && strings.HasPrefix(s[at+slashes:], `"`) { // JSON in JSON
		quote := s[at : at+slashes+1]
		if n := strings.Index(s[at+len(quote):], quote); n >= 0 {
			return at + len(quote), at + len(quote) + n
		}
	}
	if strings.HasPrefix(s[at:], "%22") {
		if n := strings.Index(s[at+3:], "%22"); n >= 0 {
			return at + 3, at + 3 + n
		}
	}
	if m := block.FindStringIndex(s[at:]); m != nil {
		return at, at + m[1]
	}
	if m := folded.FindString(s[at:]); m != "" {
		if all := strings.TrimRight(m, " \t\n"); strings.HasSuffix(all, ":") {
			m = all[:strings.LastIndexAny(all, " \t")]
		}
		return at, at + len(strings.TrimRight(m, "\n"))
	}
	switch c := s[at]; c {
	case '"', '\'':
		for i := at + 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && c == '"':
				i++
			case s[i] == c:
				return at + 1, i
			}
		}
	case '<': // a map of protobuf: secrets:<key:"seed" value:"x" >
		if m := inMap.FindStringIndex(s[at:]); m != nil {
			return at, at + m[1]
		}
	case '[', '{':
		closing := map[byte]byte{'[': ']', '{': '}'}[c]
		if n := strings.IndexByte(s[at:], closing); n >= 0 {
			return at + 1, at + n
		}
	}
	end := at
	for end < len(s) && (!strings.ContainsRune(" \t\n,;&\"')]}\x00", rune(s[end])) || goesOn(s, end)) {
		end += 1 + strings.Count(s[end:min(end+2, len(s))], ",,")
	}
	if end == at || strings.HasPrefix(s[at:end], "***") {
		return -1, 0 // nothing, or hidden by who wrote it
	}
	return at, end
}

// next is what stands behind a sign in a list: another name.
var next = pattern.MustCompile(`^.\s*[A-Za-z0-9_. -]*[=:]`)

// goesOn tells a sign that is a part of a password and ends none: no name and no end follows
// it. A comma in an option of a mount is written twice.
func goesOn(s string, i int) bool {
	switch {
	case i+1 >= len(s):
		return false
	case s[i] == ',':
		return s[i+1] == ','
	}
	return strings.IndexByte(";&)]}'", s[i]) >= 0 && alnum(s[i+1]) && !next.MatchString(s[i:])
}
