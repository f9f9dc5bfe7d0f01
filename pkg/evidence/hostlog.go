package evidence

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// HostLine is a line of a text log that a machine keeps itself, in which the kubelet, an initiator
// and the kernel speak.
type HostLine struct {
	Node, Path, Text string
	Number           int // 1-based
	now              time.Time
	zone             time.Duration // the machine's time is so much later than UTC
}

// At is when the line was written, or zero. A date without a zone is in the machine's time.
func (l HostLine) At() time.Time {
	at, zoned := message.Dated(l.Text, l.now)
	if at.IsZero() || zoned {
		return at
	}
	return at.Add(-l.zone)
}

// Locator says where the line stands.
func (l HostLine) Locator() string { return fmt.Sprintf("%s:%d", l.Path, l.Number) }

// Evidence quotes the line.
func (l HostLine) Evidence() report.Evidence { return FromNode(l.Node, l.Locator(), l.Text) }

// HostLines are the lines of all text logs of a machine but those of audit, by path.
func HostLines(x *snapshot.Index, view *snapshot.NodeView) iter.Seq[HostLine] {
	return func(yield func(HostLine) bool) {
		if view == nil {
			return
		}
		zone := x.Memo("evidence.zoneOf/"+view.Name, func() any { return zoneOf(x, view) }).(time.Duration)
		for _, path := range hostLogs(view) {
			n := 0
			for text := range strings.SplitSeq(view.Facts.Files[path].Content, "\n") {
				n++
				if !yield(HostLine{Node: view.Name, Path: path, Number: n, Text: text, now: x.TakenAt, zone: zone}) {
					return
				}
			}
		}
	}
}

func hostLogs(view *snapshot.NodeView) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(view.Facts.Files)), func(path string) bool {
		return !strings.HasPrefix(path, "var/log/") || strings.Contains(path, "/audit/")
	})
}

// zoneOf is how much later than UTC the clock is by which a machine dates its logs (/etc/localtime is not
// recorded). A record of the kernel in a syslog tells it, by the seconds since the boot that
// stand in it. Else a line from the future does: zones are whole quarters of an hour apart,
// and the newest line is a moment old. A zone behind UTC shows itself by the kernel alone.
func zoneOf(x *snapshot.Index, view *snapshot.NodeView) time.Duration {
	var newest time.Time
	var kernels []time.Duration
	boot, now := view.Facts.Identity.Boot(), view.Facts.Identity.Clock
	if now.IsZero() {
		now = x.TakenAt
	}
	for _, path := range hostLogs(view) {
		for line := range backwards(view.Facts.Files[path].Content) {
			at, zoned := message.Dated(line, x.TakenAt)
			if at.IsZero() || zoned {
				continue
			}
			if up, ok := uptime(line); ok && !boot.IsZero() {
				kernels = append(kernels, at.Sub(boot.Add(up)))
			}
			if at.After(newest) && at.Sub(now) < differ+latest { // else it is no date of the line
				newest = at
			}
		}
	}
	ahead := newest.Sub(now)
	for _, k := range kernels {
		if zone := k.Round(quarter); isZone(zone) && (k-zone).Abs() < differ && ahead-zone < differ {
			return zone
		}
	}
	if zone := (ahead + quarter - 1).Truncate(quarter); ahead >= differ && isZone(zone) {
		return zone
	}
	return 0
}

const (
	quarter = 15 * time.Minute
	differ  = quarter / 3 // clocks of machines differ by less, mostly
	latest  = 14 * time.Hour
)

// isZone tells whether a difference can be that of a time zone; that of a record of an earlier boot can be any.
func isZone(d time.Duration) bool { return -12*time.Hour <= d && d <= latest }

// backwards are the last lines of a log, the newest first.
func backwards(content string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for range 200 {
			i := strings.LastIndexByte(content, '\n')
			if !yield(content[i+1:]) || i < 0 {
				return
			}
			content = content[:i]
		}
	}
}

// uptime is the time since the boot in a record of the kernel that a syslog daemon wrote down
// (printk.time): "kernel: [ 1234.567890] text".
func uptime(line string) (time.Duration, bool) {
	_, rest, ok := strings.Cut(line, " kernel: [")
	if !ok {
		return 0, false
	}
	seconds, _, ok := strings.Cut(rest, "]")
	f, err := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
	return time.Duration(f * float64(time.Second)), ok && err == nil
}
