//go:build unix

package launch

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var founding = []string{"founding-multipathd-busy", "founding-rbd-node-exporter", "founding-rwx-hostname-clash", "founding-remount-subpath"}

// TestLive is the whole way on a cluster that is served from a case: objects
// from its API server, node facts from pods whose agents replay its recordings.
// The causes are those of the saved snapshot.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, name := range founding {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("..", "..", "testdata", "cases", name)
			s, q := diagnoseLive(t, dir, nil)
			if diff := cmp.Diff(roots(t, dir, q, Nodes), names(s)); diff != "" {
				t.Errorf("causes (-saved +live):\n%s", diff)
			}
		})
	}
}

// TestLiveRefused: without the nodes the API half is reported, and each node stands
// under "not checked" with the words of who refused.
func TestLiveRefused(t *testing.T) {
	t.Parallel()
	const words = `pods "x" is forbidden: violates PodSecurity "baseline:latest"`
	dir := filepath.Join("..", "..", "testdata", "cases", founding[0])
	r, _ := diagnoseLive(t, dir, func(s *server) {
		s.refuse = func(bool, *corev1.Pod) *metav1.Status {
			f := failure(403, metav1.StatusReasonForbidden, words)
			return &f
		}
	})
	if len(r.Symptoms) == 0 || r.Verdict == report.Healthy {
		t.Errorf("verdict %s, symptoms %v", r.Verdict, r.Symptoms)
	}
	if !slices.ContainsFunc(r.NotChecked, func(n report.NotChecked) bool {
		return n.Reason == snapshot.PodRejected && strings.Contains(n.Detail, words)
	}) {
		t.Errorf("not checked: %+v", r.NotChecked)
	}
	for _, c := range r.RootCauses {
		if c.Certainty == report.Certain && c.Layer == "device" {
			t.Errorf("%s is certain without a look at the node", c.Name)
		}
	}
}

// diagnoseLive collects, probes and evaluates.
func diagnoseLive(t *testing.T, dir string, arrange func(*server)) (*report.Report, Question) {
	t.Helper()
	ask, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q := questionOf(string(ask))
	cluster, err := testcluster.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	kubelets := newServer(t, newSandbox(t))
	if arrange != nil {
		arrange(kubelets)
	}
	cluster.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		ours := r.Method == http.MethodPost || strings.Contains(r.URL.Path, NamePrefix) || strings.Contains(r.URL.RawQuery, "mountdoctor")
		if ours {
			kubelets.ServeHTTP(w, r)
		}
		return ours
	}
	config := &rest.Config{Host: cluster.URL, QPS: 1000, Burst: 1000}
	s, err := collect.Collect(context.Background(), config, collect.Question{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name}, collect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.TakenAt = saved.TakenAt // ages are those of the case
	o := Options{Timeout: 30 * time.Second, Agent: replay(t, kubelets, saved)}
	records, gaps := Probe(context.Background(), config, NewPlan(snapshot.NewIndex(s), q, o), o)
	s.Nodes, s.Gaps = records, append(s.Gaps, gaps...)
	if left := kubelets.left(); len(left) > 0 {
		t.Errorf("pods left behind: %v", left)
	}
	t.Logf("looked at %v; gaps %+v", slices.Sorted(maps.Keys(records)), gaps)
	return causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name}), q
}

// replay is an agent that answers with what the real one finds in the recording of
// the node that its pod runs on.
func replay(t *testing.T, kubelets *server, saved *snapshot.Snapshot) func(string) ([]byte, string, bool) {
	t.Helper()
	dir := t.TempDir()
	for name, record := range saved.Nodes {
		recorded, err := host.ParseRecording(record.Recording)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := agent.Stream(context.Background(), recorded, &out, true, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubelets.sandbox.node = func(pod string) string {
		kubelets.lock.Lock()
		defer kubelets.lock.Unlock()
		return kubelets.pods[pod].Spec.NodeName
	}
	return scriptIn(t, dir, answers)
}
