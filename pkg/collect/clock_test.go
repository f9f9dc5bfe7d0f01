package collect

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// The ages of events are counted by the clock that stamps them: the API server's.
func TestServerClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		off  time.Duration // of the server's clock
		date bool          // the server says it
		says string
	}{
		{"they agree", time.Second, true, ""},
		{"this machine is behind", 10 * time.Minute, true, "10m0s behind"},
		{"this machine is ahead", -2 * time.Hour, true, "2h0m0s ahead"},
		{"an answer without a date", time.Hour, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Date"] = nil
				if c.date {
					w.Header().Set("Date", time.Now().Add(c.off).UTC().Format(http.TimeFormat))
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"gitVersion": "v1.31.2", "groups": []}`))
			}))
			defer server.Close()
			client, err := newClient(&rest.Config{Host: server.URL, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			if err := client.connect(context.Background()); err != nil {
				t.Fatal(err)
			}
			now, want := time.Now(), c.off
			const agree = 5 * time.Second
			if !c.date || c.off < agree && c.off > -agree {
				want = 0
			}
			if got := client.clock.At(now).Sub(now); (got - want).Abs() > agree {
				t.Errorf("the clock differs by %s, want %s", got, want)
			}
			if got := client.clock.Says(); (c.says == "") != (got == "") {
				t.Errorf("it says %q, want %q", got, c.says)
			} else if about := strings.Fields(c.says); len(about) > 1 && !strings.Contains(got, about[1]) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
}
