package hostfiles

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// defaultDisk is where Longhorn keeps replicas unless a disk says otherwise.
const defaultDisk = "var/lib/longhorn"

const (
	replicaFiles = 5000 // names of replica files per disk
	maxDisks     = 64   // disks whose place only a process tells
	samePlaces   = 4    // mount points of one disk
	markLimit    = 4096 // of longhorn-disk.cfg, which holds one line
)

// longhorn keeps the names of replica files and their small metadata. Disk paths
// are told by mount points outside the kubelet and by running replica processes.
// Everybody can start a process with such arguments, so a directory counts only
// when Longhorn's mark lies in it.
func (c *collector) longhorn(ctx context.Context) {
	for _, disk := range c.disks() {
		if !c.w.Guard.Safe(disk) {
			if disk == defaultDisk { // of others nothing says that they are Longhorn's
				host.Refuse(c.h, disk)
			}
			continue
		}
		if !c.marked(disk) {
			continue
		}
		w := c.w
		w.Left, w.Depth = replicaFiles, 3
		w.Glob(ctx, disk+"/longhorn-disk.cfg", func(e tree.Entry) { c.keep(e, whole) })
		for _, sub := range []string{"replicas", "engine-binaries", "backing-images"} {
			w.Walk(ctx, disk+"/"+sub, c.replicaFile)
		}
		c.w.Cut += w.Cut
	}
}

// marked tells whether a directory is Longhorn's: it writes longhorn-disk.cfg into
// each of its disks (util.GenerateDiskConfig of longhorn-manager). The default one is
// looked at without.
func (c *collector) marked(disk string) bool {
	if disk == defaultDisk {
		return true
	}
	file := disk + "/longhorn-disk.cfg"
	if c.w.Entry(file).Kind != host.File {
		return false
	}
	b, err := c.h.ReadFile(file, markLimit)
	var mark struct {
		UUID string `json:"diskUUID"`
	}
	return err == nil && json.Unmarshal(b, &mark) == nil && mark.UUID != ""
}

func (c *collector) replicaFile(e tree.Entry) {
	switch {
	case strings.HasSuffix(e.Path, ".meta"):
		c.keep(e, whole)
	case e.Kind != host.Dir || strings.Contains(e.Path, "/backing-images/"):
		c.keep(e, presence)
	}
}

// disks returns possible Longhorn disk paths, without leading slash, sorted.
func (c *collector) disks() []string {
	out := []string{defaultDisk}
	for _, p := range c.f.Processes {
		for _, arg := range p.Cmdline {
			i := strings.Index(arg, "/replicas/")
			if i <= 0 || !path.IsAbs(arg) || len(out) > maxDisks {
				continue
			}
			if disk := path.Clean("/" + strings.TrimPrefix(arg[:i], "/host")); !hidden(disk) && !kernels(disk) {
				out = append(out, strings.Trim(disk, "/"))
			}
		}
	}
	seen := map[probes.Dev]int{}
	for _, ns := range c.f.Namespaces {
		if ns.ID != c.f.Identity.InitMntNS {
			continue
		}
		for _, m := range ns.Mounts {
			if m.Dev.Anonymous() || m.Root != "/" || hidden(m.Point) {
				continue
			}
			if seen[m.Dev]++; seen[m.Dev] <= samePlaces { // more of the same disk show the same files
				out = append(out, strings.Trim(m.Point, "/"))
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// kernels tells a path of the kernel's own file systems.
func kernels(p string) bool {
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(dir string) bool { return probes.Within(p, dir) })
}

// hidden tells whether a mount point belongs to a volume, a container or the
// system, and so is no disk that was given to Longhorn.
func hidden(point string) bool {
	for _, part := range []string{"/pods/", "/plugins/", "/containerd/", "/containers/", "/docker/", "/snap/", "/boot", "/run/"} {
		if strings.Contains(point+"/", part) || strings.HasPrefix(point, part) {
			return true
		}
	}
	return false
}
