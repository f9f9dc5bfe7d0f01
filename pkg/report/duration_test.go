package report

import "testing"

func TestDuration(t *testing.T) {
	t.Parallel()
	const m, h, d = 60, 3600, 86400
	for want, s := range map[string]int64{
		"0s": -5, "35s": 35, "119s": 119, "2m": 120, "2m5s": 125, "22m": 22 * m, "179m": 179 * m, "3h": 3 * h, "3h10m": 3*h + 10*m, "9h": 9*h + 5*m,
		"47h": 47 * h, "2d": 48 * h, "5d23h": 5*d + 23*h, "8d": 8*d + 3*h, "400d": 400 * d, "2y10d": 740 * d, "9y": 9 * 365 * d,
	} {
		if got := Duration(s); got != want {
			t.Errorf("%d s is %s, want %s", s, got, want)
		}
	}
}
