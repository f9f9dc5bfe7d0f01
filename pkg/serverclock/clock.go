// Package serverclock tells what the API server's clock shows. Objects and events are stamped
// by it, so whatever their age decides is counted by it and not by the clock of this machine.
package serverclock

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Clock is how far the API server's clock is from that of this machine, by the Date of
// its answers (RFC 9110, 6.6.1): a laptop that is ten minutes ahead would take every fresh event
// for an old one, and the probe pod of a run that goes on for one that was left.
type Clock struct {
	off atomic.Int64 // nanoseconds that the server is ahead
}

// agree is how far apart the clocks may be: a Date has whole seconds, and an answer takes its time.
const agree = 5 * time.Second

// Listen makes a transport that looks at the dates of answers.
func (s *Clock) Listen(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		asked := time.Now()
		answer, err := next.RoundTrip(r)
		if err != nil {
			return answer, err
		}
		if date, bad := http.ParseTime(answer.Header.Get("Date")); bad == nil {
			s.off.Store(int64(date.Sub(asked.Add(time.Since(asked) / 2))))
		}
		return answer, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip asks.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// At is what the server's clock shows at a moment of this machine's.
func (s *Clock) At(local time.Time) time.Time {
	if off := time.Duration(s.off.Load()); off.Abs() > agree {
		return local.Add(off)
	}
	return local
}

// Says tells that the clocks differ; empty: they agree.
func (s *Clock) Says() string {
	switch off := time.Duration(s.off.Load()).Round(time.Second); {
	case off > agree:
		return fmt.Sprintf("this machine's clock is %s behind that of the API server, by which ages are counted", off)
	case off < -agree:
		return fmt.Sprintf("this machine's clock is %s ahead of that of the API server, by which ages are counted", -off)
	}
	return ""
}
