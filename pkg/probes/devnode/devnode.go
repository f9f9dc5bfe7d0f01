// Package devnode reads the device nodes and links below /dev, and what udev
// remembers of the devices.
package devnode

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	name = "devnode"
	// deepest is dev/disk/by-path/x, and dev/zvol/POOL/DATASET/VOLUME with some room.
	deepest = 6
	// most bounds a /dev in which something runs wild.
	most = 50000
)

// elsewhere are the directories below /dev that hold no block devices.
var elsewhere = map[string]bool{
	"block": true, "char": true, "fd": true, "pts": true, "shm": true, "mqueue": true, "hugepages": true, "input": true,
	"snd": true, "dri": true, "bus": true, "cpu": true, "net": true, "vfio": true, "dma_heap": true, "usb": true, "infiniband": true,
}

// Run fills Facts.DeviceNodes, DevLinks and Udev.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	w := walker{h: h, f: f, mounted: mountedBelowDev(f)}
	if err := w.walk(ctx, "dev", 1); err != nil {
		return err
	}
	w.resolve()
	udev(h, f)
	return nil
}

// mountedBelowDev lists what is mounted over a part of /dev in the namespace of
// process 1 and is not a memory filesystem: such a place is not entered.
func mountedBelowDev(f *probes.Facts) map[string]bool {
	places := map[string]bool{}
	for _, ns := range f.Namespaces {
		if ns.ID != f.Identity.InitMntNS {
			continue
		}
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			if strings.HasPrefix(m.Point, "/dev/") && m.FSType != "devtmpfs" && m.FSType != "tmpfs" {
				places[m.Point[1:]] = true
			}
		}
	}
	return places
}

type walker struct {
	h       host.Host
	f       *probes.Facts
	mounted map[string]bool
	links   []probes.DevLink
	seen    int
}

func (w *walker) walk(ctx context.Context, dir string, depth int) error {
	names, _ := w.h.ReadDir(dir)
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("list %s: %w", dir, err)
		}
		if w.seen++; w.seen == most {
			w.f.Problems = append(w.f.Problems, probes.Problem{Probe: name, Path: dir, Text: fmt.Sprintf("more than %d entries, the rest was not read", most), Count: 1})
		}
		if w.seen >= most {
			return nil
		}
		if err := w.entry(ctx, dir, n, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, dir, n string, depth int) error {
	at := dir + "/" + n
	if w.mounted[at] || depth == 1 && elsewhere[n] || tty(n) {
		return nil
	}
	kind, number, _ := w.h.Lstat(at) // Absent where it was refused
	switch kind {
	case host.Device, host.Char:
		w.f.DeviceNodes = append(w.f.DeviceNodes, probes.DeviceNode{Path: "/" + at, Dev: number, Char: kind == host.Char})
	case host.Link:
		if target, err := w.h.ReadLink(at); err == nil {
			w.links = append(w.links, probes.DevLink{Path: "/" + at, Target: target})
		}
	case host.File:
		// A tool that wrote to a missing node has made a file in its place.
		if depth > 1 {
			w.f.DeviceNodes = append(w.f.DeviceNodes, probes.DeviceNode{Path: "/" + at, File: true})
		}
	case host.Dir:
		if depth < deepest {
			return w.walk(ctx, at, depth+1)
		}
	}
	return nil
}

// tty tells the terminals, of which a machine has a hundred.
func tty(n string) bool {
	return strings.HasPrefix(n, "tty") || strings.HasPrefix(n, "vcs") || n == "ptmx"
}

// resolve follows the links by their text alone, and keeps those that lead to a
// block device or nowhere. A link at the top of /dev counts only when it leads to
// one: the others (core, stdin, log) are no devices.
func (w *walker) resolve() {
	numbers := map[string]probes.Dev{}
	char := map[string]bool{}
	for _, n := range w.f.DeviceNodes {
		if !n.File {
			numbers[n.Path] = n.Dev
			char[n.Path] = n.Char
		}
	}
	targets := map[string]string{}
	for _, l := range w.links {
		targets[l.Path] = l.Target
	}
	for _, l := range w.links {
		end := Follow(l.Path, func(p string) (string, bool) { t, ok := targets[p]; return t, ok })
		dev, ok := numbers[end]
		if char[end] || !ok && strings.Count(l.Path, "/") == 2 {
			continue
		}
		l.Dev = dev
		w.f.DevLinks = append(w.f.DevLinks, l)
	}
}

// Follow resolves a chain of links by name and gives up after as many steps as
// the kernel does (MAXSYMLINKS, 40).
func Follow(p string, link func(string) (string, bool)) string {
	for range 40 {
		target, ok := link(p)
		if !ok {
			return p
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(p), target)
		}
		p = path.Clean(target)
	}
	return p
}
