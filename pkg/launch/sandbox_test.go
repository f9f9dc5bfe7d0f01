//go:build unix

package launch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// sandbox runs commands as a container would: with a shell and programs of its
// own, and a directory that stands for its /tmp.
type sandbox struct {
	t     *testing.T
	shell string // path of sh
	path  string // PATH
	tmp   string
	node  func(pod string) string // for the agent's $NODE; may be nil
	limit int                     // bytes of the agent's answer after which the connection is cut; 0: none

	lock  sync.Mutex
	over  bool // nothing is started any more
	procs map[string][]*os.Process
	cuts  int // connections that were cut
}

// newSandbox has busybox and links to some of its programs only; without
// busybox, or without a list, it has the programs of this machine.
func newSandbox(t *testing.T, programs ...string) *sandbox {
	t.Helper()
	c := &sandbox{t: t, tmp: t.TempDir(), procs: map[string][]*os.Process{}, shell: "/bin/sh", path: os.Getenv("PATH")}
	t.Cleanup(c.close)
	if len(programs) == 0 {
		return c
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("NOT TESTED: there is no busybox on this machine")
	}
	c.path = t.TempDir()
	for _, p := range append(programs, "sh") {
		if err := os.Symlink(busybox, filepath.Join(c.path, p)); err != nil {
			t.Fatal(err)
		}
	}
	c.shell = filepath.Join(c.path, "sh")
	return c
}

func (c *sandbox) exec(pod string, command []string, s *streams) {
	args := append([]string{}, command[1:]...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "for d in /tmp /var/tmp /run ''", "for d in "+c.tmp)
	}
	name := c.shell
	if command[0] != "sh" {
		name = command[0]
	}
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"PATH=" + c.path, "TMP=" + c.tmp}
	if c.node != nil {
		cmd.Env = append(cmd.Env, "NODE="+c.node(pod))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A descriptor of its own, so that Wait does not wait for more input.
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Error(err)
	}
	cmd.Stdout, cmd.Stderr = s.stdout, s.stderr
	if c.limit > 0 && strings.Contains(strings.Join(command, " "), "--record") {
		cmd.Stdout = &cutter{c: c, out: s.stdout, left: c.limit, cut: s.cut}
	}
	c.lock.Lock()
	if c.over {
		c.lock.Unlock()
		s.cut()
		return
	}
	err = cmd.Start()
	if err == nil {
		c.procs[pod] = append(c.procs[pod], cmd.Process)
	}
	c.lock.Unlock()
	if err != nil {
		s.end(failure(500, metav1.StatusReasonInternalError, "OCI runtime exec failed: exec failed: unable to start container process: exec: \""+command[0]+"\": executable file not found in $PATH"))
		return
	}
	go func() {
		_, _ = io.Copy(in, s.stdin)
		_ = in.Close()
	}()
	s.end(result(cmd.Wait()))
}

// result is how the kubelet reports the end of a command (v4.channel.k8s.io).
func result(err error) metav1.Status {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	code := exit.ExitCode()
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		code = 128 + int(w.Signal())
	}
	return metav1.Status{Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
		Message: "command terminated with non-zero exit code", Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(code)}}}}
}

// kill ends what runs in a pod, as the kubelet does when it is deleted.
func (c *sandbox) kill(pod string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, p := range c.procs[pod] {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
}

// close ends everything.
func (c *sandbox) close() {
	c.lock.Lock()
	c.over = true
	var pods []string
	for pod := range c.procs {
		pods = append(pods, pod)
	}
	c.lock.Unlock()
	for _, pod := range pods {
		c.kill(pod)
	}
}

// cutter breaks the connection once after so many bytes.
type cutter struct {
	c    *sandbox
	out  io.Writer
	left int
	cut  func()
}

func (k *cutter) Write(p []byte) (int, error) {
	if k.left < len(p) {
		_, _ = k.out.Write(p[:k.left])
		k.c.lock.Lock()
		k.c.cuts++
		k.c.lock.Unlock()
		k.cut()
		return 0, io.ErrClosedPipe
	}
	k.left -= len(p)
	return k.out.Write(p)
}

// frames is the answer of a real agent about a recorded machine.
func frames(t *testing.T) []byte {
	t.Helper()
	recorded, err := host.ParseRecording([]byte("-- proc/1/ns/mnt --\n@link mnt:[4026531841]\n-- proc/1/comm --\nsystemd\n" +
		"-- proc/1/mountinfo --\n22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n-- @hostname --\nnode-1\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := agent.Stream(context.Background(), recorded, &out, true, ""); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// script is an agent written in shell; body is what it does when it is to answer,
// with the answer of a real agent in $ANSWER, which begins with its own proof.
func script(t *testing.T, body string) func(string) ([]byte, string, bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "answer"), frames(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return scriptIn(t, dir, body)
}

// scriptIn has the answers in a directory: one for all, or one for each node.
func scriptIn(t *testing.T, dir, body string) func(string) ([]byte, string, bool) {
	t.Helper()
	return packed(t, []byte("#!/bin/sh\nANSWER="+dir+"/answer\ncase $1 in\nversion) echo mountdoctor-agent test;;\n"+
		"sha256) /usr/bin/sha256sum <\"$0\" | /usr/bin/cut -c1-64;;\n*) "+proves(t)+body+";;\nesac\n"))
}

// proves puts the agent's proof before the answer: it takes the nonce from the
// first line of the input, and lets this test's own program compute.
func proves(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "read -r NONCE; P=$(" + proofOf + "=$NONCE '" + self + "' <\"$0\"); [ -z \"$NODE\" ] || ANSWER=${ANSWER%/*}/$NODE\n" +
		"F=\"$TMP/answer-$$\"; { read -r M; echo \"$M\"; echo \"proof $P\"; /bin/cat; } <\"$ANSWER\" >\"$F\"; ANSWER=$F\n"
}

// proofOf asks this test's program for a proof instead of its tests.
const proofOf = "LAUNCH_TEST_PROOF_OF"

// TestMain is also the hash function of the agents written in shell.
func TestMain(m *testing.M) {
	nonce, asked := os.LookupEnv(proofOf)
	if !asked {
		os.Exit(m.Run())
	}
	h := sha256.New()
	if _, err := io.Copy(h, os.Stdin); err != nil {
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, agent.Prove(nonce, hex.EncodeToString(h.Sum(nil))))
}

func packed(t *testing.T, program []byte) func(string) ([]byte, string, bool) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	return func(string) ([]byte, string, bool) { return b.Bytes(), hex.EncodeToString(sum[:]), true }
}

// answers is an agent that does its work.
const answers = `/bin/cat "$ANSWER"`
