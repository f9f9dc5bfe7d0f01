package message

import (
	"regexp"
	"slices"
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

// needed finds, for each alternative of a pattern, its runs of plain characters and those of
// one alternative of each group that it cannot do without. With an alternative that has
// neither, nothing is needed.
func needed(pattern string) [][]string {
	var out [][]string
	for _, branch := range branches(pattern) {
		words := neededGroups(branch)
		if runs := plainRuns(branch); len(runs) > 0 {
			words = each(words, [][]string{runs})
		}
		if len(words) == 0 {
			return nil
		}
		out = append(out, words...)
	}
	return out
}

// neededGroups is what the groups of a branch need that must match and have words: one
// alternative of each.
func neededGroups(branch string) [][]string {
	var out [][]string
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
			out = each(out, needed(strings.TrimPrefix(branch[start:i], "?:")))
		}
	}
	return out
}

// each joins every list of one set with every list of another; an empty set needs nothing.
func each(a, b [][]string) [][]string {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	var out [][]string
	for _, x := range a {
		for _, y := range b {
			out = append(out, append(slices.Clone(y), x...)) // what comes last is the rarer word
		}
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
