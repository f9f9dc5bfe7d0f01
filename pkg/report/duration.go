package report

import "strconv"

// Duration writes a number of seconds as kubectl writes an age: the two units that
// matter (k8s.io/apimachinery, util/duration). Every duration in a report is written
// here.
func Duration(seconds int64) string {
	s := max(seconds, 0)
	m, h := s/60, s/3600
	switch {
	case s < 120:
		return unit(s, "s")
	case m < 10:
		return unit(m, "m") + rest(s%60, "s")
	case m < 180:
		return unit(m, "m")
	case h < 8:
		return unit(h, "h") + rest(m%60, "m")
	case h < 48:
		return unit(h, "h")
	case h < 192:
		return unit(h/24, "d") + rest(h%24, "h")
	case h < 365*24*2:
		return unit(h/24, "d")
	case h < 365*24*8:
		return unit(h/24/365, "y") + rest(h/24%365, "d")
	}
	return unit(h/24/365, "y")
}

func unit(n int64, name string) string { return strconv.FormatInt(n, 10) + name }

// rest is the smaller unit, which nobody writes when there is none of it.
func rest(n int64, name string) string {
	if n == 0 {
		return ""
	}
	return unit(n, name)
}
