package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// runOutside makes the folder and the outer namespaces, and removes both. The
// folders of our programs come by environment from run.sh.
func runOutside(command []string) int {
	dir, err := os.MkdirTemp(os.Getenv("MOUNTDOCTOR_LAB_CACHE"), "run-")
	fail(err)
	l := lab.Lab{Dir: dir, Bin: os.Getenv("MOUNTDOCTOR_LAB_BIN"), Own: dir + "/own"}
	fail(copyPrograms(os.Getenv("MOUNTDOCTOR_LAB_PROGRAMS"), l.Own))
	code := runNamespaces(l, command)
	if code != 0 {
		keepLogs(l)
	}
	if err := l.Clean(); err != nil {
		fmt.Fprintln(os.Stderr, "lab: clean up:", err)
		return 1
	}
	return code
}

func runNamespaces(l lab.Lab, command []string) int {
	// Pdeathsig follows the thread that started the child: prctl(2).
	runtime.LockOSThread()
	cmd := exec.Command(l.Own+"/lab", append([]string{"inside"}, command...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), l.Environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:  syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	fail(cmd.Start())
	go func() {
		<-stop
		_ = cmd.Process.Kill() // process 1: everything in its namespace goes with it
	}()
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return 0
}

// runInside is process 1 of the lab's namespaces.
func runInside(l lab.Lab, command []string) int {
	signal.Ignore(syscall.SIGINT) // the command's to handle; the outer process ends all
	fail(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	fail(syscall.Mount("proc", "/proc", "proc", 0, ""))
	fail(syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"))
	fail(syscall.Sethostname([]byte("lab")))
	begin := time.Now()
	say := func(what string) { fmt.Fprintf(os.Stderr, "%6.1fs %s\n", time.Since(begin).Seconds(), what) }
	if err := l.Up(say); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return l.Run(command)
}

// keepLogs saves the components' logs of a failed run and says where.
func keepLogs(l lab.Lab) {
	kept := filepath.Join(filepath.Dir(l.Dir), "last-failure")
	if err := os.RemoveAll(kept); err != nil {
		return
	}
	if err := os.Rename(l.Logs(), kept); err == nil {
		fmt.Fprintln(os.Stderr, "lab: the logs of all components are in", kept)
	}
}

// copyPrograms puts our own programs where both nodes see them.
func copyPrograms(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o755); err != nil {
			return err
		}
	}
	return nil
}
