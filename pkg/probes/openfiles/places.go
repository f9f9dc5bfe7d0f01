package openfiles

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// place is a mount point in one namespace.
type place struct {
	point string
	dev   probes.Dev
}

// places answers on which filesystem a path lies, by the mount tables alone.
type places struct {
	all     map[uint64][]place // by namespace, longest mount point first
	volume  map[probes.Dev]bool
	points  map[uint64][]string // mount points of volumes, by namespace
	kubelet []string            // directories of volumes below the kubelet's root
}

// newPlaces learns which filesystems are volumes: those mounted below the
// kubelet's directories, and every block device that is not a disk of the system.
func newPlaces(f *probes.Facts) *places {
	root := strings.TrimSuffix(f.Kubelet.Root, "/")
	if root == "" {
		root = "/var/lib/kubelet"
	}
	p := &places{
		all: map[uint64][]place{}, points: map[uint64][]string{}, volume: volumes(f, root),
		kubelet: []string{root + "/pods/", root + "/plugins/"},
	}
	for _, ns := range f.Namespaces {
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			p.all[ns.ID] = append(p.all[ns.ID], place{m.Point, m.Dev})
			if p.volume[m.Dev] {
				p.points[ns.ID] = append(p.points[ns.ID], m.Point)
			}
		}
		// A later line covers an earlier one at the same point.
		slices.Reverse(p.all[ns.ID])
		slices.SortStableFunc(p.all[ns.ID], func(a, b place) int { return len(b.point) - len(a.point) })
	}
	return p
}

// system are the numbers of the filesystems that carry the machine itself.
func system(f *probes.Facts, root string) map[probes.Dev]bool {
	set := map[probes.Dev]bool{}
	for _, ns := range f.Namespaces {
		if ns.ID != f.Identity.InitMntNS {
			continue
		}
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			if m.Point == "/" || root == m.Point || strings.HasPrefix(root, m.Point+"/") || slices.Contains(ownPoints, m.Point) {
				set[m.Dev] = true
			}
		}
	}
	return set
}

var ownPoints = []string{"/boot", "/boot/efi", "/var", "/usr", "/var/log", "/home", "/tmp", "/etc", "/opt", "/nix", "/nix/store"}

func volumes(f *probes.Facts, root string) map[probes.Dev]bool {
	own := system(f, root)
	set := map[probes.Dev]bool{}
	for _, ns := range f.Namespaces {
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			if own[m.Dev] || memory(m.FSType) {
				continue
			}
			if !m.Dev.Anonymous() || strings.HasPrefix(m.Point, root+"/") {
				set[m.Dev] = true
			}
		}
	}
	return set
}

// memory tells the filesystems that hold no data of a volume.
func memory(fs string) bool {
	switch fs {
	case "tmpfs", "devtmpfs", "proc", "sysfs", "cgroup", "cgroup2", "nsfs", "mqueue", "devpts", "overlay", "squashfs", "iso9660", "bpf", "securityfs", "hugetlbfs":
		return true
	}
	return false
}

// interesting tells whether a path lies on a volume in this namespace.
func (p *places) interesting(ns uint64, target string) bool {
	for _, k := range p.kubelet {
		if strings.HasPrefix(target, k) && strings.Contains(target, "/volume") || strings.HasPrefix(target, k) && strings.Contains(target, "/globalmount") {
			return true
		}
	}
	for _, point := range p.points[ns] {
		if below(target, point) {
			return p.volume[p.dev(ns, target)]
		}
	}
	return false
}

// dev is the number of the filesystem that carries a path in a namespace.
func (p *places) dev(ns uint64, target string) probes.Dev {
	for _, m := range p.all[ns] {
		if below(target, m.point) {
			return m.dev
		}
	}
	return probes.Dev{}
}

func below(path, point string) bool {
	return point == "/" || path == point || len(path) > len(point) && path[len(point)] == '/' && path[:len(point)] == point
}
