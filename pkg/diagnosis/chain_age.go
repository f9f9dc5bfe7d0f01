package diagnosis

import (
	"fmt"
	"time"
)

// age writes a duration the way kubectl does: two units while the larger one is
// small, one when it is not.
func age(d time.Duration) string {
	s := int(d.Seconds())
	m, h, days := s/60, s/3600, s/86400
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
	case days < 8:
		return two(days, "d", h%24, "h")
	}
	return fmt.Sprintf("%dd", days)
}

func two(a int, unit string, b int, small string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unit)
	}
	return fmt.Sprintf("%d%s%d%s", a, unit, b, small)
}
