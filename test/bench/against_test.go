//go:build linux

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host/live"
)

const (
	processes  = 2000
	namespaces = 300
	mounts     = 40 // of the crowd, beside those of the machine
	rounds     = 3  // the best counts
)

// cost is what a run took.
type cost struct {
	wall, cpu time.Duration
	rss       int64 // peak, in KiB
}

// row is one line of the result.
type row struct {
	threads             int
	tables, probe, grep cost
	agent, lsof         cost
	namespaces, entries int
}

var rows []row

func BenchmarkOneThread(b *testing.B)  { against(b, 1) }
func BenchmarkTenThreads(b *testing.B) { against(b, 10) }

func against(b *testing.B, threads int) {
	dir := os.Getenv(dirEnv)
	if dir == "" {
		b.Skip("run by TestMain only")
	}
	release := crowd(b, dir, threads)
	defer release()
	r := row{threads: threads}
	for range rounds {
		f, processes, tables := look()
		r.namespaces, r.entries = count(f)
		keep(&r.tables, tables)
		keep(&r.probe, cost{wall: processes.wall + tables.wall, cpu: processes.cpu + tables.cpu})
		keep(&r.grep, command(b, "sh", "-c", "grep -H ' 254:77 ' /proc/[0-9]*/task/*/mountinfo >/dev/null 2>&1; true"))
		keep(&r.agent, command(b, filepath.Join(dir, "agent")))
		keep(&r.lsof, command(b, "lsof", "-nPw"))
	}
	rows = append(rows, r)
	b.ReportMetric(ratio(r.grep.cpu, r.tables.cpu), "grep/tables")
	b.ReportMetric(ratio(r.grep.cpu, r.probe.cpu), "grep/probe")
	b.ReportMetric(ratio(r.lsof.cpu, r.agent.cpu), "lsof/agent")
	b.ReportMetric(float64(r.agent.rss)/1024, "MiB-agent")
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// keep keeps the shortest times and the largest memory.
func keep(best *cost, c cost) {
	if best.wall == 0 {
		*best = c
		return
	}
	*best = cost{min(best.wall, c.wall), min(best.cpu, c.cpu), max(best.rss, c.rss)}
}

// look runs the probes that lead to the mount tables of all namespaces: what
// finding the processes costs, and what reading the tables then costs.
func look() (f *probes.Facts, processes, tables cost) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as the agent does
	f = &probes.Facts{Status: map[string]probes.ProbeState{}}
	h := live.New(0)
	for _, p := range agent.Probes {
		switch p.Name {
		case "identity", "process":
			c := own(func() { agent.Step(context.Background(), h, p, f) })
			processes.wall, processes.cpu = processes.wall+c.wall, processes.cpu+c.cpu
		case "mountns":
			tables = own(func() { agent.Step(context.Background(), h, p, f) })
		}
	}
	return f, processes, tables
}

// own measures a part of this program.
func own(run func()) cost {
	before, start := cpu(), time.Now()
	run()
	return cost{wall: time.Since(start), cpu: cpu() - before}
}

func cpu() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func count(f *probes.Facts) (distinct, entries int) {
	for _, ns := range f.Namespaces {
		entries += len(ns.Mounts)
	}
	return len(f.Namespaces), entries
}

// command measures a program, at the priority that the agent gives itself.
func command(b *testing.B, args ...string) cost {
	b.Helper()
	c := exec.Command("nice", append([]string{"-n", "19"}, args...)...)
	c.Stdout = io.Discard
	start := time.Now()
	if err := c.Run(); err != nil && args[0] != "lsof" {
		b.Fatal(args[0], err)
	}
	taken := cost{wall: time.Since(start), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		taken.rss = usage.Maxrss
	}
	return taken
}

// crowd starts the processes over a tree of mounts.
func crowd(b *testing.B, dir string, threads int) (release func()) {
	b.Helper()
	for i := range mounts {
		point := filepath.Join(dir, strconv.Itoa(threads), "var/lib/kubelet/pods", strconv.Itoa(i), "volumes/kubernetes.io~projected/token")
		if err := os.MkdirAll(point, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := unix.Mount("tmpfs", point, "tmpfs", 0, "size=4k"); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
	}
	c := exec.Command(filepath.Join(dir, "crowd"), strconv.Itoa(namespaces), strconv.Itoa(processes), strconv.Itoa(threads))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stop, stdin, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	answer, stdout, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	c.Stdin, c.Stdout = stop, stdout
	if err := c.Run(); err != nil {
		b.Fatal(err)
	}
	_, _ = stop.Close(), stdout.Close()
	said := bufio.NewReader(answer)
	if line, err := said.ReadString('\n'); line != "ready\n" {
		b.Fatalf("crowd: %q, %v", line, err)
	}
	return func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, said) // ends when the last of them has
	}
}

func printTable() {
	if len(rows) == 0 {
		return
	}
	fmt.Printf("\n%d processes in %d mount namespaces, best of %d; time on the clock / of the processor\n\n", processes, namespaces, rounds)
	fmt.Printf("%-7s  %-34s %15s %15s %7s  %s\n", "threads", "what", "agent", "other", "cpu", "memory")
	for _, r := range rows {
		line := func(what string, ours, theirs cost, memory string) {
			fmt.Printf("%-7d  %-34s %15s %15s %6.1fx  %s\n", r.threads, what, ours, theirs, ratio(theirs.cpu, ours.cpu), memory)
		}
		line("mount tables (mountns) : grep", r.tables, r.grep, fmt.Sprintf("%d tables, %d mounts", r.namespaces, r.entries))
		line("processes and mount tables : grep", r.probe, r.grep, "")
		line("whole agent : lsof", r.agent, r.lsof, fmt.Sprintf("%.0f : %.0f MiB", float64(r.agent.rss)/1024, float64(r.lsof.rss)/1024))
	}
}

// String prints both times in milliseconds.
func (c cost) String() string {
	return fmt.Sprintf("%d / %d ms", c.wall.Milliseconds(), c.cpu.Milliseconds())
}
