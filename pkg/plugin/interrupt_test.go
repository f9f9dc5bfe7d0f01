//go:build unix

package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
)

// stuck is a cluster that is served from a case and whose probe pods are made, and
// then never heard of again.
type stuck struct {
	*testcluster.Server
	home    string
	reached chan struct{} // closed when a probe pod was asked for

	lock     sync.Mutex
	pods     map[string]bool
	noDelete bool // deletions hang, too
}

func newStuck(t *testing.T, noDelete bool) *stuck {
	t.Helper()
	server, err := testcluster.Start(filepath.Join("..", "..", "testdata", "cases", "founding-multipathd-busy"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	s := &stuck{Server: server, home: t.TempDir(), reached: make(chan struct{}), pods: map[string]bool{}, noDelete: noDelete}
	if err := server.Kubeconfig(filepath.Join(s.home, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost:
			s.create(w, r)
		case !strings.Contains(r.URL.Path, launch.NamePrefix):
			return false
		case r.Method == http.MethodDelete && !s.noDelete:
			s.lock.Lock()
			clear(s.pods)
			s.lock.Unlock()
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
		default:
			once.Do(func() { close(s.reached) })
			_, _ = io.Copy(io.Discard, r.Body) // an unread body hides that the client went away
			<-r.Context().Done()
		}
		return true
	}
	return s
}

func (s *stuck) create(w http.ResponseWriter, r *http.Request) {
	var pod corev1.Pod
	_ = json.NewDecoder(r.Body).Decode(&pod)
	if !r.URL.Query().Has("dryRun") {
		pod.UID = "made"
		s.lock.Lock()
		s.pods[pod.Name] = true
		s.lock.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(pod)
}

// start runs the plugin as a process of its own until it looks at the node.
func (s *stuck) start(t *testing.T, out io.Writer, args ...string) (cmd *exec.Cmd, errOut *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(s.home, "kubectl-mountdoctor") // by its name the test binary is the plugin (TestMain)
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, append([]string{"pvc", "judge-wal-restore", "-n", "judge"}, args...)...)
	cmd.Env = []string{"KUBECONFIG=" + filepath.Join(s.home, "kubeconfig"), "HOME=" + s.home}
	cmd.Stdout = out
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	select {
	case <-s.reached:
	case <-time.After(30 * time.Second):
		t.Fatal("no probe pod was asked for")
	}
	return cmd, bufio.NewReader(pipe)
}

func (s *stuck) left() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.pods)
}

// ended waits for the process, which must not take long.
func ended(t *testing.T, cmd *exec.Cmd, errOut io.Reader, limit time.Duration) *os.ProcessState {
	t.Helper()
	begin := time.Now()
	late := time.AfterFunc(3*limit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	words, _ := io.ReadAll(errOut)
	err := cmd.Wait()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > limit {
		t.Errorf("it took %s to end", took)
	}
	t.Logf("%s: %s", cmd.ProcessState, words)
	return cmd.ProcessState
}

// TestInterruptedReports: a signal while a node is looked at gives the report of
// everything else, and leaves no pod.
func TestInterruptedReports(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			if ossignal.Ignored(signal) {
				t.Skip("the tests run under nohup, which the command heeds")
			}
			s := newStuck(t, false)
			var out bytes.Buffer
			cmd, errOut := s.start(t, &out, "-o", "json")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			state := ended(t, cmd, errOut, 20*time.Second)
			if code := state.ExitCode(); code != ExitFound && code != ExitNotChecked {
				t.Errorf("exit code %d, want that of a report", code)
			}
			var report struct {
				Kind, Verdict string
				Symptoms      []any
				NotChecked    []struct{ Detail string }
			}
			if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.Kind != "Report" || len(report.Symptoms) == 0 {
				t.Errorf("no report: %v: %s", err, out.String())
			}
			if !strings.Contains(out.String(), "the run was interrupted") || report.Verdict == "healthy" {
				t.Errorf("the report does not say that it was interrupted: %s", out.String())
			}
			if s.left() > 0 {
				t.Errorf("%d pods are left", s.left())
			}
		})
	}
}

// TestClosedPipe: who reads the report goes away while a node is looked at. It is
// left at once, and the pods are deleted.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	s := newStuck(t, false)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, errOut := s.start(t, write)
	_, _ = write.Close(), read.Close()
	state := ended(t, cmd, errOut, 20*time.Second)
	if code := state.ExitCode(); code != ExitFound && code != ExitNotChecked {
		t.Errorf("exit code %d, want that of a report", code)
	}
	if s.left() > 0 {
		t.Errorf("%d pods are left", s.left())
	}
}

// TestSecondSignal ends the process while it waits for the cluster to delete.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := newStuck(t, true)
	cmd, errOut := s.start(t, io.Discard)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	line, err := errOut.ReadString('\n')
	if err != nil || !strings.Contains(line, "interrupt again to end at once") {
		t.Errorf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	state := ended(t, cmd, errOut, 5*time.Second)
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %s, want the signal", state)
	}
}
