package launch

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// short prints a duration as kubectl prints ages.
func short(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 72*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// clean makes the words of another program fit for one line of a report:
// valid text, no control characters, not endless.
func clean(s string) string {
	const enough = 600
	s = strings.ToValidUTF8(s, "?")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > enough {
		for s = s[:enough]; !utf8.ValidString(s); s = s[:len(s)-1] {
			continue
		}
		s += "…"
	}
	return s
}
