package render

import (
	"regexp"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

var (
	uuidInName = regexp.MustCompile(`([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})`)
	hashInName = regexp.MustCompile(`([0-9a-f]{12})[0-9a-f]{16,}([0-9a-f]{4})`) // as container IDs are shortened everywhere
)

// brief shortens UIDs and hashes, which tell things apart by their ends as well.
func brief(s string) string {
	return hashInName.ReplaceAllString(uuidInName.ReplaceAllString(s, "$1…$2"), "$1…$2")
}

// middle shortens a text that is wider than width in its middle: both ends of a name
// or path say more about it than what is between them.
func middle(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	if b := brief(s); columns(b) <= width {
		return b
	}
	if width < 3 {
		return displaywidth.TruncateString(s, width, "")
	}
	head := (width - 1) / 2
	tail := width - 1 - head
	return strings.TrimRight(displaywidth.TruncateString(s, head, ""), " …") + "…" + strings.TrimLeft(ending(s, tail), " …")
}

// middleWords shortens a line in its middle as middle does, but between words.
func middleWords(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	words := strings.Split(s, " ")
	for from, to := len(words)/2, len(words)/2+1; from > 0 && to <= len(words); {
		out := strings.Join(words[:from], " ") + " … " + strings.Join(words[to:], " ")
		if columns(out) <= width {
			return strings.TrimSpace(out)
		}
		if columns(strings.Join(words[:from], " ")) > columns(strings.Join(words[to:], " ")) {
			from--
		} else {
			to++
		}
	}
	return middle(s, width)
}

// leastName is what remains of a name in a place at least.
const leastName = 9

// shortLocator shortens the place of a fact, "Node NAME status.conditions[Ready]" or a
// path: first the names in it, then what stands before the field or the file.
func shortLocator(s string, width int) string {
	words := strings.Split(brief(s), " ")
	last := len(words) - 1
	for columns(strings.Join(words, " ")) > width {
		longest := 0
		for i := 1; i < last; i++ {
			if longest == 0 || columns(words[i]) > columns(words[longest]) {
				longest = i
			}
		}
		if longest == 0 || columns(words[longest]) <= leastName {
			break
		}
		words[longest] = middle(words[longest], columns(words[longest])-1)
	}
	if over := columns(strings.Join(words, " ")) - width; over > 0 {
		words[last] = lastParts(words[last], columns(words[last])-over)
	}
	return middle(strings.Join(words, " "), width)
}

// lastParts keeps the last parts of a field or path: "….conditions[Ready]", "…/comm". It is
// whole where not even one fits.
func lastParts(s string, width int) string {
	signs := ".["
	if strings.Contains(s, "/") && !strings.Contains(s, "[") {
		signs = "/"
	}
	for i := 1; i < len(s)-1; i++ {
		if strings.IndexByte(signs, s[i]) >= 0 && columns(s[i:])+1 <= width {
			return "…" + s[i:]
		}
	}
	return s
}

// ending is the end of a text, at most width columns of it.
func ending(s string, width int) string {
	g := displaywidth.StringGraphemes(s)
	total := columns(s)
	at := 0
	for total > width && g.Next() {
		total -= g.Width()
		at += len(g.Value())
	}
	return s[at:]
}
