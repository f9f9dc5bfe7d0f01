// Package tree lists directories of the host without ever touching a mount: a
// lookup on the root of a dead NFS server or of a lost disk does not return.
package tree

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Guard knows the mount points of process 1's namespace, through which the
// host's files are read.
type Guard struct {
	points map[string]probes.Mount
	sick   map[probes.Dev]bool
}

// NewGuard reads the mount points and the state of their devices from the facts.
func NewGuard(f *probes.Facts) Guard {
	g := Guard{points: map[string]probes.Mount{}, sick: map[probes.Dev]bool{}}
	for _, ns := range f.Namespaces {
		if !initNamespace(f, ns) {
			continue
		}
		for _, m := range ns.Mounts {
			g.points[m.Point] = m // a later line is mounted over an earlier one
		}
	}
	for _, b := range f.Block {
		switch b.State {
		case "", "running", "live":
		default:
			g.sick[b.Dev] = true
		}
	}
	return g
}

// Alias makes the mount points below one directory known under another name of
// it, too. Mount tables hold real paths; a path through a symbolic link would
// slip past them.
func (g Guard) Alias(dir, other string) {
	dir, other = strings.TrimSuffix(dir, "/"), strings.TrimSuffix(other, "/")
	if dir == other || dir == "" || other == "" {
		return
	}
	added := map[string]probes.Mount{}
	for point, m := range g.points {
		if rest, ok := strings.CutPrefix(point, dir); ok && (rest == "" || rest[0] == '/') {
			added[other+rest] = m
		}
		if rest, ok := strings.CutPrefix(point, other); ok && (rest == "" || rest[0] == '/') {
			added[dir+rest] = m
		}
	}
	for point, m := range added {
		if _, known := g.points[point]; !known {
			g.points[point] = m
		}
	}
}

func initNamespace(f *probes.Facts, ns probes.MountNamespace) bool {
	if f.Identity.InitMntNS != 0 {
		return ns.ID == f.Identity.InitMntNS
	}
	return len(ns.PIDs) > 0 && ns.PIDs[0] == 1
}

// Point tells whether a path (without leading slash) is a mount point.
func (g Guard) Point(path string) bool {
	_, ok := g.points["/"+path]
	return ok
}

// Safe tells whether a path lies on a local filesystem whose device lives. Any
// mount point above it is looked at, because a lookup passes through all of them.
func (g Guard) Safe(path string) bool {
	for p := "/" + strings.Trim(path, "/"); ; p = p[:strings.LastIndexByte(p, '/')] {
		if p == "" {
			p = "/"
		}
		if m, ok := g.points[p]; ok && (!local(m.FSType) || g.sick[m.Dev]) {
			return false
		}
		if p == "/" {
			return true
		}
	}
}

// local tells whether a filesystem answers without a server or a daemon of user
// space. autofs is none: a lookup makes it mount something.
func local(fstype string) bool {
	switch fstype {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "erofs", "squashfs", "overlay", "aufs", "vfat", "iso9660",
		"rootfs", "ramfs", "tmpfs", "devtmpfs", "proc", "sysfs", "cgroup", "cgroup2", "securityfs", "selinuxfs", "debugfs",
		"tracefs", "configfs", "bpf", "pstore", "efivarfs", "hugetlbfs", "mqueue", "devpts", "jfs", "reiserfs", "bcachefs":
		return true
	}
	return false
}
