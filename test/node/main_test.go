//go:build node

// Package node tests the agent on the kernel of the machine that the tests run
// on: loop devices, ext4, mount namespaces and holders, all for real. It needs
// root, util-linux and e2fsprogs; everything happens in mount and process
// namespaces of its own, in which the test program is process 1.
package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	agentEnv = "MOUNTDOCTOR_TEST_AGENT" // path of the agent; set in the inner run
	holdEnv  = "MOUNTDOCTOR_TEST_HOLD"  // makes the test program a holder
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(holdEnv) != "":
		os.Exit(hold(os.Getenv(holdEnv)))
	case os.Getenv(agentEnv) != "":
		os.Exit(m.Run())
	}
	if why := missing(); why != "" {
		fmt.Println("NOT TESTED: the agent on a real kernel needs", why)
		os.Exit(0)
	}
	os.Exit(inside())
}

// missing names what keeps the tests from running here.
func missing() string {
	if os.Geteuid() != 0 {
		return "root"
	}
	for _, tool := range []string{"unshare", "mount", "umount", "losetup", "mkfs.ext4", "mkswap", "swapon", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return "loop devices"
	}
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		return fmt.Sprintf("namespaces (%v: %s)", err, out)
	}
	return ""
}

// inside builds the agent and runs the tests again in namespaces of their own.
func inside() int {
	dir, err := os.MkdirTemp("", "mountdoctor-node-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	agent := filepath.Join(dir, "mountdoctor-agent")
	build := exec.Command("go", "build", "-trimpath", "-o", agent, "github.com/mountdoctor/kubectl-mountdoctor/cmd/mountdoctor-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the agent:", err)
		return 1
	}
	args := append([]string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private", "--", os.Args[0]}, os.Args[1:]...)
	inner := exec.Command("unshare", args...)
	inner.Env = append(os.Environ(), agentEnv+"="+agent)
	inner.Stdout, inner.Stderr = os.Stdout, os.Stderr
	if err := inner.Run(); err != nil {
		return 1
	}
	return 0
}
