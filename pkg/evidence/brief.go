package evidence

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Brief shortens a text for a sentence; the evidence keeps it whole. What was tried stands
// first and why it failed last (k8s.io/mount-utils, formatMountError: the output comes after
// command and arguments), so whole words between them are left out, and what only wraps a message before; of a decision of the API
// server the end of its particulars.
func Brief(s string) string {
	const head, tail = 110, 170
	s = report.Gist(s)
	if inner, wrapped := report.Innermost(s, func(s string) bool { return len([]rune(s)) <= head+tail }); wrapped && len([]rune(s)) > head+tail {
		s = inner
	}
	r := []rune(s)
	if len(r) <= head+tail {
		return s
	}
	switch at := report.Decided(s); {
	case at < 0 || len([]rune(s[at:])) <= tail:
	case at < head:
		return begin(s, head+tail) + " …"
	default:
		return begin(s, head) + " … " + begin(s[at:], tail) + " …"
	}
	last := string(r[len(r)-tail:])
	if i := strings.IndexByte(last, ' '); i >= 0 && i < word {
		last = last[i+1:]
	}
	return begin(s, head) + " … " + last
}

// word is the longest part of a word that is left out with what is cut.
const word = 60

// begin is the first runes of a text, up to the end of a word.
func begin(s string, most int) string {
	first := string([]rune(s)[:most])
	if i := strings.LastIndexByte(first, ' '); i > most-word {
		first = first[:i]
	}
	return first
}

// Duration writes a duration as every one in a report is written.
func Duration(d time.Duration) string { return report.Duration(int64(d / time.Second)) }
