package evidence

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Brief shortens a text for a sentence; the evidence keeps it whole. What was tried stands
// first and why it failed last (k8s.io/mount-utils, formatMountError: the output comes after
// command and arguments), so whole words between them are left out.
func Brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const head, tail, word = 110, 170, 60
	r := []rune(s)
	if len(r) <= head+tail {
		return s
	}
	first, last := string(r[:head]), string(r[len(r)-tail:])
	if i := strings.LastIndexByte(first, ' '); i > head-word {
		first = first[:i]
	}
	if i := strings.IndexByte(last, ' '); i >= 0 && i < word {
		last = last[i+1:]
	}
	return first + " … " + last
}

// Duration writes a duration as every one in a report is written.
func Duration(d time.Duration) string { return report.Duration(int64(d / time.Second)) }
