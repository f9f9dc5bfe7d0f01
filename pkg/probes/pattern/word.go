package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a part of a text, by the position of its seldomest byte.
type word struct {
	text  string // lower case when fold
	fold  bool   // any case of ASCII letters
	other bool   // any case of other letters: looked for is any of them
	at    int    // where in text the byte stands
}

// common are the bytes of texts, from the most frequent on; others are seldom.
const common = " etaoinsrldcumphf/g.vbwy-:\"_,k=0123456789"

// newWord is false for one that is too short.
func newWord(text string, fold bool) (word, bool) {
	w := word{text: text, fold: fold}
	if fold {
		w.text = strings.ToLower(w.text)
		if strings.ContainsFunc(w.text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.SimpleFold(r) != r }) {
			return word{text: w.text, other: true}, true
		}
	}
	best := -1
	for i := range len(w.text) {
		rank := strings.IndexByte(common, w.text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, w.at = rank, i
		}
	}
	return w, len(w.text) >= shortest
}

func (w word) in(s string) bool {
	if w.other {
		return strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	if !w.fold {
		return strings.Contains(s, w.text)
	}
	c := w.text[w.at]
	return w.near(s, c) || 'a' <= c && c <= 'z' && w.near(s, c-'a'+'A')
}

// near tells whether the word stands where a byte is.
func (w word) near(s string, c byte) bool {
	for from := w.at; from < len(s); {
		i := strings.IndexByte(s[from:], c)
		if i < 0 {
			return false
		}
		begin := from + i - w.at
		if end := begin + len(w.text); end <= len(s) && equalFold(s[begin:end], w.text) {
			return true
		}
		from += i + 1
	}
	return false
}

// equalFold compares with a word of lower case, by ASCII.
func equalFold(s, lower string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
