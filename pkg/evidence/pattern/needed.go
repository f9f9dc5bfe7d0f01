package pattern

import (
	"cmp"
	"regexp/syntax"
	"slices"
)

// A shorter word rules out next to nothing, and more lists cost more than they spare.
const (
	shortest    = 3
	mostLists   = 64
	mostProduct = 16 // of a sequence: fewer and shorter lists may say as much
)

// needed are lists of words: every match of an expression contains all words of one of
// them. There are none when a match may do without any word.
func needed(part *syntax.Regexp) [][]word {
	if s, ok := exact(part); ok {
		return s.lists()
	}
	switch part.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needed(part.Sub[0])
	case syntax.OpRepeat:
		if part.Min > 0 {
			return needed(part.Sub[0])
		}
	case syntax.OpConcat:
		return all(part.Sub)
	case syntax.OpAlternate:
		return either(part.Sub)
	}
	return nil
}

// all are the lists of a sequence: those of its parts with one another, as long as they
// stay few. Parts that are written out and stand side by side are one.
func all(parts []*syntax.Regexp) [][]word {
	var sets [][][]word
	run := set{strings: []string{""}}
	end := func(begin set) {
		sets = append(sets, run.lists())
		run = begin
	}
	for _, part := range parts {
		switch s, ok := exact(part); {
		case !ok:
			end(set{strings: []string{""}})
			sets = append(sets, needed(part))
		case len(run.strings)*len(s.strings) > mostExact:
			end(s)
		default:
			run = run.then(s)
		}
	}
	end(set{})
	slices.SortStableFunc(sets, func(a, b [][]word) int { return cmp.Compare(len(a), len(b)) })
	var out [][]word
	for _, set := range sets {
		switch {
		case len(out) == 0:
			out = set
		case len(set) > 0 && len(out)*len(set) <= mostProduct:
			out = product(out, set)
		}
	}
	return out
}

func product(a, b [][]word) [][]word {
	var out [][]word
	for _, x := range a {
		for _, y := range b {
			list := slices.Concat(x, y)
			slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(len(b.text), len(a.text)) })
			out = append(out, list)
		}
	}
	return out
}

// either are the lists of all branches; none when one branch has none.
func either(branches []*syntax.Regexp) [][]word {
	var out [][]word
	for _, branch := range branches {
		lists := needed(branch)
		if len(lists) == 0 {
			return nil
		}
		out = append(out, lists...)
	}
	if len(out) > mostLists {
		return nil
	}
	return out
}
