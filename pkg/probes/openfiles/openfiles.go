// Package openfiles finds what processes keep open on block devices and volumes:
// descriptors, working directories and roots, those in detached mounts included.
package openfiles

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/superblock"
)

const name = "openfiles"

// Run fills Open of every process, and the descriptors of mount namespaces in
// Facts.NSRefs. Links are read, their targets never: only a volume that no table
// shows makes it ask for device numbers, by statx without contacting a server.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	s := scanner{h: h, f: f, places: newPlaces(f), nodes: nodes(f), ask: h.Given() || len(superblock.Unlisted(f)) > 0}
	for i := range f.Processes {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read descriptors, %d of %d processes: %w", i, len(f.Processes), err)
		}
		if p := &f.Processes[i]; p.Running() {
			s.process(p)
		}
	}
	return nil
}

type node struct {
	dev  probes.Dev
	char bool
}

// nodes maps paths below /dev to numbers. A descriptor shows the path by which it
// was opened with links resolved, so nodes suffice; device names that sysfs knows
// serve where /dev was not recorded.
func nodes(f *probes.Facts) map[string]node {
	m := map[string]node{}
	for _, d := range f.Block {
		m["/dev/"+d.Name] = node{dev: d.Dev}
	}
	for _, l := range f.DevLinks {
		if !l.Dev.IsZero() {
			m[l.Path] = node{dev: l.Dev}
		}
	}
	for _, n := range f.DeviceNodes {
		if !n.File {
			m[n.Path] = node{n.Dev, n.Char}
		}
	}
	return m
}

type scanner struct {
	h      host.Host
	f      *probes.Facts
	places *places
	nodes  map[string]node
	ask    bool
	lost   int // files of the present process that no table places
}

func (s *scanner) process(p *probes.Process) {
	dir := process.Dir(p)
	s.lost = 0
	for _, link := range []string{"cwd", "root"} {
		s.link(p, dir+link)
	}
	for _, sub := range []string{"fd", "map_files"} {
		// Mapped files need the process's mmap lock, which a hanging process may
		// hold for ever: only a recording is read for them.
		if sub == "map_files" && !s.h.Given() {
			continue
		}
		names, err := s.h.ReadDir(dir + sub)
		if err != nil {
			continue
		}
		for _, n := range names {
			s.link(p, dir+sub+"/"+n)
		}
	}
	s.answers(p, dir)
	if s.lost > 0 {
		s.f.Problems = append(s.f.Problems, probes.Problem{
			Probe: name, Path: dir + "fd", PID: p.PID, Namespace: p.MntNS, Count: s.lost,
			Text: "no mount table tells on which filesystems its files lie",
		})
	}
}

// answers keeps what a recording knows by device number only.
func (s *scanner) answers(p *probes.Process, dir string) {
	for _, q := range s.h.Asked("dev") {
		q = strings.TrimPrefix(q, "@dev/")
		if !strings.HasPrefix(q, dir) || has(p.Open, q) {
			continue
		}
		if dev, err := s.h.DevOf(q); err == nil && !dev.IsZero() {
			p.Open = append(p.Open, probes.Descriptor{Path: q, Dev: dev})
		}
	}
}

func has(list []probes.Descriptor, path string) bool {
	for i := range list {
		if list[i].Path == path {
			return true
		}
	}
	return false
}

func (s *scanner) link(p *probes.Process, at string) {
	target, err := s.h.ReadLink(at)
	if err != nil {
		return // closed meanwhile, or a recording without it
	}
	switch {
	case strings.HasPrefix(target, "mnt:["):
		if _, inode, ok := probes.ParseNamespace(target); ok {
			s.f.NSRefs = append(s.f.NSRefs, probes.NamespaceRef{ID: inode, HeldBy: at, PID: p.PID})
		}
	case strings.HasPrefix(target, "/dev/"):
		s.device(p, at, target)
	case strings.HasPrefix(target, "/") || strings.HasPrefix(target, "(unreachable)"):
		s.file(p, at, target)
	}
}

