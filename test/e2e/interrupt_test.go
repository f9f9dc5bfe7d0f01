package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running is a run of the tool that a test disturbs.
type running struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	begin     time.Time
}

// begin starts the tool and waits until its probe pod is in that phase.
func begin(t *testing.T, phase string, args ...string) *running {
	t.Helper()
	r := &running{cmd: command(args...), begin: time.Now()}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if strings.Contains(field("{.items[*].status.phase}", "-A", "pods", "-l", "mountdoctor.io/probe"), phase) {
			return r
		}
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	t.Fatalf("no probe pod became %s; %s%s", phase, r.out.String(), r.errs.String())
	return nil
}

// end waits for the tool, which must not take longer than the limit.
func (r *running) end(t *testing.T, limit time.Duration) answer {
	t.Helper()
	stuck := time.AfterFunc(limit, func() { _ = r.cmd.Process.Kill() })
	_ = r.cmd.Wait()
	if !stuck.Stop() {
		t.Errorf("it had to be killed after %s", time.Since(r.begin))
	}
	a := answer{code: r.cmd.ProcessState.ExitCode(), out: r.out.String(), errors: r.errs.String()}
	t.Logf("%s: exit code %d after %s", strings.Join(r.cmd.Args, " "), a.code, time.Since(r.begin).Round(10*time.Millisecond))
	return a
}

// interruptions: one claim that works, and runs that somebody ends.
func interruptions(t *testing.T) {
	v := claim(t, disk, "interrupted")
	runPod(t, v, "db", "worker-1")
	t.Run("by a signal", interrupted)
	t.Run("without a chance to tidy", killed)
}

// interrupted: Ctrl-C and SIGTERM at two moments leave the report of everything
// else, and no pod.
func interrupted(t *testing.T) {
	for _, phase := range []string{"Pending", "Running"} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			r := begin(t, phase, "pvc", "data", "-n", "interrupted", "-o", "json")
			if err := r.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			a := r.end(t, 20*time.Second)
			if err := json.Unmarshal([]byte(a.out), &a.document); err != nil {
				t.Errorf("%s while %s: exit code %d, no report: %v: %s%s", signal, phase, a.code, err, a.out, a.errors)
			} else {
				notSeen(t, a, "worker-1")
			}
			nothingLeft(t)
		}
	}
}

// killed: a run that is killed can tidy nothing. The verb cleanup takes the pod
// for that of a run that still goes on, until told otherwise.
func killed(t *testing.T) {
	r := begin(t, "Running", "pvc", "data", "-n", "interrupted", "-o", "json")
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	young := plugin(t, "cleanup", "--yes")
	if left := field("{.items[*].metadata.name}", "-A", "pods", "-l", "mountdoctor.io/probe"); young.code != 0 || left == "" {
		t.Errorf("cleanup: exit code %d, pods left %q, want the pod of a young run to stay: %s%s", young.code, left, young.out, young.errors)
	}
	if all := plugin(t, "cleanup", "--yes", "--all"); all.code != 0 {
		t.Errorf("cleanup --all: exit code %d: %s%s", all.code, all.out, all.errors)
	}
	nothingLeft(t)
}

// kubeletKilled in the middle of an exec: the stream ends without an error and
// with exit code 0, so only the agent's own end mark tells.
func kubeletKilled(t *testing.T) {
	v := claim(t, disk, "midexec")
	runPod(t, v, "db", "worker-2")
	t.Cleanup(func() {
		if err := cluster.StartKubelet("worker-2"); err != nil {
			t.Error(err)
		}
		if err := cluster.WaitReady("worker-2"); err != nil {
			t.Error(err)
		}
		nothingLeft(t)
	})
	r := begin(t, "Running", "pvc", "data", "-n", "midexec", "-o", "json", "--probe-timeout", "30s")
	if err := cluster.StopKubelet("worker-2"); err != nil {
		t.Fatal(err)
	}
	a := r.end(t, 90*time.Second)
	if err := json.Unmarshal([]byte(a.out), &a.document); err != nil {
		t.Fatalf("exit code %d, no report: %v: %s%s", a.code, err, a.out, a.errors)
	}
	notSeen(t, a, "worker-2")
}

// notSeen: a node that was lost on the way is said to be not checked.
func notSeen(t *testing.T, a answer, node string) {
	t.Helper()
	if a.Verdict == "healthy" || a.code == 0 || a.code == 1 {
		t.Errorf("exit code %d, want a report that tells of the lost node; %s", a.code, a.short())
	}
	for _, n := range a.NotChecked {
		if n.Node == node || strings.Contains(n.Need, node) || strings.Contains(n.Detail, node) {
			return
		}
	}
	t.Errorf("%s is not reported as not checked; %s", node, a.short())
}
