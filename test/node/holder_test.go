//go:build node

package node

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// hold is a process that keeps something busy until its standard input ends.
func hold(what string) int {
	kind, arg, _ := strings.Cut(what, ":")
	var err error
	switch kind {
	case "sleep":
	case "file":
		_, err = unix.Open(arg, unix.O_RDONLY, 0)
	case "exclusive":
		_, err = unix.Open(arg, unix.O_RDONLY|unix.O_EXCL, 0)
	case "cwd":
		err = os.Chdir(arg)
	case "namespaces":
		err = crowd(arg)
	default:
		err = fmt.Errorf("unknown holder %q", kind)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range sleepers {
		_ = c.Process.Kill()
	}
	for _, c := range sleepers {
		_ = c.Wait()
	}
	return 0
}

// sleepers are the processes of a crowd.
var sleepers []*exec.Cmd

// crowd starts sleepers, each in a mount namespace of its own, that end with us.
func crowd(number string) error {
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil {
		return err
	}
	for range n {
		c := exec.Command("sleep", "600")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return err
		}
		sleepers = append(sleepers, c)
	}
	return nil
}

// holder starts the test program as a holder and waits until it holds. Release
// ends it; the test's end does so too.
type holder struct {
	pid     int
	release func()
}

type holderOptions struct {
	what      string
	name      string   // of the program, as comm shows it
	args      []string // further arguments, which only show in cmdline
	namespace bool     // in a mount namespace of its own
}

func start(t *testing.T, o holderOptions) holder {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if o.name != "" {
		link := filepath.Join(t.TempDir(), o.name)
		if err := os.Symlink(program, link); err != nil {
			t.Fatal(err)
		}
		program = link
	}
	c := exec.Command(program, o.args...)
	c.Env = append(os.Environ(), holdEnv+"="+o.what)
	if o.namespace {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	h := holder{pid: c.Process.Pid, release: func() {
		if !ended {
			ended = true
			_ = stdin.Close()
			_ = c.Wait()
		}
	}}
	t.Cleanup(h.release)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("holder %s: %q, %v", o.what, line, err)
	}
	return h
}
