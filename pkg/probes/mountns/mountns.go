// Package mountns reads the mount table of every mount namespace once.
package mountns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const name = "mountns"

// tableLimit allows for some hundred thousand mounts in one namespace, which
// happens when mounts propagate in a loop.
const tableLimit = 64 << 20

// parallel is how many tables are read at once: the kernel holds the namespace
// semaphore for each, and the node has other work to do.
const parallel = 2

// Run fills Facts.Namespaces and the nsfs mounts of Facts.NSRefs from the
// processes found before. The namespace of process 1 comes first, the others
// ascend by inode.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	list := group(f.Processes, f.Identity.InitMntNS)
	if len(list) == 0 {
		return errors.New("read mount tables: no process with a mount namespace")
	}
	problems := make([][]probes.Problem, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			var p Parser
			for i := range next {
				problems[i] = read(ctx, h, &p, &list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	f.Namespaces = list
	for i := range list {
		f.Problems = append(f.Problems, problems[i]...)
		f.NSRefs = append(f.NSRefs, binds(&list[i])...)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read mount tables: %w", err)
	}
	return nil
}

// group collects the processes of each namespace. A process whose namespace link
// could not be read belongs to an unknown one, never to that of process 1: each
// such process stands alone under inode 0.
func group(all []probes.Process, first uint64) []probes.MountNamespace {
	at := map[uint64]int{}
	var list []probes.MountNamespace
	for _, p := range all {
		if p.MntNS == 0 {
			if p.State != "Z" && p.State != "X" && !p.Kthread {
				list = append(list, probes.MountNamespace{PIDs: []int{p.PID}})
			}
			continue
		}
		i, ok := at[p.MntNS]
		if !ok {
			i = len(list)
			at[p.MntNS] = i
			list = append(list, probes.MountNamespace{ID: p.MntNS})
		}
		list[i].PIDs = append(list[i].PIDs, p.PID)
	}
	slices.SortStableFunc(list, func(a, b probes.MountNamespace) int {
		switch {
		case a.ID == b.ID:
			return a.PIDs[0] - b.PIDs[0]
		case a.ID == first:
			return -1
		case b.ID == first:
			return 1
		case a.ID < b.ID:
			return -1
		}
		return 1
	})
	return list
}

// read tries the processes of a namespace until one table could be read: the
// first may have ended since, or hang on its way out.
func read(ctx context.Context, h host.Host, p *Parser, ns *probes.MountNamespace) []probes.Problem {
	var problems []probes.Problem
	note := func(path string, err error) {
		problems = append(problems, probes.Problem{Probe: name, Path: path, Text: attr.ErrName(err)})
	}
	const tries = 8
	failed := 0
	for _, pid := range ns.PIDs {
		if ctx.Err() != nil || failed == tries {
			break
		}
		path := "proc/" + strconv.Itoa(pid) + "/mountinfo"
		table, err := h.ReadFile(path, tableLimit)
		if err != nil && !errors.Is(err, host.ErrCut) {
			if !attr.Absent(err) {
				note(path, err)
				failed++
			}
			continue
		}
		// A table that is empty belongs to a process that is ending: its
		// namespace is gone already (m->ns is checked in mounts_open_common).
		if len(table) == 0 && !h.Recorded() {
			continue
		}
		if err != nil {
			note(path, err)
		}
		var bad []LineError
		ns.Mounts, bad = p.Parse(string(table))
		ns.TablePID = pid
		for _, b := range bad {
			problems = append(problems, probes.Problem{Probe: name, Path: path, Text: b.Error()})
		}
		return problems
	}
	return problems
}

// binds are the namespaces that an nsfs bind mount keeps alive, as container
// runtimes and `ip netns` make them; only those of mounts matter here. The root
// of such a mount is the text of the namespace link (nsfs_show_path in fs/nsfs.c).
func binds(ns *probes.MountNamespace) []probes.NamespaceRef {
	var refs []probes.NamespaceRef
	for i := range ns.Mounts {
		m := &ns.Mounts[i]
		if m.FSType != "nsfs" || !strings.HasPrefix(m.Root, "mnt:") {
			continue
		}
		if _, inode, ok := probes.ParseNamespace(m.Root); ok {
			refs = append(refs, probes.NamespaceRef{ID: inode, HeldBy: m.Point, PID: ns.TablePID})
		}
	}
	return refs
}
