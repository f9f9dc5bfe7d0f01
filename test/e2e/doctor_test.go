package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// document is what these tests read of the public report.
type document struct {
	Kind        string
	Verdict     string
	RootCauses  []cause
	Findings    []cause
	Symptoms    []named
	Unexplained []named
	NotChecked  []struct{ Need, Node, Reason, Detail string }
	Error       string
}

type named struct {
	Name    string
	Message string
	Past    bool
	Next    []remedy
}

type subject struct{ Kind, Namespace, Name, Node string }

// String is the usual form: "Pod shop/db-0", "Device worker-2/7:0".
func (s subject) String() string {
	switch {
	case s.Kind == "Device" || s.Kind == "Process":
		return s.Kind + " " + s.Node + "/" + s.Name
	case s.Namespace != "":
		return s.Kind + " " + s.Namespace + "/" + s.Name
	}
	return s.Kind + " " + s.Name
}

type cause struct {
	Name      string
	Certainty string
	Subject   subject
	Message   string
	Explains  []string
	Remedies  []remedy
}

type remedy struct {
	Name, Title                  string
	Risk                         string
	Commands, Verify, Afterwards []string
}

// answer is one run of the tool.
type answer struct {
	document
	code   int
	out    string
	errors string
	took   time.Duration
	memory int64 // its most, in KiB
}

// doctor runs kubectl mountdoctor and reads its report. No pod may be left.
func doctor(t *testing.T, args ...string) answer {
	t.Helper()
	a := ask(t, args...)
	noPods(t)
	rehearse(t, a)
	return a
}

// ask is doctor beside other questions, whose pods may be there.
func ask(t *testing.T, args ...string) answer {
	t.Helper()
	a := plugin(t, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(a.out), &a.document); err != nil {
		t.Fatalf("kubectl mountdoctor %s: exit code %d, no report: %v\n%s\n%s", strings.Join(args, " "), a.code, err, a.out, a.errors)
	}
	return a
}

// plugin runs the tool as kubectl runs plugins: the program is found on PATH.
func plugin(t *testing.T, args ...string) answer {
	t.Helper()
	return run(t, command(args...))
}

func command(args ...string) *exec.Cmd {
	return exec.Command("kubectl", append([]string{"mountdoctor"}, args...)...)
}

func run(t *testing.T, cmd *exec.Cmd) answer {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	a := answer{code: cmd.ProcessState.ExitCode(), out: out.String(), errors: errs.String(), took: time.Since(begin).Round(10 * time.Millisecond)}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		a.memory = used.Maxrss
	}
	t.Logf("%s: exit code %d after %s", strings.Join(cmd.Args, " "), a.code, a.took)
	return a
}

// root asserts the first root cause; an empty word asserts nothing.
func (a answer) root(t *testing.T, name, about, certainty string) cause {
	t.Helper()
	if len(a.RootCauses) == 0 {
		t.Fatalf("no root cause, want %s on %s; %s", name, about, a.short())
	}
	c := a.RootCauses[0]
	if c.Name != name || about != "" && c.Subject.String() != about || certainty != "" && c.Certainty != certainty {
		t.Errorf("first root cause is %s on %s (%s), want %s on %s (%s); %s",
			c.Name, c.Subject, c.Certainty, name, about, certainty, a.short())
	}
	if a.Verdict == "broken" && a.code != 2 {
		t.Errorf("exit code %d with a broken verdict, want 2", a.code)
	}
	return c
}

func (a answer) short() string {
	var s strings.Builder
	s.WriteString("verdict " + a.Verdict)
	for _, c := range append(a.RootCauses, a.Findings...) {
		s.WriteString("\n  " + c.Certainty + " " + c.Name + " on " + c.Subject.String() + ": " + c.Message)
	}
	for _, n := range a.Symptoms {
		if !n.Past {
			s.WriteString("\n  symptom " + n.Name + ": " + n.Message)
		}
	}
	for _, n := range a.NotChecked {
		s.WriteString("\n  not checked " + n.Need + " " + n.Node + " " + n.Reason + ": " + n.Detail)
	}
	return s.String() + "\n" + a.errors
}

// neverAdvises asserts that no remedy anywhere has one of these names.
func (a answer) neverAdvises(t *testing.T, names ...string) {
	t.Helper()
	for _, c := range append(a.RootCauses, a.Findings...) {
		for _, r := range c.Remedies {
			for _, n := range names {
				if r.Name == n {
					t.Errorf("%s advises %s: %s", c.Name, n, r.Title)
				}
			}
		}
	}
}

// says asserts that some text of the report or of the messages matches.
func (a answer) says(t *testing.T, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(a.out) && !regexp.MustCompile(p).MatchString(a.errors) {
			t.Errorf("nothing says %q; %s", p, a.short())
		}
	}
}

// noPods asserts that no probe pod is left, and removes what is, for the sake of
// the next scenario. Deletion takes the kubelet a moment.
func noPods(t *testing.T) {
	t.Helper()
	left := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if left = field("{.items[*].metadata.name}", "-A", "pods", "-l", "mountdoctor.io/probe"); left == "" {
			return
		}
	}
	t.Errorf("probe pods are left: %s", left)
	if out := plugin(t, "cleanup", "--yes", "--all"); out.code != 0 {
		t.Error(out.out, out.errors)
	}
}

// nothingLeft asserts that neither pod nor process of the tool is left anywhere.
func nothingLeft(t *testing.T) {
	t.Helper()
	noPods(t)
	for _, n := range lab.Nodes {
		if cluster.On(n.Name) {
			noProcess(t, n.Name)
		}
	}
}

func noProcess(t *testing.T, node string) {
	t.Helper()
	var left string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		left, _ = cluster.Shell(node, `for p in /proc/[0-9]*; do
	case "$(readlink $p/exe; tr '\0' ' ' <$p/cmdline)" in *mountdoctor-agen[t]*) echo "$p: $(tr '\0' ' ' <$p/cmdline)";; esac
done 2>/dev/null`)
		if left == "" {
			return
		}
	}
	t.Errorf("processes are left on %s: %s", node, left)
}
