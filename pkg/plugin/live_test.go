package plugin

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
)

// TestLiveScripts runs testdata/script/live: the command line against an API server.
func TestLiveScripts(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Abs("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script/live",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CASES", cases)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "kubeconfig"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "serve": serve, "refuse": refuse},
	})
}

// serve starts an API server with the objects of a case: serve CASE [NEED REASON]…
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args)%2 != 1 {
		ts.Fatalf("usage: serve CASE [NEED REASON]…")
	}
	var refusals []testcluster.Refusal
	for i := 1; i < len(args); i += 2 {
		refusals = append(refusals, testcluster.Refusal{Need: args[i], Reason: args[i+1]})
	}
	server, err := testcluster.Start(filepath.Join(ts.Getenv("CASES"), args[0]), refusals...)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Check(server.Kubeconfig(ts.Getenv("KUBECONFIG")))
}

// refuse starts a server that answers every request with one code, or, with 0,
// one that is gone: refuse CODE.
func refuse(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if len(args) != 1 {
		ts.Fatalf("usage: refuse CODE")
	}
	if _, err := fmt.Sscan(args[0], &code); err != nil {
		ts.Fatalf("usage: refuse CODE")
	}
	server, err := testcluster.Start("")
	ts.Check(err)
	ts.Check(server.Kubeconfig(ts.Getenv("KUBECONFIG")))
	if code == 0 {
		server.Close()
		return
	}
	server.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code, http.StatusText(code), http.StatusText(code))
		return true
	}
	ts.Defer(server.Close)
}
