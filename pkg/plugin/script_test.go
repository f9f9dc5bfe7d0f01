package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestMain lets the scripts call this test binary as the plugin.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-mountdoctor": func() {
			Clock = scripted
			os.Exit(Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
		},
	})
}

// scripted is the time of a script: $NOW, else before all snapshots, so that none is
// old.
func scripted() time.Time {
	at, _ := time.Parse(time.RFC3339, os.Getenv("NOW"))
	return at
}

// TestScripts runs testdata/script: the command line as a user meets it.
func TestScripts(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Abs("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CASES", cases)
			env.Setenv("HOSTILE", filepath.Join(cases, "..", "hostile"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "no-kubeconfig"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs the plugin and compares its exit code: exits 2 pvc data -n shop.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS…")
	}
	err := ts.Exec("kubectl-mountdoctor", args[1:]...)
	got := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = string(rune('0' + exit.ExitCode()))
	} else if err != nil {
		ts.Fatalf("run: %v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
