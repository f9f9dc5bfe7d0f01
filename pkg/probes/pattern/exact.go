package pattern

import "regexp/syntax"

// mostExact is of how many strings a set is worth to be written out.
const mostExact = 16

// set is all that a part of an expression matches, when that is few strings.
type set struct {
	strings []string
	fold    bool // any case of letters
}

// exact is all that a part matches; false when that is many, or not to be written out.
// The parser takes the common beginnings of branches out of them; this brings them back.
func exact(part *syntax.Regexp) (set, bool) {
	switch part.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return set{strings: []string{""}}, true
	case syntax.OpLiteral:
		return set{[]string{string(part.Rune)}, part.Flags&syntax.FoldCase != 0}, true
	case syntax.OpCharClass:
		return class(part.Rune)
	case syntax.OpCapture:
		return exact(part.Sub[0])
	case syntax.OpQuest:
		s, ok := exact(part.Sub[0])
		return s.or(set{strings: []string{""}}), ok && len(s.strings) < mostExact
	case syntax.OpConcat, syntax.OpAlternate:
		return several(part)
	}
	return set{}, false
}

// class is a class of a few characters, by its ranges.
func class(ranges []rune) (set, bool) {
	var out set
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if out.strings = append(out.strings, string(r)); len(out.strings) > mostExact {
				return set{}, false
			}
		}
	}
	return out, len(out.strings) > 0
}

func several(part *syntax.Regexp) (set, bool) {
	var out set
	for i, sub := range part.Sub {
		s, ok := exact(sub)
		switch {
		case !ok:
			return set{}, false
		case i == 0:
			out = s
		case part.Op == syntax.OpConcat:
			out = out.then(s)
		default:
			out = out.or(s)
		}
		if len(out.strings) > mostExact {
			return set{}, false
		}
	}
	return out, len(part.Sub) > 0
}

func (s set) or(other set) set {
	return set{append(s.strings[:len(s.strings):len(s.strings)], other.strings...), s.fold || other.fold}
}

// then is the set followed by another.
func (s set) then(next set) set {
	out := set{fold: s.fold || next.fold}
	for _, a := range s.strings {
		for _, b := range next.strings {
			out.strings = append(out.strings, a+b)
		}
	}
	return out
}

// need is one of the words of the set; nil when one of them is too short to rule out anything.
func (s set) need() *need {
	var all []*need
	for _, text := range s.strings {
		w, ok := newWord(text, s.fold)
		if !ok {
			return nil
		}
		all = append(all, &need{word: w})
	}
	return joined(all, true)
}
