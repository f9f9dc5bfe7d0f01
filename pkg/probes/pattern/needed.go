package pattern

import (
	"cmp"
	"regexp/syntax"
	"slices"
)

// shortest is how long a word is at least: a shorter one rules out next to nothing.
const shortest = 3

// need is what a text has that an expression matches: a word, or all or one of several needs.
// Nil asks for nothing.
type need struct {
	word word
	of   []*need
	any  bool // one of them is enough
}

func (n *need) in(s string) bool {
	if len(n.of) == 0 {
		return n.word.in(s)
	}
	for _, part := range n.of {
		if part.in(s) == n.any {
			return n.any
		}
	}
	return !n.any
}

// words counts them.
func (n *need) words() int {
	if len(n.of) == 0 {
		return 1
	}
	count := 0
	for _, part := range n.of {
		count += part.words()
	}
	return count
}

// needed is what every match of an expression has; nil when one may do without any word.
func needed(part *syntax.Regexp) *need {
	if s, ok := exact(part); ok {
		return s.need()
	}
	switch part.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needed(part.Sub[0])
	case syntax.OpRepeat:
		if part.Min > 0 {
			return needed(part.Sub[0])
		}
	case syntax.OpConcat:
		return sequence(part.Sub)
	case syntax.OpAlternate:
		return either(part.Sub)
	}
	return nil
}

// sequence needs what all of its parts need, what is told soonest first. Parts that are
// written out and stand side by side are one.
func sequence(parts []*syntax.Regexp) *need {
	var all []*need
	add := func(n *need) {
		if n != nil {
			all = append(all, n)
		}
	}
	empty := set{strings: []string{""}}
	run := empty
	for _, part := range parts {
		switch s, ok := exact(part); {
		case !ok:
			add(run.need())
			add(needed(part))
			run = empty
		case len(run.strings)*len(s.strings) > mostExact:
			add(run.need())
			run = s
		default:
			run = run.then(s)
		}
	}
	add(run.need())
	slices.SortStableFunc(all, func(a, b *need) int { return cmp.Compare(a.words(), b.words()) })
	return joined(all, false)
}

// either needs what one of its branches needs: nothing when one needs nothing.
func either(branches []*syntax.Regexp) *need {
	var all []*need
	for _, branch := range branches {
		n := needed(branch)
		if n == nil {
			return nil
		}
		all = append(all, n)
	}
	return joined(all, true)
}

// joined is one need of several.
func joined(of []*need, any bool) *need {
	switch len(of) {
	case 0:
		return nil
	case 1:
		return of[0]
	}
	return &need{of: of, any: any}
}
