//go:build unix

package launch

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func planOf(nodes ...string) Plan {
	p := Plan{Place: Place{Namespace: "longhorn-system", Basis: OfLonghorn}}
	for _, n := range nodes {
		p.Targets = append(p.Targets, Target{Node: n, Arch: "amd64", Images: []Image{{Ref: "longhornio/longhorn-manager@sha256:" + strings.Repeat("0", 64), Reason: Reason{Basis: OfLonghorn}}}})
	}
	return p
}

func optionsFor(t *testing.T, body string) Options {
	t.Helper()
	return Options{Timeout: 20 * time.Second, Agent: script(t, body), Progress: func(node, what string) { t.Logf("%s: %s", node, what) }}
}

// answered checks that every node answered in full and nothing is left.
func answered(t *testing.T, s *server, records map[string]*snapshot.NodeRecord, gaps []snapshot.Gap, nodes ...string) {
	t.Helper()
	if len(gaps) > 0 {
		t.Errorf("gaps: %+v", gaps)
	}
	for _, n := range nodes {
		r := records[n]
		if r == nil {
			t.Errorf("node %s: no record", n)
			continue
		}
		if r.Facts.Identity.Hostname != "node-1" || len(r.Facts.Namespaces) != 1 || len(r.Recording) == 0 {
			t.Errorf("node %s: facts %+v, recording of %d bytes", n, r.Facts.Identity, len(r.Recording))
		}
	}
	if diff := cmp.Diff([]string(nil), s.left()); diff != "" {
		t.Errorf("pods left behind (-want +got):\n%s", diff)
	}
}

// TestProbe is the ordinary way, through both protocols and in containers that
// have more or fewer programs.
func TestProbe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		programs []string
		spdy     bool
	}{
		{name: "programs of this machine"},
		{name: "programs of this machine, SPDY", spdy: true},
		{name: "busybox", programs: []string{"cat", "chmod", "head", "gzip"}},
		{name: "busybox, SPDY", programs: []string{"cat", "chmod", "head", "gzip"}, spdy: true},
		{name: "without gzip", programs: []string{"cat", "chmod", "head"}},
		{name: "without head", programs: []string{"cat", "chmod", "gzip"}},
		{name: "only cat and chmod", programs: []string{"cat", "chmod"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSandbox(t, test.programs...))
			s.noWeb = test.spdy
			records, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), optionsFor(t, answers))
			answered(t, s, records, gaps, "worker-1")
		})
	}
}

// TestProbeMany looks at more nodes than are looked at at once.
func TestProbeMany(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	nodes := strings.Fields("a b c d e f g h i j k l")
	records, gaps := Probe(context.Background(), s.config(), planOf(nodes...), optionsFor(t, answers))
	answered(t, s, records, gaps, nodes...)
	if len(s.created) != len(nodes) {
		t.Errorf("%d pods were made for %d nodes", len(s.created), len(nodes))
	}
}

// TestRealAgent uploads the agent that is embedded in this build and lets it look
// at this machine.
func TestRealAgent(t *testing.T) {
	t.Parallel()
	if _, _, ok := agents.For(runtime.GOARCH); !ok || runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: " + agents.BuiltWithout)
	}
	for _, programs := range [][]string{nil, {"cat", "chmod"}} {
		s := newServer(t, newSandbox(t, programs...))
		plan := planOf("worker-1")
		plan.Targets[0].Arch = runtime.GOARCH
		begin := time.Now()
		records, gaps := Probe(context.Background(), s.config(), plan, Options{})
		t.Logf("took %s", time.Since(begin))
		r := records["worker-1"]
		if len(gaps) > 0 || r == nil {
			t.Fatalf("gaps: %+v", gaps)
		}
		if r.Facts.Identity.Kernel == "" || len(r.Facts.Processes) == 0 || len(r.Recording) == 0 {
			t.Errorf("identity %+v, %d processes, recording of %d bytes", r.Facts.Identity, len(r.Facts.Processes), len(r.Recording))
		}
		if left := s.left(); len(left) > 0 {
			t.Errorf("pods left behind: %v", left)
		}
	}
}
