package message

import (
	"strings"
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ name, line, want string }{
		{"RFC 3339", "2026-01-02T09:59:00Z level=error", "2026-01-02T09:59:00Z"},
		{"logrus", `time="2026-01-02T09:59:00+01:00" level=error`, "2026-01-02T08:59:00Z"},
		{"klog of this year", "E0102 09:00:01.5 1 x.go:1] msg", "2026-01-02T09:00:01Z"},
		{"klog of last year", "E1231 23:59:59.0 1 x.go:1] msg", "2025-12-31T23:59:59Z"},
		{"syslog", "Jan  2 09:58:00 node kubelet[1]: x", "2026-01-02T09:58:00Z"},
		{"syslog, another date in the message", "Jan  2 09:58:00 node kubelet[1]: No retries permitted until 2026-01-02 11:58:00.5 +0000 UTC", "2026-01-02T09:58:00Z"},
		{"klog, another date in the message", "E0102 09:58:00.5 1 x.go:1] No retries permitted until 2026-01-02 09:59:30.5 +0000 UTC", "2026-01-02T09:58:00Z"},
		{"klog behind the date of the runtime", "2026-01-02T09:58:00.1Z stderr F E0102 11:58:00.5 1 x.go:1] msg", "2026-01-02T09:58:00Z"},
		{"go log", "2026/01/02 09:58:00 x", "2026-01-02T09:58:00Z"},
		{"JSON, the date last", `{"level":"warn","message":"` + strings.Repeat("a long path ", 30) + `","timestamp":"2026-01-02T09:58:00.5Z"}`, "2026-01-02T09:58:00Z"},
		{"JSON, another date in the message", `{"level":"error","msg":"since 2025-12-01T00:00:00Z","time":"2026-01-02T09:58:00Z"}`, "2026-01-02T09:58:00Z"},
		{"JSON, seconds", `{"level":"error","ts":1767347880.25,"msg":"x"}`, "2026-01-02T09:58:00Z"},
		{"JSON, milliseconds", `{"ts":1767347880250.125,"caller":"x.go:1","msg":"x"}`, "2026-01-02T09:58:00Z"},
		{"JSON, no date", `{"level":"error"}`, "0001-01-01T00:00:00Z"},
		{"none", "plain words", "0001-01-01T00:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Date(tt.line, now).Truncate(time.Second).Format(time.RFC3339); got != tt.want {
				t.Errorf("Date(%q) = %s, want %s", tt.line, got, tt.want)
			}
		})
	}
}
