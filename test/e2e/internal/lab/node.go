package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// PowerOn starts a node, again after PowerOff: process 1 in new mount, PID,
// network, UTS and IPC namespaces, and a cable to the lab's bridge.
func (l Lab) PowerOn(name string) error {
	n, err := NodeNamed(name)
	if err != nil {
		return err
	}
	for _, dir := range []string{"kubelet", "containerd", "cni", "pods", "containers", "upper", "work", "root"} {
		if err := os.MkdirAll(l.nodePath(name, dir), 0o755); err != nil {
			return err
		}
	}
	if err := l.makeGroups(name); err != nil {
		return err
	}
	cable := "to-" + name
	_ = run("ip link del " + cable) // of a node that was powered off a moment ago
	pid, err := l.spawn(l.Own+"/lab", name, []string{"node", name}, &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	})
	if err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	if err := os.WriteFile(l.path("pid", name), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return err
	}
	return run(
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", cable, pid),
		"ip link set "+cable+" master lab0 up",
		"ip route replace "+n.Pods+" via "+n.IP,
	)
}

// PowerOff is a power cut: process 1 is killed, and the kernel takes every
// process, mount and address of the node with it.
func (l Lab) PowerOff(name string) error {
	pid, err := l.readPID(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("power off %s: %w", name, err)
	}
	return l.until(10*time.Second, name+" is off", func() bool {
		return !alive(pid)
	})
}

// On says whether the node runs.
func (l Lab) On(name string) bool {
	pid, err := l.readPID(name)
	return err == nil && alive(pid)
}

// alive is false for a process that ended and waits for its parent to notice.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// Shell runs a shell script in all namespaces of the node's process 1.
func (l Lab) Shell(name, script string) (string, error) {
	pid, err := l.readPID(name)
	if err != nil {
		return "", err
	}
	out, err := exec.Command("nsenter", "-t", strconv.Itoa(pid), "-m", "-u", "-i", "-n", "-p", "-C", "sh", "-c", script).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("on %s: %s: %w: %s", name, script, err, out)
	}
	return string(out), nil
}

// StopKubelet kills the kubelet and keeps it dead; containers live on.
func (l Lab) StopKubelet(name string) error {
	if err := os.WriteFile(l.holdFile(name), nil, 0o644); err != nil {
		return err
	}
	_, err := l.Shell(name, `kill -9 $(cat /run/kubelet.pid)`)
	return err
}

// StartKubelet lets the kubelet run again.
func (l Lab) StartKubelet(name string) error {
	if err := os.Remove(l.holdFile(name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (l Lab) holdFile(node string) string { return l.path("pid", "hold-kubelet-"+node) }

func (l Lab) nodePath(node string, parts ...string) string {
	return filepath.Join(append([]string{l.Dir, "node", node}, parts...)...)
}

const groupRoot = "/sys/fs/cgroup"

// makeGroups creates the node's control group in each hierarchy of cgroup v1. A
// cpuset takes no process until its processors and memory are named.
func (l Lab) makeGroups(node string) error {
	for _, h := range hierarchies() {
		dir := filepath.Join(groupRoot, h, l.group(node))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if h != "cpuset" {
			continue
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			all, err := os.ReadFile(filepath.Join(groupRoot, h, file))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, file), all, 0o644); err != nil {
				return fmt.Errorf("control group of %s: %w", node, err)
			}
		}
	}
	return nil
}

// hierarchies are the mounted ones of cgroup v1, without links such as
// cpu,cpuacct. The unified one beside them takes processes too.
func hierarchies() []string {
	entries, err := os.ReadDir(groupRoot)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
