package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// spawn starts a program with its output in the log of that name and returns
// without waiting for it. Nobody here waits for children by name: process 1 of
// the lab and of each node reaps whatever ends.
func (l Lab) spawn(program, log string, args []string, attr *syscall.SysProcAttr) (int, error) {
	out, err := os.OpenFile(l.path("log", log+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	if attr == nil {
		attr = &syscall.SysProcAttr{Setsid: true}
	}
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Env: append(os.Environ(), l.Environment()...), Files: []*os.File{null, out, out}, Sys: attr,
	})
	if err != nil {
		return 0, err
	}
	pid := p.Pid
	return pid, p.Release()
}

// reap collects every process that ends below this process 1 and tells of each.
// It returns when told so, or when no child is left.
func reap(ended func(pid int, status syscall.WaitStatus) (stop bool)) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || ended(pid, status) {
			return
		}
	}
}

func (l Lab) readPID(name string) (int, error) {
	text, err := os.ReadFile(l.path("pid", name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// Run runs a command in the lab, as process 1 of its namespaces, and returns its
// exit code.
func (l Lab) Run(command []string) int {
	program, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 127
	}
	p, err := os.StartProcess(program, command, &os.ProcAttr{
		Env: append(os.Environ(), l.Environment()...), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 126
	}
	code := 1
	reap(func(pid int, status syscall.WaitStatus) bool {
		if pid != p.Pid {
			return false
		}
		code = status.ExitStatus()
		return true
	})
	return code
}
