package message

import (
	"regexp"
	"strings"
)

// sentence is one thing that a program says.
type sentence struct {
	kind Kind
	re   *regexp.Regexp
	need []string // lower-case words, one of which every match contains; empty: none is known
}

// says compiles a pattern, without regard to case. A cluster has a hundred
// thousand events, so the words that a match cannot do without are looked for first.
func says(kind Kind, pattern string) sentence {
	return sentence{kind: kind, re: regexp.MustCompile(`(?is)` + pattern), need: needed(pattern)}
}

// matches tells whether a text, and the same in lower case, says the sentence.
func (s sentence) matches(text, lower string) bool {
	for _, w := range s.need {
		if strings.Contains(lower, w) {
			return s.re.MatchString(text)
		}
	}
	return len(s.need) == 0 && s.re.MatchString(text)
}

// shortest is the length below which a word filters nothing.
const shortest = 3

// needed finds, for each alternative of a pattern, the longest run of plain
// characters. With an alternative that has none, nothing is needed.
func needed(pattern string) []string {
	var out []string
	for _, branch := range branches(pattern) {
		word := longestPlain(branch)
		if len(word) < shortest {
			return nil
		}
		out = append(out, strings.ToLower(word))
	}
	return out
}

// branches splits a pattern at the bars outside of groups.
func branches(pattern string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, pattern[start:i])
				start = i + 1
			}
		}
	}
	return append(out, pattern[start:])
}

// longestPlain reads characters that stand for themselves outside of groups and
// classes. What a ?, * or { follows may be missing.
func longestPlain(branch string) string {
	best, run := "", ""
	depth := 0
	end := func() {
		if len(run) > len(best) {
			best = run
		}
		run = ""
	}
	for i := 0; i < len(branch); i++ {
		c := branch[i]
		switch {
		case c == '\\':
			end()
			i++
		case c == '(' || c == '[':
			end()
			depth++
		case c == ')' || c == ']':
			depth--
		case depth > 0:
		case c == '?' || c == '*' || c == '{':
			if run != "" {
				run = run[:len(run)-1]
			}
			end()
		case strings.IndexByte(".+^$}", c) >= 0:
			end()
		default:
			run += string(c)
		}
	}
	end()
	return best
}
