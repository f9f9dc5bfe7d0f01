package mountns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
)

const (
	tries   = 8  // processes of one namespace whose table is refused
	chroots = 64 // processes of one namespace that are looked at for one without a root of its own
	torn    = 10 // strange lines of one table that are told one by one
)

// reader reads the tables of one machine.
type reader struct {
	h   host.Host
	p   Parser
	old bool                 // a table can be torn while it is read
	dir func(pid int) string // where the kernel shows a process's table
}

// read fills one namespace. It tries its processes until one table could be read:
// the first may have ended since, or hang on its way out. A process that was given
// another root is shown only what lies below it (show_mountinfo in
// fs/proc_namespace.c), so its table serves only where there is no other.
func (r *reader) read(ctx context.Context, ns *probes.MountNamespace) []probes.Problem {
	var refused, narrow []probes.Problem
	for _, pid := range ns.PIDs {
		if ctx.Err() != nil {
			return []probes.Problem{{Probe: name, PID: pid, Namespace: ns.ID, Path: r.dir(pid) + "mountinfo", Text: "not read before the deadline"}}
		}
		if len(refused) == tries || len(narrow) == chroots {
			break
		}
		if root := r.root(pid); root != "/" {
			narrow = append(narrow, probes.Problem{Probe: name, PID: pid, Namespace: ns.ID, Path: r.dir(pid) + "root",
				Text: "its processes see only what lies below a root of their own, such as " + strconv.Quote(root)})
			continue
		}
		problems, done := r.table(ns, pid)
		if done {
			return problems
		}
		refused = append(refused, problems...)
	}
	for i := range narrow { // their tables may well be empty
		if problems, done := r.table(ns, narrow[i].PID); done || !process.Ended(r.h, narrow[i].PID) {
			return append(narrow[i:i+1:i+1], problems...)
		}
	}
	return refused[:min(1, len(refused))]
}

// root is the root directory of a process in its namespace; that of a recording
// that does not say is the whole.
func (r *reader) root(pid int) string {
	root, err := r.h.ReadLink(r.dir(pid) + "root")
	if err != nil {
		return "/"
	}
	return root
}

// table reads the table of one process. Done tells that there was one; else the
// problem says why not, and nothing when the process has only ended.
func (r *reader) table(ns *probes.MountNamespace, pid int) (problems []probes.Problem, done bool) {
	path := r.dir(pid) + "mountinfo"
	problem := func(text string, count int) probes.Problem {
		return probes.Problem{Probe: name, PID: pid, Namespace: ns.ID, Path: path, Text: text, Count: count}
	}
	table, err := r.stable(path)
	switch {
	case errors.Is(err, host.ErrCut), errors.Is(err, errTorn):
		problems = append(problems, problem(err.Error(), 1))
	case err != nil && attr.Absent(err):
		return nil, false
	case err != nil, len(table) == 0:
		// Both are those of a process that is ending, whose namespace is gone already (EINVAL,
		// or m->ns in mounts_open_common); every other one has at least a root.
		if process.Ended(r.h, pid) {
			return nil, false
		}
		text := "empty"
		if err != nil {
			text = attr.ErrName(err)
		}
		return []probes.Problem{problem(text, 0)}, false
	}
	var bad []LineError
	ns.Mounts, bad = r.p.Parse(string(table))
	ns.TablePID = pid
	if n := orphans(ns.Mounts); n > 0 && r.root(pid) == "/" {
		problems = append(problems, problem("lines are missing: mounts are shown whose parents are not", n))
	}
	for i, b := range bad {
		if i == torn {
			problems = append(problems, problem(fmt.Sprintf("%d more lines have no known form", len(bad)-torn), len(bad)-torn))
			break
		}
		problems = append(problems, problem(b.Error(), 0))
	}
	return problems, true
}

// orphans counts the mounts of a table below a mount that is not in it. The kernel shows all
// that can be reached from the root of the process, and so each with its parent; the root's
// own parent is out of reach (show_mountinfo in fs/proc_namespace.c). What a runtime mounts for every
// container below /proc, /sys and /dev is not kept (package kept), so what lies on it, as binfmt_misc and
// nfsd do on /proc, says nothing.
func orphans(table []probes.Mount) int {
	ids := make(map[int]bool, len(table))
	for i := range table {
		ids[table[i].ID] = true
	}
	n := 0
	for i := range table {
		if m := &table[i]; !ids[m.Parent] && m.Point != "/" && m.ID != m.Parent && !furnished(m.Point) {
			n++
		}
	}
	return n
}

func furnished(point string) bool {
	return strings.HasPrefix(point, "/proc/") || strings.HasPrefix(point, "/sys/") || strings.HasPrefix(point, "/dev/")
}

var errTorn = errors.New("the table changed during each of several readings")

// stable reads a table. Before Linux 5.8 one that changes during the reading can
// lack mounts that stay (mnt: "proc/mounts: add cursor", commit 9f6c61f96f2d), so it
// is read until two readings agree.
func (r *reader) stable(path string) ([]byte, error) {
	table, err := r.h.ReadFile(path, tableLimit)
	if err != nil || !r.old || len(table) < 4096 {
		return table, err
	}
	for range 4 {
		again, err := r.h.ReadFile(path, tableLimit)
		if err != nil {
			return again, err
		}
		if bytes.Equal(table, again) {
			return table, nil
		}
		table = again
	}
	return table, errTorn
}

// tears tells whether a kernel shows torn tables.
func tears(release string) bool {
	major, rest, _ := strings.Cut(release, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, err2 := strconv.Atoi(strings.TrimRight(minor, "-+abcdefghijklmnopqrstuvwxyz"))
	return err == nil && err2 == nil && (a < 5 || a == 5 && b < 8)
}
