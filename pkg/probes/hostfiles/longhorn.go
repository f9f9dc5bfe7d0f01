package hostfiles

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// defaultDisk is where Longhorn keeps replicas unless a disk says otherwise.
const defaultDisk = "var/lib/longhorn"

// replicaFiles bounds the names of replica files per disk.
const replicaFiles = 5000

// longhorn keeps the names of replica files and their small metadata. Disk paths
// are told by running replica processes and by mount points outside the kubelet.
func (c *collector) longhorn(ctx context.Context) {
	for _, disk := range c.disks() {
		if !c.w.Guard.Safe(disk) {
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
			if i := strings.Index(arg, "/replicas/"); i > 0 && path.IsAbs(arg) {
				out = append(out, strings.Trim(strings.TrimPrefix(arg[:i], "/host"), "/"))
			}
		}
	}
	for _, ns := range c.f.Namespaces {
		if ns.ID != c.f.Identity.InitMntNS {
			continue
		}
		for _, m := range ns.Mounts {
			if !m.Dev.Anonymous() && m.Root == "/" && !hidden(m.Point) {
				out = append(out, strings.Trim(m.Point, "/"))
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
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
