// Package mountns reads the mount table of every mount namespace once.
package mountns

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
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
	dirs := places(f.Processes)
	for range parallel {
		wg.Go(func() {
			r := reader{h: h, old: !h.Recorded() && tears(f.Identity.Kernel), dir: dirs}
			for i := range next {
				problems[i] = r.read(ctx, &list[i])
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

// places tells where the kernel shows a process's table.
func places(all []probes.Process) func(pid int) string {
	odd := map[int]string{}
	for i := range all {
		if all[i].Living != 0 {
			odd[all[i].PID] = process.Dir(&all[i])
		}
	}
	return func(pid int) string {
		if dir, ok := odd[pid]; ok {
			return dir
		}
		return "proc/" + strconv.Itoa(pid) + "/"
	}
}

// group collects the processes of each namespace. A process whose namespace link
// could not be read belongs to an unknown one, never to that of process 1: each
// such process stands alone under inode 0.
func group(all []probes.Process, first uint64) []probes.MountNamespace {
	at := map[uint64]int{}
	var list []probes.MountNamespace
	for i := range all {
		p := &all[i]
		if p.MntNS == 0 {
			if p.Running() {
				list = append(list, probes.MountNamespace{PIDs: []int{p.PID}})
			}
			continue
		}
		n, ok := at[p.MntNS]
		if !ok {
			n = len(list)
			at[p.MntNS] = n
			list = append(list, probes.MountNamespace{ID: p.MntNS})
		}
		list[n].PIDs = append(list[n].PIDs, p.PID)
	}
	return probes.Sorted(list, func(a, b *probes.MountNamespace) int {
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
