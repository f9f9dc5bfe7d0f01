package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestVouches: whoever runs a pod writes its log, and may have removed the pod since.
func TestVouches(t *testing.T) {
	t.Parallel()
	pod := func(ns, name string, volumes ...corev1.Volume) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: corev1.PodSpec{Volumes: volumes}}
	}
	host := corev1.Volume{Name: "root", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: []*corev1.Pod{
		pod("shop", "web"), pod("tools", "agent", host), pod("kube-system", "controller"),
	}}})
	for _, test := range []struct {
		ns, pod string
		want    bool
	}{
		{"shop", "web", false}, {"shop", "gone", false}, {"tools", "agent", true}, {"tools", "gone", false},
		{"kube-system", "controller", true}, {"kube-system", "gone", true},
	} {
		if got := evidence.Vouches(x, snapshot.Log{Namespace: test.ns, Pod: test.pod}); got != test.want {
			t.Errorf("log of %s/%s: %v, want %v", test.ns, test.pod, got, test.want)
		}
	}
}

// TestLineAt: a line without a date is of the record that the dated one above it begins.
func TestLineAt(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)})
	dates := func(lines ...string) (out []string) {
		for l := range evidence.Lines([]snapshot.Log{{Lines: lines}}) {
			at := ""
			if d := l.At(x); !d.IsZero() {
				at = d.Format("15:04")
			}
			out = append(out, at)
		}
		slices.Reverse(out)
		return out
	}
	if got := dates("before", "2026-01-02T11:58:00Z begins", "goes on", "and on", "2026-01-02T11:59:00Z next"); !slices.Equal(got, []string{"", "11:58", "11:58", "11:58", "11:59"}) {
		t.Errorf("dates: %q", got)
	}
}

// TestHostLines: a machine dates its logs in its own time, and the kernel's records or a line from the future tell how late that is.
func TestHostLines(t *testing.T) {
	t.Parallel()
	takenAt := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ log, want string }{
		"UTC":                          {"Jan  2 11:58:00 n1 kubelet[1]: x\nJan  2 11:59:00 n1 kubelet[1]: y", "11:58 11:59"},
		"ahead, by the newest line":    {"Jan  2 12:50:00 n1 kubelet[1]: x\nJan  2 13:59:00 n1 kubelet[1]: y", "10:50 11:59"},
		"ahead, by half an hour":       {"I0102 17:20:00.1 1 a.go:1] x\nI0102 17:28:00.1 1 a.go:1] y", "11:50 11:58"},
		"behind, by the kernel":        {"Jan  2 06:30:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\nJan  2 06:59:00 n1 kubelet[1]: y", "11:30 11:59"},
		"of an earlier boot, then UTC": {"Jan  2 07:30:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\nJan  2 11:59:00 n1 kubelet[1]: y", "07:30 11:59"},
		"it speaks of a date to come":  {"Jan  2 06:30:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\ncertificate ends at 2026-06-01 00:00:00", "11:30 05:00"},
		"of a boot days ago":           {"Dec 30 11:28:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\nDec 30 11:59:00 n1 kubelet[1]: y", "11:28 11:59"},
		"a record of each of two":      {"Jan  2 04:20:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\nJan  2 06:30:00 n1 kernel: [  5400.000000] sd 0:0:0:0: x\nJan  2 06:59:00 n1 kubelet[1]: y", "09:20 11:30 11:59"},
		"the clock is a little fast":   {"Jan  2 11:59:00 n1 kubelet[1]: x\nJan  2 12:01:00 n1 kubelet[1]: y", "11:59 12:01"},
		"the lines say their zone":     {"2026-01-02T13:58:00+02:00 n1 kubelet[1]: x\n2026-01-02T13:59:00+02:00 n1 kubelet[1]: y", "11:58 11:59"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := &probes.Facts{Files: map[string]probes.File{"var/log/syslog": {Content: test.log}, "var/log/audit/audit.log": {Content: "x"}}}
			facts.Identity.Clock, facts.Identity.Uptime = takenAt, 2*time.Hour
			x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: takenAt})
			var got []string
			for l := range evidence.HostLines(x, &snapshot.NodeView{Name: "n1", Facts: facts}) {
				got = append(got, l.At().Format("15:04"))
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
}
