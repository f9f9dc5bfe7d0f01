// Package process reads every process once: what it is, which pod or unit it
// belongs to, in which mount namespace it lives and whether it hangs.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const name = "process"

// ticks is USER_HZ, 100 on every architecture that Linux exports to user space
// (include/asm-generic/param.h).
const ticks = 100

// Run fills Facts.Processes, ascending by process id.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	names, err := h.ReadDir("proc")
	if err != nil {
		return fmt.Errorf("list proc: %w", err)
	}
	r := reader{h: h, f: f, above: f.Identity.InitCgroup, boot: f.Identity.Boot()}
	_, err = h.ReadFile("sys/fs/selinux/enforce", 0)
	r.labels = err == nil
	for _, pid := range pids(names) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read processes, %d so far: %w", len(f.Processes), err)
		}
		if p, ok := r.read(pid); ok {
			f.Processes = append(f.Processes, p)
		}
	}
	if !h.Recorded() {
		f.Processes = withoutSelf(f.Processes, os.Getpid(), f.Identity.InitMntNS)
	}
	return nil
}

func pids(names []string) []int {
	var list []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	// ReadDir sorts as text; 10 comes before 9.
	slices.Sort(list)
	return list
}

type reader struct {
	h      host.Host
	f      *probes.Facts
	above  string
	boot   time.Time
	labels bool
}

// read makes one process; ok is false when it ended meanwhile.
func (r *reader) read(pid int) (probes.Process, bool) {
	dir := "proc/" + strconv.Itoa(pid) + "/"
	s, err := r.stat(dir)
	if err != nil {
		attr.Note(r.f, name, dir+"stat", err)
		return probes.Process{}, false
	}
	p := probes.Process{PID: pid, PPID: s.PPID, Comm: s.Comm, State: s.State, Kthread: s.kthread()}
	if !r.boot.IsZero() && s.Start > 0 {
		p.Started = r.boot.Add(time.Duration(s.Start) * time.Second / ticks)
	}
	r.namespace(dir, &p)
	if text, err := r.h.ReadFile(dir+"cgroup", 0); err == nil {
		m := ParseCgroup(string(text), r.above)
		p.Cgroup, p.PodUID, p.ContainerID, p.Unit = m.Path, m.PodUID, m.ContainerID, m.Unit
	} else {
		attr.Note(r.f, name, dir+"cgroup", err)
	}
	r.closer(dir, s, &p)
	return p, true
}

// stat falls back to comm and status, which a recording may hold alone.
func (r *reader) stat(dir string) (Stat, error) {
	b, err := r.h.ReadFile(dir+"stat", 0)
	if err == nil {
		return ParseStat(b)
	}
	if !r.h.Recorded() || !attr.Absent(err) {
		return Stat{}, err
	}
	var s Stat
	if b, err := r.h.ReadFile(dir+"status", 0); err == nil {
		s = ParseStatus(b)
	}
	if c := attr.Text(r.h, dir+"comm"); c != "" {
		s.Comm = c
	}
	return s, nil
}

// namespace leaves 0 for a zombie, which has no namespaces any more
// (task_nsproxy in fs/proc/namespaces.c), without a word.
func (r *reader) namespace(dir string, p *probes.Process) {
	link, err := r.h.ReadLink(dir + "ns/mnt")
	if err != nil {
		attr.Note(r.f, name, dir+"ns/mnt", err)
		return
	}
	if kind, inode, ok := probes.ParseNamespace(link); ok && kind == "mnt" {
		p.MntNS = inode
		return
	}
	r.f.Problems = append(r.f.Problems, probes.Problem{Probe: name, Path: dir + "ns/mnt", Text: "not a mount namespace: " + link})
}

// closer reads what costs more, of processes that may matter; of a recording
// everything that it holds.
func (r *reader) closer(dir string, s Stat, p *probes.Process) {
	all := r.h.Recorded()
	if !all && !matters(s) {
		return
	}
	if r.labels || all {
		p.Label = strings.Trim(attr.Text(r.h, dir+"attr/current"), "\x00")
	}
	if all || !p.Kthread {
		p.Cmdline = r.cmdline(dir, p.State)
	}
	if all || p.State == "D" {
		p.Stack = attr.Text(r.h, dir+"stack")
	}
	if w := attr.Text(r.h, dir+"wchan"); w != "0" {
		p.WChan = w
	}
	if all || !p.Kthread {
		r.threads(dir, p)
	}
}

// cmdline reads proc/PID/cmdline. The kernel takes the process's mmap lock for it
// (proc_pid_cmdline_read), which a task in D state may hold for ever; the host's
// deadline ends such a read.
func (r *reader) cmdline(dir, state string) []string {
	b, err := r.h.ReadFile(dir+"cmdline", 0)
	if err != nil && !errors.Is(err, host.ErrCut) {
		if state != "D" {
			attr.Note(r.f, name, dir+"cmdline", err)
		}
		return nil
	}
	return splitCmdline(string(b))
}

func splitCmdline(s string) []string {
	s = strings.TrimRight(s, "\x00\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// threads keeps the threads in D state besides the leader.
func (r *reader) threads(dir string, p *probes.Process) {
	tids, err := r.h.ReadDir(dir + "task")
	if err != nil || len(tids) < 2 && !r.h.Recorded() {
		return
	}
	for _, tid := range pids(tids) {
		if tid == p.PID {
			continue
		}
		sub := dir + "task/" + strconv.Itoa(tid) + "/"
		b, err := r.h.ReadFile(sub+"stat", 0)
		if err != nil {
			continue
		}
		s, err := ParseStat(b)
		if err != nil || s.State != "D" {
			continue
		}
		p.Threads = append(p.Threads, probes.Thread{
			TID: tid, Comm: s.Comm, State: s.State,
			WChan: attr.Text(r.h, sub+"wchan"), Stack: attr.Text(r.h, sub+"stack"),
		})
	}
}
