//go:build linux

// Package bench compares the agent with what people type at night: grep over
// every task's mount table, and lsof. It needs root, cc, grep and lsof, and makes
// its crowd of processes in namespaces of its own.
package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const dirEnv = "MOUNTDOCTOR_BENCH_DIR" // set in the inner run: where the built programs are

func TestMain(m *testing.M) {
	if os.Getenv(dirEnv) != "" {
		code := m.Run()
		printTable()
		os.Exit(code)
	}
	if why := missing(); why != "" {
		fmt.Println("NOT MEASURED: agent against grep and lsof needs", why)
		os.Exit(0)
	}
	if err := inside(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func missing() string {
	if os.Geteuid() != 0 {
		return "root"
	}
	for _, tool := range []string{"cc", "grep", "lsof", "unshare", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		return fmt.Sprintf("namespaces (%v: %s)", err, out)
	}
	return ""
}

// inside builds the programs and runs the benchmarks in namespaces of their own,
// so that the crowd ends with them whatever happens. Process 1 there is a shell:
// what is measured leaves its own children out, and orphans go to process 1.
func inside() error {
	dir, err := os.MkdirTemp("", "mountdoctor-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	agent := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "agent"),
		"github.com/mountdoctor/kubectl-mountdoctor/cmd/mountdoctor-agent")
	agent.Env = append(os.Environ(), "CGO_ENABLED=0")
	crowd := exec.Command("cc", "-O1", "-pthread", "-o", filepath.Join(dir, "crowd"), "testdata/crowd.c")
	for _, c := range []*exec.Cmd{agent, crowd} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c.Args[0], err, out)
		}
	}
	args := append([]string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private", "--", "sh", "-c", `"$0" "$@"; exit $?`, os.Args[0]}, os.Args[1:]...)
	inner := exec.Command("unshare", args...)
	inner.Env = append(os.Environ(), dirEnv+"="+dir)
	inner.Stdout, inner.Stderr = os.Stdout, os.Stderr
	return inner.Run()
}
