package kubelet

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// block lists the devices of block volumes: staged, published, and bound below
// dev/ for the loop device that keeps them.
func (r *reader) block(ctx context.Context) {
	base := r.root + "/plugins/kubernetes.io/csi/volumeDevices"
	w := r.w
	w.Depth = 5
	w.Walk(ctx, base, func(e tree.Entry) {
		if path.Base(e.Path) == "vol_data.json" {
			return
		}
		b := probes.BlockPath{Path: "/" + e.Path, Kind: string(e.Kind)}
		switch e.Kind {
		case host.Device, host.Char:
			b.Kind = string(host.Device)
			_, b.Dev, _ = r.h.Lstat(e.Path)
		case host.Link:
			b.To, _ = r.h.ReadLink(e.Path)
		}
		if e.Mount {
			b.Dev = r.boundDevice("/" + e.Path)
			if !b.Dev.IsZero() {
				b.Kind = string(host.Device)
			}
		}
		r.k.BlockDirs = append(r.k.BlockDirs, b)
	})
	r.w.Left, r.w.Cut = w.Left, w.Cut
}

// boundDevice tells which device is bound over a path, as far as the mount table
// says so: a bind of a node in devtmpfs has the node's name as its root.
func (r *reader) boundDevice(point string) probes.Dev {
	var root string
	for _, ns := range r.f.Namespaces {
		for _, m := range ns.Mounts {
			if m.Point == point && (m.FSType == "devtmpfs" || m.FSType == "tmpfs") {
				root = m.Root
			}
		}
	}
	if root == "" {
		return probes.Dev{}
	}
	_, dev, err := r.h.Lstat("dev" + root)
	if err != nil {
		return probes.Dev{}
	}
	return dev
}

func (r *reader) pods(ctx context.Context) {
	dir := r.root + "/pods"
	uids, err := r.h.ReadDir(dir)
	if err != nil {
		return
	}
	for _, uid := range uids {
		if e := r.w.Entry(path.Join(dir, uid)); ctx.Err() != nil || e.Mount || e.Kind != host.Dir {
			continue
		}
		p := probes.PodDir{UID: uid}
		pod := escape(path.Join(dir, uid))
		r.w.Glob(ctx, pod+"/volumes/*/*", func(e tree.Entry) { p.Volumes = append(p.Volumes, r.volume(ctx, e)) })
		r.w.Glob(ctx, pod+"/volume-subpaths/*/*/*", func(e tree.Entry) {
			p.Subpath = append(p.Subpath, after(e.Path, "/volume-subpaths/"))
		})
		r.w.Glob(ctx, pod+"/volumeDevices/*/*", func(e tree.Entry) {
			name := after(e.Path, "/pods/"+uid+"/")
			if to, err := r.h.ReadLink(e.Path); e.Kind == host.Link && err == nil {
				name += " -> " + to
			}
			p.Devices = append(p.Devices, name)
		})
		r.k.PodDirs = append(r.k.PodDirs, p)
	}
}

// given are the plugins that write what a pod is given, or what it keeps for itself, into its directory.
var given = []string{"configmap", "secret", "projected", "downward-api", "empty-dir", "git-repo"}

// volume lists what is in one volume's directory, and its vol_data.json. A file where nothing is
// mounted ("mount" below that of CSI, the directory itself of others) was written to the node's own disk.
func (r *reader) volume(ctx context.Context, e tree.Entry) probes.PodVolumeDir {
	v := probes.PodVolumeDir{Plugin: path.Base(path.Dir(e.Path)), Name: path.Base(e.Path)}
	if e.Mount || e.Kind != host.Dir {
		return v
	}
	if slices.Contains(given, strings.TrimPrefix(v.Plugin, "kubernetes.io~")) {
		return v // their names tell nothing about volumes
	}
	w := r.w
	w.Depth, w.Left, w.Cut = 4, min(volFiles, r.w.Left), 0
	had := w.Left
	w.Walk(ctx, e.Path, func(f tree.Entry) {
		v.Files = append(v.Files, strings.TrimPrefix(f.Path, e.Path+"/"))
		if path.Base(f.Path) == "vol_data.json" && f.Kind == host.File {
			r.volData(f)
		}
	})
	r.w.Left -= had - w.Left
	if w.Cut > 0 {
		r.f.Problems = append(r.f.Problems, probes.Problem{
			Probe: "kubelet", Path: e.Path, Text: fmt.Sprintf("of more than %d names the rest was not kept", volFiles), Count: w.Cut,
		})
	}
	return v
}

func after(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}
