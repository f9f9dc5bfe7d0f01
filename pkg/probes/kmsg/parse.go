// Package kmsg reads the kernel log: when each record was written, which
// devices it speaks of and what kind of event it reports.
package kmsg

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Bad is a line that is no record of /dev/kmsg.
type Bad struct {
	Line int // 1-based
	Text string
	Err  error
}

// Parse reads the records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg):
// "priority,sequence,microseconds,flags[,more];text", each followed by lines
// " KEY=VALUE" of its dictionary. Records are dated from the moment of the boot.
func Parse(log string, boot time.Time) ([]probes.KernelLine, []Bad) {
	var out []probes.KernelLine
	var bad []Bad
	for n, line := range strings.Split(log, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] == ' ' || line[0] == '\t':
			if len(out) > 0 {
				dictionary(&out[len(out)-1], strings.TrimSpace(line))
			}
		default:
			rec, err := record(line, boot)
			if err != nil {
				bad = append(bad, Bad{n + 1, line, err})
				continue
			}
			out = append(out, rec)
		}
	}
	for i := range out {
		classify(&out[i])
	}
	return out, bad
}

func record(line string, boot time.Time) (probes.KernelLine, error) {
	var k probes.KernelLine
	prefix, text, ok := strings.Cut(line, ";")
	if !ok {
		return k, fmt.Errorf("record has no semicolon")
	}
	fields := strings.Split(prefix, ",")
	if len(fields) < 3 {
		return k, fmt.Errorf("record has %d fields before the semicolon", len(fields))
	}
	prio, err := strconv.Atoi(fields[0])
	if err != nil {
		return k, fmt.Errorf("bad priority %q", fields[0])
	}
	if k.Sequence, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return k, fmt.Errorf("bad sequence %q", fields[1])
	}
	if k.Micros, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
		return k, fmt.Errorf("bad time %q", fields[2])
	}
	k.Priority = prio & 7 // the facility stands above the level (syslog(2))
	k.Text = unescape(text)
	if !boot.IsZero() {
		k.At = boot.Add(time.Duration(k.Micros) * time.Microsecond)
	}
	return k, nil
}

func dictionary(k *probes.KernelLine, pair string) {
	if v, ok := strings.CutPrefix(pair, "DEVICE="); ok {
		k.Device = v
	}
}

// unescape undoes \xNN, which /dev/kmsg writes for control characters and the
// backslash (msg_add_ext_text in kernel/printk/printk.c).
func unescape(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && s[i+1] == 'x' {
			if v, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
