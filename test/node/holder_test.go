//go:build node

package node

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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
	case "user":
		err = become(arg)
	case "comm": // of the first thread, whichever runs this
		err = os.WriteFile("/proc/self/comm", []byte(arg), 0)
	case "chroot":
		if err = unix.Chroot(arg); err == nil {
			err = os.Chdir("/")
		}
	case "churn":
		go churn()
	case "headless":
		if _, err = unix.Open(arg, unix.O_RDONLY, 0); err == nil {
			go wait()
			_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // of the first thread alone
		}
	default:
		err = fmt.Errorf("unknown holder %q", kind)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	wait()
	return 0
}

// wait tells that the thing is held, and lets go when the test says so.
func wait() {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range sleepers {
		_ = c.Process.Kill()
	}
	for _, c := range sleepers {
		_ = c.Wait()
	}
	os.Exit(0)
}

func init() {
	if strings.HasPrefix(os.Getenv(holdEnv), "headless:") {
		runtime.LockOSThread() // hold runs on the first thread
	}
}

func become(user string) error {
	id, err := strconv.Atoi(user)
	if err != nil {
		return err
	}
	return syscall.Setuid(id)
}

// churn starts processes with namespaces of their own that end at once, and mounts
// and unmounts in its own.
func churn() {
	dir, err := os.MkdirTemp("", "churn-")
	if err != nil {
		return
	}
	for {
		_ = unix.Mount("churn", dir, "tmpfs", 0, "")
		c := exec.Command("true")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
		_ = c.Run()
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	}
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
	container bool     // in a mount and a PID namespace of its own
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
	if o.container {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
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
