package bundle

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// dmesgLine is a line of "dmesg -HTx": "kern  :err   : [Mon May  4 09:58:12 2026] text".
var dmesgLine = regexp.MustCompile(`^(?:(\w+)\s*:(\w+)\s*: )?\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?(.*)$`)

// levels are the names of dmesg(1) in the order of their numbers.
var levels = []string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"}

// dmesg writes the lines of dmesg as /dev/kmsg would have given them, and the boot from
// which their times are counted. dmesg -T adds the uptime to the time of day, so its
// times are those of the wall as long as the machine did not sleep.
func dmesg(log []byte) (kernel []byte, boot time.Time) {
	var out bytes.Buffer
	sequence := 0
	for line := range bytes.Lines(log) {
		m := dmesgLine.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		at, err := time.Parse("Mon Jan _2 15:04:05 2006", string(m[3]))
		if err != nil {
			continue
		}
		if boot.IsZero() {
			// Only a ring that still has its first record reaches back to the boot.
			boot = at.Add(-time.Hour)
			if bytes.HasPrefix(m[4], []byte("Linux version ")) {
				boot = at
			}
		}
		sequence++
		fmt.Fprintf(&out, "%d,%d,%d,-;%s\n", level(string(m[2])), sequence, at.Sub(boot).Microseconds(), strings.ReplaceAll(string(m[4]), `\`, `\x5c`))
	}
	return out.Bytes(), boot
}

func level(name string) int {
	for i, l := range levels {
		if l == name {
			return i
		}
	}
	return 6
}
