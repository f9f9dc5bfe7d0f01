// Package pattern has regular expressions that look for their words first. A text of a
// cluster is read for hundreds of them, and matches next to none: that a word which every
// match contains does not stand in it is known some fifty times sooner.
package pattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
)

// Pattern is a regular expression and the words that every match of it contains.
type Pattern struct {
	expr     string
	words    func() *need
	compiled func() *regexp.Regexp
	last     atomic.Pointer[asked]
}

// asked is a text with its answer: a text is asked about once for each volume and rule, and
// retries say the same.
type asked struct {
	text    string
	matches bool
}

// MustCompile is a pattern of an expression (regexp/syntax). It is read when a text is asked
// about first, and compiled when a text has its words: a run needs few of some hundreds. A
// wrong one panics then; expressions stand in the program, and a test reads them all.
func MustCompile(expr string) *Pattern {
	return &Pattern{
		expr: expr,
		words: sync.OnceValue(func() *need {
			if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
				return needed(tree)
			}
			return nil
		}),
		compiled: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }),
	}
}

// possible tells whether a text has the words of a match. Two letters of other alphabets are
// cases of s and k (U+017F, U+212A): a text that has one of them is matched as it is.
func (p *Pattern) possible(s string) bool {
	need := p.words()
	return need == nil || need.in(s) || strings.Contains(s, "\u017f") || strings.Contains(s, "\u212a")
}

// MatchString is that of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool {
	if last := p.last.Load(); last != nil && last.text == s {
		return last.matches
	}
	if !p.possible(s) {
		return false
	}
	matches := p.compiled().MatchString(s)
	p.last.Store(&asked{s, matches})
	return matches
}

// FindStringIndex is that of regexp.Regexp.
func (p *Pattern) FindStringIndex(s string) []int {
	if !p.MatchString(s) {
		return nil
	}
	return p.compiled().FindStringIndex(s)
}

// FindString is that of regexp.Regexp.
func (p *Pattern) FindString(s string) string {
	if !p.possible(s) {
		return ""
	}
	return p.compiled().FindString(s)
}

// FindStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.possible(s) {
		return nil
	}
	return p.compiled().FindStringSubmatch(s)
}

// FindAllString is that of regexp.Regexp.
func (p *Pattern) FindAllString(s string, n int) []string {
	if !p.possible(s) {
		return nil
	}
	return p.compiled().FindAllString(s, n)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if !p.possible(s) {
		return nil
	}
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringIndex is that of regexp.Regexp.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.possible(s) {
		return nil
	}
	return p.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !p.possible(s) {
		return nil
	}
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

// String is the expression.
func (p *Pattern) String() string { return p.expr }

// SubexpNames is that of regexp.Regexp.
func (p *Pattern) SubexpNames() []string { return p.compiled().SubexpNames() }

// ReplaceAllString is that of regexp.Regexp.
func (p *Pattern) ReplaceAllString(s, by string) string {
	if !p.possible(s) {
		return s
	}
	return p.compiled().ReplaceAllString(s, by)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	if !p.possible(s) {
		return s
	}
	return p.compiled().ReplaceAllStringFunc(s, by)
}
