package message

import (
	"regexp"
	"strings"
)

// sentence is one thing that a program says.
type sentence struct {
	kind Kind
	re   *regexp.Regexp
	need [][]string // lower-case words; every match contains all of one of these lists; empty: none is known
}

// says compiles a pattern, without regard to case. A cluster has a hundred
// thousand events, so the words that a match cannot do without are looked for first.
func says(kind Kind, pattern string) sentence {
	return sentence{kind: kind, re: regexp.MustCompile(`(?is)` + pattern), need: needed(pattern)}
}

// matches tells whether a text, and the same in lower case, says the sentence.
func (s sentence) matches(text, lower string) bool {
	for _, words := range s.need {
		if containsAll(lower, words) {
			return s.re.MatchString(text)
		}
	}
	return len(s.need) == 0 && s.re.MatchString(text)
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// shortest is the length below which a word filters nothing.
const shortest = 3

// needed finds, for each alternative of a pattern, its runs of plain characters, or those of
// the alternatives of a group that it cannot do without. With an alternative that has
// neither, nothing is needed.
func needed(pattern string) [][]string {
	var out [][]string
	for _, branch := range branches(pattern) {
		if words := plainRuns(branch); len(words) > 0 {
			out = append(out, words)
			continue
		}
		words := neededGroup(branch)
		if len(words) == 0 {
			return nil
		}
		out = append(out, words...)
	}
	return out
}

// neededGroup is what the first group of a branch needs that must match and has words.
func neededGroup(branch string) [][]string {
	depth, start := 0, 0
	for i := 0; i < len(branch); i++ {
		switch branch[i] {
		case '\\':
			i++
		case '[':
			i += max(strings.IndexByte(branch[i:], ']'), 0)
		case '(':
			if depth++; depth == 1 {
				start = i + 1
			}
		case ')':
			if depth--; depth > 0 || i+1 < len(branch) && strings.IndexByte("?*{", branch[i+1]) >= 0 {
				continue
			}
			if words := needed(strings.TrimPrefix(branch[start:i], "?:")); len(words) > 0 {
				return words
			}
		}
	}
	return nil
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

// plainRuns reads characters that stand for themselves outside of groups and
// classes. What a ?, * or { follows may be missing.
func plainRuns(branch string) []string {
	var out []string
	run, depth := "", 0
	end := func() {
		if len(run) >= shortest {
			out = append(out, strings.ToLower(run))
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
			if c == '{' {
				i += strings.IndexByte(branch[i:], '}')
			}
		case strings.IndexByte(".+^$}", c) >= 0:
			end()
		default:
			run += string(c)
		}
	}
	end()
	return out
}