const deleted = " (deleted)"

// device keeps block devices. A node that the host's /dev does not have (one that
// a container made for itself, or one removed since) is asked for its number.
func (s *scanner) device(p *probes.Process, at, target string) {
	path := strings.TrimSuffix(target, deleted)
	p.ServesFUSE = p.ServesFUSE || isFUSE(path)
	n, known := s.nodes[path]
	own := p.MntNS == s.f.Identity.InitMntNS
	switch {
	case quiet(path) || known && n.char:
		return
	case known && own && path == target:
	default:
		dev, err := s.h.DevOf(at)
		switch {
		case err == nil && dev.Anonymous():
			return // a plain file in some /dev
		case err == nil:
			n = node{dev: dev}
		case !known && !s.h.Recorded():
			return
		}
	}
	d := probes.Descriptor{Path: at, Target: target, Dev: n.dev, Device: true}
	d.Flags = s.flags(at)
	p.Open = append(p.Open, d)
}

// isFUSE tells the device of filesystems in user space, also where a container has its
// nodes in a directory of its own.
func isFUSE(path string) bool { return strings.HasSuffix(path, "/fuse") }

// quiet are character devices that nearly every process has open.
func quiet(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev/console", "/dev/kmsg", "/dev/fuse", "/dev/tty",
		"/dev/mapper/control", "/dev/loop-control", "/dev/btrfs-control", "/dev/kvm", "/dev/cpu_dma_latency", "/dev/watchdog", "/dev/watchdog0":
		return true
	}
	for _, dir := range []string{"/dev/pts/", "/dev/shm/", "/dev/net/", "/dev/mqueue/", "/dev/hugepages", "/dev/input/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// file keeps files on volumes. The tables tell the filesystem of a path that can
// be reached; for one in a detached mount only the kernel can.
func (s *scanner) file(p *probes.Process, at, target string) {
	path := strings.TrimSuffix(target, deleted)
	d := probes.Descriptor{Path: at, Target: target}
	placed := s.places.known(p.MntNS)
	if (s.ask || !placed) && !ordinary(path) {
		if dev, err := s.h.DevOf(at); err == nil && !dev.IsZero() {
			d.Dev = dev
		}
	}
	if !placed && d.Dev.IsZero() && !ordinary(path) {
		s.lost++
	}
	seen := s.places.interesting(p.MntNS, path)
	if d.Dev.IsZero() && seen && path == target {
		d.Dev = s.places.dev(p.MntNS, path)
	}
	hidden := !d.Dev.IsZero() && !d.Dev.Anonymous() && d.Dev != s.places.dev(p.MntNS, path)
	if seen || hidden || s.places.volume[d.Dev] {
		p.Open = append(p.Open, d)
	}
}

// ordinary paths cannot be on a volume that no table shows: what a detached mount
// prints begins at its own root, and these filesystems are none.
func ordinary(path string) bool {
	for _, dir := range []string{"/proc/", "/sys/", "/memfd:", "/SYSV", "/[aio]", "/anon_hugepage"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// flags reads the open flags out of fdinfo, in octal (proc_pid_fdinfo(5)). It
// leaves 0 where they were not read.
func (s *scanner) flags(at string) uint64 {
	path, ok := strings.CutPrefix(at, "proc/")
	pid, fd, found := strings.Cut(path, "/fd/")
	if !ok || !found {
		return 0
	}
	b, err := s.h.ReadFile("proc/"+pid+"/fdinfo/"+fd, 0)
	if err != nil {
		return 0
	}
	return ParseFlags(string(b))
}

// ParseFlags takes the octal flags out of fdinfo.
func ParseFlags(text string) uint64 {
	for _, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(line, "flags:"); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(v), 8, 64)
			return n
		}
	}
	return 0
}
