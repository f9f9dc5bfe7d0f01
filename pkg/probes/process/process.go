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
	s, ok := r.stat(dir)
	if !ok {
		return probes.Process{}, false
	}
	p := probes.Process{PID: pid, PPID: s.PPID, Comm: s.Comm, State: s.State, Kthread: s.kthread()}
	if s.State == "Z" && s.Threads > 1 {
		p.Living = r.living(dir, pid)
	}
	if !r.boot.IsZero() && s.Start > 0 {
		p.Started = r.boot.Add(time.Duration(s.Start) * time.Second / ticks)
	}
	r.namespace(Dir(&p), &p)
	text, err := r.h.ReadFile(dir+"cgroup", 0)
	m := ParseCgroup(string(text), r.above)
	p.Cgroup, p.PodUID, p.ContainerID, p.Unit = m.Path, m.PodUID, m.ContainerID, m.Unit
	r.judge(dir, s, &p, m.Group, err != nil && !attr.Absent(err))
	r.closer(dir, s, &p)
	return p, true
}

// Dir is where the kernel shows a process's namespaces and files, with a slash at
// its end.
func Dir(p *probes.Process) string {
	dir := "proc/" + strconv.Itoa(p.PID) + "/"
	if p.Living != 0 {
		dir += "task/" + strconv.Itoa(p.Living) + "/"
	}
	return dir
}

// judge says what the process is. Its rights are read only where somebody may ask
// for its name; where what decides could not be read, it is nobody.
func (r *reader) judge(dir string, s Stat, p *probes.Process, g Group, unread bool) {
	if p.Kthread || g == PodGroup {
		p.Standing = Judge(p, g, Credentials{})
		return
	}
	if !r.h.Recorded() && !matters(s) {
		return
	}
	status, err := r.h.ReadFile(dir+"status", 0)
	if r.h.Recorded() && attr.Absent(err) && !matters(s) {
		return // nobody asked on the machine
	}
	if unread || err != nil && (!attr.Absent(err) || !r.h.Recorded()) {
		p.Standing = probes.OfOther
		return
	}
	p.Standing = Judge(p, g, ParseCredentials(status))
}

// living finds a thread that outlived its leader: the leader's own descriptors and
// namespaces are gone (exit_files, exit_task_namespaces), theirs are not.
func (r *reader) living(dir string, leader int) int {
	tids, _ := r.h.ReadDir(dir + "task")
	for _, tid := range pids(tids) {
		if tid == leader {
			continue
		}
		b, err := r.h.ReadFile(dir+"task/"+strconv.Itoa(tid)+"/stat", 0)
		if err != nil {
			continue
		}
		if s, err := ParseStat(b); err == nil && s.State != "Z" && s.State != "X" {
			return tid
		}
	}
	return 0
}

// stat falls back to comm and status, which a recording may hold alone.
func (r *reader) stat(dir string) (Stat, bool) {
	b, err := r.h.ReadFile(dir+"stat", 0)
	if err == nil {
		s, err := ParseStat(b)
		if err != nil {
			r.f.Problems = append(r.f.Problems, probes.Problem{Probe: name, Path: dir + "stat", Text: err.Error()})
		}
		return s, err == nil
	}
	if !r.h.Recorded() || !attr.Absent(err) {
		return Stat{}, false
	}
	var s Stat
	if b, err := r.h.ReadFile(dir+"status", 0); err == nil {
		s = ParseStatus(b)
	}
	if c := attr.Text(r.h, dir+"comm"); c != "" {
		s.Comm = c
	}
	return s, true
}

// namespace leaves 0 for a zombie, which has no namespaces any more
// (task_nsproxy in fs/proc/namespaces.c), without a word.
func (r *reader) namespace(dir string, p *probes.Process) {
	link, err := r.h.ReadLink(dir + "ns/mnt")
	if err != nil {
		return
	}
	if kind, inode, ok := probes.ParseNamespace(link); ok && kind == "mnt" {
		p.MntNS = inode
		return
	}
	r.f.Problems = append(r.f.Problems, probes.Problem{Probe: name, Table: probes.Mounts, PID: p.PID, Path: dir + "ns/mnt", Text: "not a mount namespace: " + link})
}

// closer reads what costs more, of processes that may matter; of a recording
// everything that it holds.
func (r *reader) closer(dir string, s Stat, p *probes.Process) {
	all := r.h.Given()
	if all || r.labels && (p.PodUID != "" || matters(s)) { // what a container may touch, whatever runs in it
		p.Label = strings.Trim(attr.Text(r.h, dir+"attr/current"), "\x00")
	}
	if !all && !matters(s) {
		return
	}
	if all || !p.Kthread {
		p.Cmdline = r.cmdline(dir)
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
func (r *reader) cmdline(dir string) []string {
	b, err := r.h.ReadFile(dir+"cmdline", 0)
	if err != nil && !errors.Is(err, host.ErrCut) {
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
