package render

import (
	"fmt"
	"time"
)

// humanDuration writes a duration as kubectl does: the two units that matter
// (k8s.io/apimachinery, util/duration).
func humanDuration(d time.Duration) string {
	s := int(d.Seconds())
	m, h := s/60, s/3600
	switch {
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case m < 10:
		return two(m, "m", s%60, "s")
	case m < 180:
		return fmt.Sprintf("%dm", m)
	case h < 8:
		return two(h, "h", m%60, "m")
	case h < 48:
		return fmt.Sprintf("%dh", h)
	case h < 192:
		return two(h/24, "d", h%24, "h")
	case h < 365*24*2:
		return fmt.Sprintf("%dd", h/24)
	case h < 365*24*8:
		return two(h/24/365, "y", h/24%365, "d")
	}
	return fmt.Sprintf("%dy", h/24/365)
}

func two(a int, unit string, b int, smaller string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unit)
	}
	return fmt.Sprintf("%d%s%d%s", a, unit, b, smaller)
}
