package openfiles

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// places answers on which filesystem a path lies, by the mount tables alone.
type places struct {
	tables  map[uint64][]probes.Mount
	points  map[uint64]map[string]probes.Dev // mount points by namespace, made when first asked for
	volume  map[probes.Dev]bool
	kubelet []string // directories of volumes below the kubelet's root
}

// newPlaces learns which filesystems are volumes: those mounted below the
// kubelet's directories, and every block device that is not a disk of the system.
func newPlaces(f *probes.Facts) *places {
	root := strings.TrimSuffix(f.Kubelet.Root, "/")
	if root == "" {
		root = "/var/lib/kubelet"
	}
	p := &places{
		tables: map[uint64][]probes.Mount{}, points: map[uint64]map[string]probes.Dev{}, volume: volumes(f, root),
		kubelet: []string{root + "/pods/", root + "/plugins/"},
	}
	for _, ns := range f.Namespaces {
		if ns.ID != 0 && ns.TablePID != 0 {
			p.tables[ns.ID] = ns.Mounts
		}
	}
	return p
}

// known tells whether the table of a namespace was read.
func (p *places) known(ns uint64) bool {
	_, ok := p.tables[ns]
	return ok
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
			if m.Point == "/" || probes.Within(root, m.Point) || slices.Contains(ownPoints, m.Point) {
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
	return p.volume[p.dev(ns, target)]
}

// dev is the number of the filesystem that carries a path in a namespace: that of
// the longest mount point above it. A later line covers an earlier one at the same
// point.
func (p *places) dev(ns uint64, target string) probes.Dev {
	points, ok := p.points[ns]
	if !ok {
		points = make(map[string]probes.Dev, len(p.tables[ns]))
		for i := range p.tables[ns] {
			points[p.tables[ns][i].Point] = p.tables[ns][i].Dev
		}
		p.points[ns] = points
	}
	for {
		if dev, ok := points[target]; ok {
			return dev
		}
		i := strings.LastIndexByte(target, '/')
		if i < 0 {
			return probes.Dev{}
		}
		if target = target[:i]; i == 0 {
			return points["/"]
		}
	}
}
