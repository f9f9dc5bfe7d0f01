//go:build unix

package launch

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestInterrupt presses Ctrl-C at each stage: the run ends at once, the gap says
// so, and no pod is left.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stage string
		at    func(r *http.Request) bool
		agent string
	}{
		{stage: "sweep", at: func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/pods")
		}},
		{stage: "dry run", at: func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("dryRun") }},
		{stage: "create", at: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods") && !r.URL.Query().Has("dryRun")
		}},
		{stage: "wait", at: func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.Contains(r.URL.Path, NamePrefix)
		}},
		{stage: "upload", at: func(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "umask") }},
		{stage: "run", at: func(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "--record") }},
	} {
		t.Run(test.stage, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s.on = func(r *http.Request) int {
				if test.at(r) {
					cancel()
				}
				return 0
			}
			begin := time.Now()
			records, gaps := Probe(ctx, s.config(), planOf("worker-1", "worker-2"), optionsFor(t, `exec /bin/sleep 100`))
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			if len(records) > 0 || len(gaps) != 2 {
				t.Errorf("records %v, gaps %+v", records, gaps)
			}
			for _, g := range gaps {
				if g.Reason != snapshot.Timeout || !strings.Contains(g.Detail, "interrupted") {
					t.Errorf("gap %+v", g)
				}
			}
			if left := s.left(); len(left) > 0 {
				t.Errorf("pods left behind: %v", left)
			}
		})
	}
}

// TestLostAnswer: the pod was made and the answer of its creation was lost.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	s.refuse = func(dry bool, pod *corev1.Pod) *metav1.Status {
		if dry {
			return nil
		}
		s.lock.Lock()
		s.pods[pod.Name] = pod
		s.lock.Unlock()
		f := failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server did not answer in time")
		return &f
	}
	_, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), optionsFor(t, answers))
	if len(gaps) != 1 || gaps[0].Reason != snapshot.Timeout {
		t.Errorf("gaps: %+v", gaps)
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("pods left behind: %v", left)
	}
}

// TestTwoRuns: runs at the same time do not disturb each other.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			records, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), optionsFor(t, answers))
			if len(gaps) > 0 || records["worker-1"] == nil {
				t.Errorf("gaps %+v", gaps)
			}
		})
	}
	both.Wait()
	if left := s.left(); len(left) > 0 {
		t.Errorf("pods left behind: %v", left)
	}
}

// TestLeftovers: what a killed run left is removed, and nothing else; how long ago that was is
// told by the API server's clock, whatever this machine's shows.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	s.behind = 6 * time.Hour
	ago := func(d time.Duration) *corev1.Pod {
		p := PodSpec(PodRequest{Node: "worker-9", Namespace: "longhorn-system", Image: "x", Run: "r", Suffix: "old" + d.String(), Lifetime: time.Minute, Now: time.Now().Add(-d)})
		p.CreationTimestamp = metav1.NewTime(time.Now().Add(-s.behind - d))
		return p
	}
	expired, current, copied := ago(time.Hour), ago(0), ago(2*time.Hour)
	copied.Name = "database-0"
	current.Annotations[AnnotationExpiry] = time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339) // a laptop that is far behind made it
	owned := ago(3 * time.Hour)
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "x"}}
	for _, p := range []*corev1.Pod{expired, current, copied, owned} {
		s.pods[p.Name] = p
	}
	_, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), optionsFor(t, answers))
	if len(gaps) > 0 {
		t.Errorf("gaps: %+v", gaps)
	}
	if got, want := strings.Join(s.left(), " "), "database-0 "+current.Name+" "+owned.Name; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}
