//go:build unix

package launch

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// probeOne looks at one node and returns its only gap.
func probeOne(t *testing.T, s *server, o Options) (*snapshot.NodeRecord, snapshot.Gap) {
	t.Helper()
	records, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), o)
	if len(gaps) != 1 {
		t.Fatalf("gaps: %+v", gaps)
	}
	t.Logf("%+v", gaps[0])
	return records["worker-1"], gaps[0]
}

func wantGap(t *testing.T, g snapshot.Gap, reason, words string) {
	t.Helper()
	if g.Reason != reason || !regexp.MustCompile(words).MatchString(g.Detail) {
		t.Errorf("gap %+v, want reason %s and %q", g, reason, words)
	}
}

// TestMutated: a pod that comes back otherwise than it was sent is ended before
// anything runs in it, whenever the change is made.
func TestMutated(t *testing.T) {
	t.Parallel()
	evil := func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.tenant.example/evil:1" }
	for _, test := range []struct {
		name   string
		mutate func(stage string, p *corev1.Pod)
		made   int // pods that were made nevertheless
	}{
		{"already in the dry run", func(_ string, p *corev1.Pod) { evil(p) }, 0},
		{"only when it is made", func(stage string, p *corev1.Pod) {
			if stage == "create" {
				evil(p)
			}
		}, 1},
		{"while it starts", func(stage string, p *corev1.Pod) {
			if stage == "get" {
				p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}}
			}
		}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t))
			s.mutate = test.mutate
			s.execute = func(http.ResponseWriter, *http.Request) bool {
				t.Error("a command was run in the pod")
				return false
			}
			record, gap := probeOne(t, s, optionsFor(t, answers))
			wantGap(t, gap, snapshot.PodRejected, `changed the probe pod: spec\.(containers\[0\]\.image|ephemeralContainers).*nothing was run in it`)
			if record != nil || len(s.created) != test.made || len(s.left()) > 0 {
				t.Errorf("record %v, %d pods made, want %d, left %v", record, len(s.created), test.made, s.left())
			}
		})
	}
}

// TestReplaced: a pod of the same name with another UID is not ours: nothing that
// it says is believed, and it is not deleted.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, at string }{
		{"while it starts", "/pods/" + NamePrefix}, {"while the agent is uploaded", "umask"}, {"while the agent runs", "--record"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t))
			s.on = func(r *http.Request) int {
				if strings.Contains(r.URL.Path+" "+r.URL.RawQuery, test.at) && r.Method != http.MethodPost && r.Method != http.MethodDelete {
					s.lock.Lock()
					for _, p := range s.pods {
						p.UID = "of-a-stranger"
					}
					s.lock.Unlock()
				}
				return 0
			}
			record, gap := probeOne(t, s, optionsFor(t, answers))
			wantGap(t, gap, snapshot.PodRejected, `somebody replaced the probe pod`)
			if record != nil || len(s.left()) != 1 {
				t.Errorf("record %v, left %v, want the stranger's pod", record, s.left())
			}
		})
	}
}

// TestNameTaken: a pod that has the name already is not touched.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	s.refuse = func(dry bool, p *corev1.Pod) *metav1.Status {
		if dry {
			return nil
		}
		s.lock.Lock()
		s.pods[p.Name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: "of-a-stranger"}}
		s.lock.Unlock()
		f := failure(http.StatusConflict, metav1.StatusReasonAlreadyExists, `pods "x" already exists`)
		return &f
	}
	_, gap := probeOne(t, s, optionsFor(t, answers))
	wantGap(t, gap, snapshot.PodRejected, `exists already; it is not touched`)
	if len(s.left()) != 1 {
		t.Errorf("left %v, want the stranger's pod", s.left())
	}
}

// TestLostAnswerOfAStranger: no answer came for the creation, and a pod of the name
// is there that is not ours.
func TestLostAnswerOfAStranger(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	s.refuse = func(dry bool, p *corev1.Pod) *metav1.Status {
		if dry {
			return nil
		}
		s.lock.Lock()
		s.pods[p.Name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: "of-a-stranger"}}
		s.lock.Unlock()
		f := failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server did not answer in time")
		return &f
	}
	_, gap := probeOne(t, s, optionsFor(t, answers))
	wantGap(t, gap, snapshot.Timeout, `did not answer`)
	if len(s.left()) != 1 {
		t.Errorf("left %v, want the stranger's pod", s.left())
	}
}

// TestUnproven: an image whose programs say that the right bytes arrived, and that
// runs others; and one that answers with what an agent said before.
func TestUnproven(t *testing.T) {
	t.Parallel()
	old := t.TempDir()
	if err := os.WriteFile(filepath.Join(old, "answer"), frames(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, program string }{
		{"no proof", "cat " + old + "/answer"},
		{"a proof of another program", "read -r NONCE; echo mountdoctor-agent/1; echo proof 00; cat"},
		{"the proof of another run", "echo mountdoctor-agent/1; echo proof $(echo x | sha256sum | cut -c1-64); tail -n +2 " + old + "/answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t))
			_, sum, _ := script(t, answers)("amd64")
			liar := packed(t, []byte("#!/bin/sh\ncase $1 in\nversion) ;;\nsha256) echo "+sum+";;\n*) "+test.program+";;\nesac\n"))
			o := optionsFor(t, answers)
			o.Agent = func(arch string) ([]byte, string, bool) { p, _, ok := liar(arch); return p, sum, ok }
			record, gap := probeOne(t, s, o)
			wantGap(t, gap, snapshot.PodRejected, `did not prove to be the agent that was sent`)
			if record != nil {
				t.Error("something was believed")
			}
		})
	}
}

// TestServerStalls: the API server answers late and then says that the pod is as it
// was made. The kubelet is not to blame for what nobody could hear of it.
func TestServerStalls(t *testing.T) {
	t.Parallel()
	quiet := silence{since: now}
	at := now
	for _, step := range []time.Duration{time.Second, 20 * time.Second, time.Second} {
		asked := at
		if step < 2*time.Second {
			asked = at.Add(step - 10*time.Millisecond)
		}
		at = at.Add(step)
		quiet.heard(asked, at)
	}
	if quiet.kubelet != time.Second || quiet.server != 20*time.Second {
		t.Errorf("the kubelet was silent for %s, the server for %s", quiet.kubelet, quiet.server)
	}
}

// TestServerSilent: what is said when the time runs out, by who was silent.
func TestServerSilent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, words, not string
		stall            func(r *http.Request) bool
		agent            string
	}{
		{"at the begin", `the API server, or a proxy before it, did not answer for \d+s, so nothing is known of the node`, "kubelet",
			func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.Contains(r.URL.Path, NamePrefix)
			}, answers},
		{"with the stream", `stream stalled between the API server and the container, or in a proxy`, "kubelet",
			func(*http.Request) bool { return false }, `exec /bin/sleep 100`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t))
			o := optionsFor(t, test.agent)
			o.Timeout = promptly + 4*time.Second
			s.on = func(r *http.Request) int {
				if test.stall(r) {
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}
				return 0
			}
			_, gap := probeOne(t, s, o)
			wantGap(t, gap, snapshot.Timeout, test.words)
			if strings.Contains(gap.Detail, test.not) {
				t.Errorf("%q speaks of the %s", gap.Detail, test.not)
			}
		})
	}
}
