package vm

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/preflight"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	image  = flag.String("image", "", "folder that image/build.sh made")
	binary = flag.String("agent", "", "static agent of amd64")
	keep   = flag.String("keep", "", "write the cases to this folder, and results of boots that were kept there are read again")
)

// bootLimit is far above the slowest boot on two busy cores.
const bootLimit = 14 * time.Minute

// agentLimit is what the agent may take in the emulated machine, whose processors
// are about ten times slower than real ones. Where something hangs it waits for
// its own deadlines, never for the kernel.
const agentLimit = 65 * time.Second

func TestScenarios(t *testing.T) {
	if *image == "" || *binary == "" {
		t.Skip("SKIP: the virtual machine tests did NOT run: -image and -agent are not given; use run.sh")
	}
	for _, b := range boots {
		t.Run(b.script, func(t *testing.T) {
			t.Parallel()
			out := boot(t, b.script, b.two, b.scenarios)
			for _, s := range b.scenarios {
				t.Run(s.name, func(t *testing.T) { check(t, filepath.Join(out, s.name), s) })
			}
		})
	}
}

func boot(t *testing.T, script string, two bool, scenarios []scenario) string {
	t.Helper()
	share := t.TempDir()
	if *keep != "" {
		share = filepath.Join(*keep, script)
		if _, err := os.Stat(filepath.Join(share, "out", "finished")); err == nil {
			return filepath.Join(share, "out")
		}
		if err := os.MkdirAll(share, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go answer(ctx, filepath.Join(share, "out"), scenarios)
	started := time.Now()
	start := Machine{Image: *image, Agent: *binary}.Boot
	if two {
		start = Machine{Image: *image, Agent: *binary}.BootTwo
	}
	out, err := start(ctx, script, share, bootLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s", script, time.Since(started).Round(time.Second))
	return out
}

// check holds one scenario against what is wanted: the agent came to an end by
// itself and left nothing behind, and the diagnosis is right.
func check(t *testing.T, dir string, s scenario) {
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the agent took %s", r.Took.Round(100*time.Millisecond))
	if r.Left != "" || r.Code != "0" {
		t.Errorf("the agent ended with code %q and left %q", r.Code, r.Left)
	}
	if r.Took > agentLimit {
		t.Errorf("the agent took %s", r.Took)
	}
	if s.sessions != (bounds{}) {
		if n := len(r.Sessions); n < 2 {
			t.Error("the server's sessions were not counted")
		} else if begun := r.Sessions[n-1] - r.Sessions[0]; begun < s.sessions.least || begun > s.sessions.most {
			t.Errorf("%d sessions began", begun)
		}
	}
	if s.frees && r.Above != "" {
		t.Errorf("after the printed steps %s is still on the disk", r.Above)
	}
	for name, state := range r.Facts.Status {
		if state.State != "ok" {
			t.Logf("probe %s: %s after %s: %s", name, state.State, state.Elapsed.Round(time.Millisecond), state.Detail)
		}
	}
	for _, problem := range r.Facts.Problems {
		t.Logf("problem: %+v", problem)
	}
	replay(t, r)
	caseDir := t.TempDir()
	if *keep != "" {
		caseDir = filepath.Join(*keep, "cases", s.name)
	}
	if err := WriteCase(caseDir, r, s.wanted(r), s.state(), s.question()); err != nil {
		t.Fatal(err)
	}
	got, err := corpus.Run(caseDir, causes.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	if got.Unimplemented != "" {
		t.Logf("the catalog has no %s yet: only wrong causes were looked for", got.Unimplemented)
	}
	for _, note := range got.Notes {
		t.Logf("note: %s", note)
	}
	for _, failure := range got.Failures {
		t.Error(failure)
	}
	preflights(t, caseDir, s.ready)
	if t.Failed() {
		t.Log(strings.TrimSpace(got.Text))
		if done, err := os.ReadFile(filepath.Join(dir, "cured")); err == nil {
			t.Logf("what the steps said:\n%s", done)
		}
	}
}

// preflights holds what preflight says of the machines against what is wanted of single
// checks.
func preflights(t *testing.T, caseDir string, want map[string]string) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	s, err := snapshot.Load(caseDir)
	if err != nil {
		t.Fatal(err)
	}
	var storage []report.Storage
	for _, kind := range []string{"longhorn-v1", "longhorn-rwx", "nfs", "smb"} {
		storage = append(storage, report.Storage{Name: kind, Because: "asked for"})
	}
	p := preflight.Run(snapshot.NewIndex(s), slices.Sorted(maps.Keys(s.Nodes)), storage)
	got := map[string]string{}
	for _, c := range p.Nodes[0].Checks {
		got[c.Name] = c.Outcome
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("preflight: %s is %q, want %q", name, got[name], outcome)
		}
	}
}
