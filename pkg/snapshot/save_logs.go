package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

func saveLogs(s *Snapshot, put func(name string, data []byte) error) error {
	for _, log := range s.Logs {
		ext := logExt
		if log.Previous {
			ext = previousLog
		}
		name := strings.Join([]string{logsDir, log.Namespace, log.Pod, log.Container + ext}, "/")
		text := strings.TrimRight(strings.Join(trimmedLog(log), "\n"), "\n")
		if len(log.Lines) > 0 {
			text += "\n"
		}
		if err := put(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// logWord is what a line of a storage component says when it has something to say: a
// fault, a refusal, or a step of an attach, a mount or a detach.
var logWord = pattern.MustCompile(`(?i)err|fail|warn|fatal|panic|cannot|can't|could not|unable|denied|refus|forbidden|reject|invalid|timed? ?out|deadline|unreachable|no route|reset by|broken|lost|missing|not found|unknown|not ready|not respond` +
	`|retry|backoff|abort|corrupt|stale|busy|read-only|readonly|full|exhaust|insufficient|too many|unauthor|expired|conflict|mismatch|unexpected|disconnect|shutting down|stopped|killed|crash|exit` +
	`|grace|recover|reclaim|clientid|client id|export|expand|resize|salvage|rebuild|fsck|mkfs|cryptsetup|luks|iscsi|iqn\.|lvm|vgscan|volume group|/dev/|nobody|mountpoint|in use|attach|detach|stage|publish|unmount|mounting|longhorn-backend|lease|leader|waiting for|still|migrat|hugepage|memory`)

// sameWording is how many lines of one wording are kept from the end of a log.
const sameWording = 2

// trimmedLog keeps the lines that say something about storage, and of equal ones the
// first and the last. The others become empty, so that numbers of lines stay. Of an
// NFS server every line counts: rules count how often clients come and go.
func trimmedLog(log Log) []string {
	server := serverLog.MatchString(log.Container) || slices.ContainsFunc(log.Lines, func(l string) bool { return strings.Contains(l, ": nfs-ganesha-") })
	out := make([]string, len(log.Lines))
	for i, l := range log.Lines {
		if server || logWord.MatchString(l) {
			out[i] = mask.Text(l)
		}
	}
	if server {
		return newest(out, 4*logSize)
	}
	return newest(kept.Newest(out, sameWording), logSize)
}

// logSize is how much of one log a capture keeps.
const logSize = 9 << 9

// newest empties what is too much at the beginning.
func newest(lines []string, left int) []string {
	for i := len(lines) - 1; i >= 0; i-- {
		if left -= len(lines[i]); left < 0 {
			lines[i] = ""
		}
	}
	return lines
}

// serverLog are containers of servers that volumes are mounted from, as charts call them.
var serverLog = pattern.MustCompile(`share-manager|ganesha|nfs-server`)
