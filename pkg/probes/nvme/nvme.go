// Package nvme reads NVMe subsystems and controllers; over fabrics they are the
// sessions of a volume.
package nvme

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

const (
	controllers = "sys/class/nvme"
	subsystems  = "sys/class/nvme-subsystem"
)

// namespace matches a disk; a multi-path part nvme0c1n1 is a path, not a disk
// (drivers/nvme/host/multipath.c).
var namespace = pattern.MustCompile(`^nvme[0-9]+n[0-9]+$`)

// Run fills Facts.NVMe: every subsystem, then every controller.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	for _, class := range []string{subsystems, controllers} {
		names, _ := h.ReadDir(class)
		for _, n := range names {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f.NVMe = append(f.NVMe, read(h, f, class, n))
		}
	}
	return nil
}

func read(h host.Host, f *probes.Facts, class, name string) probes.NVMeSubsystem {
	dir := path.Join(class, name)
	s := probes.NVMeSubsystem{
		Name:      name,
		NQN:       attr.Text(h, dir+"/subsysnqn"),
		State:     attr.Text(h, dir+"/state"),
		Transport: attr.Text(h, dir+"/transport"),
		Address:   attr.Text(h, dir+"/address"),
	}
	entries, _ := h.ReadDir(dir)
	for _, e := range entries {
		if namespace.MatchString(e) {
			s.Namespaces = append(s.Namespaces, e)
		}
	}
	if len(s.Namespaces) == 0 && class == controllers {
		s.Namespaces = disksOf(f, name)
	}
	return s
}

// disksOf takes a controller's disks from the block devices, where sysfs shows
// them only below the subsystem.
func disksOf(f *probes.Facts, controller string) []string {
	var out []string
	for _, b := range f.Block {
		if namespace.MatchString(b.Name) && strings.HasPrefix(b.Name, controller+"n") {
			out = append(out, b.Name)
		}
	}
	slices.Sort(out)
	return out
}
