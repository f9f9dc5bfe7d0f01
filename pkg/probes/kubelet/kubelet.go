// Package kubelet reads what the kubelet keeps on disk: sockets of plugins, the
// directories of pods and volumes, and its records of volumes. It lists names
// only, and nothing below a mount point.
package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

const (
	visits    = 60000 // directory entries below the kubelet's root
	volFiles  = 64    // names that are kept of one volume directory
	dataLimit = 64 << 10
)

// reader fills one Kubelet.
type reader struct {
	h    host.Host
	f    *probes.Facts
	k    *probes.Kubelet
	w    tree.Walker
	root string // without leading slash

	looked int // how often late has asked
}

// Run fills Facts.Kubelet.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	k := &f.Kubelet
	p, ok := find(f)
	if ok {
		k.PID, k.Comm, k.MntNS, k.Cmdline = p.PID, p.Comm, p.MntNS, p.Cmdline
	}
	k.Root, k.RootFrom = rootDir(h, f, p)
	mountns.Refresh(h, f) // pods come and go while a node is looked at
	guard := tree.NewGuard(f)
	k.RealRoot = realPath(h, guard, k.Root)
	guard.Alias(k.RealRoot, k.Root)
	r := &reader{h: h, f: f, k: k, w: tree.Walker{Host: h, Guard: guard, Left: visits}, root: strings.TrimPrefix(k.Root, "/")}
	r.w.Late = r.late
	if !guard.Safe(r.root) || !guard.Safe(strings.TrimPrefix(k.RealRoot, "/")) {
		return fmt.Errorf("list %s: it lies on a filesystem that is not local or not alive", k.Root)
	}
	r.sockets(ctx)
	r.staging(ctx)
	r.block(ctx)
	r.pods(ctx)
	if r.w.Cut > 0 {
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "kubelet", Path: r.root, Text: fmt.Sprintf("%d directory entries were not visited", r.w.Cut), Count: r.w.Cut,
		})
	}
	return ctx.Err()
}

// lookups bounds how often the mount table is read again because a path may not be touched.
const lookups = 16

// late tells whether a path has become a mount point meanwhile.
func (r *reader) late(p string) bool {
	if r.looked++; r.looked > lookups {
		return false
	}
	mountns.Refresh(r.h, r.f)
	r.w.Guard = tree.NewGuard(r.f)
	r.w.Guard.Alias(r.k.RealRoot, r.k.Root)
	return r.w.Guard.Point(p)
}

func (r *reader) glob(ctx context.Context, pattern string, visit func(tree.Entry)) {
	r.w.Glob(ctx, escape(r.root)+"/"+pattern, visit)
}

// escape keeps a root with wildcard characters a plain path.
func escape(p string) string { return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(p) }

// sockets lists the sockets of plugins and the directories for them.
func (r *reader) sockets(ctx context.Context) {
	r.glob(ctx, "plugins_registry/*", func(e tree.Entry) { r.k.Registry = append(r.k.Registry, "/"+e.Path) })
	r.glob(ctx, "plugins/*", func(e tree.Entry) {
		if path.Base(e.Path) == "kubernetes.io" || e.Mount {
			return
		}
		if e.Kind == host.Socket {
			r.k.Sockets = append(r.k.Sockets, "/"+e.Path)
			return
		}
		if e.Kind != host.Dir {
			return
		}
		r.k.PluginDirs = append(r.k.PluginDirs, "/"+e.Path)
		for _, pattern := range []string{"/*.sock", "/*/*.sock"} {
			r.w.Glob(ctx, escape(e.Path)+pattern, func(s tree.Entry) { r.k.Sockets = append(r.k.Sockets, "/"+s.Path) })
		}
	})
}

// staging lists the staging directories of both layouts: of a hash of the handle
// (since 1.24) and of the PV's name.
func (r *reader) staging(ctx context.Context) {
	for _, pattern := range []string{"plugins/kubernetes.io/csi/*/*/globalmount", "plugins/kubernetes.io/*/mounts/*"} {
		r.glob(ctx, pattern, func(e tree.Entry) {
			if !strings.Contains(e.Path, "/volumeDevices/") {
				r.k.Globals = append(r.k.Globals, "/"+e.Path)
			}
		})
	}
	r.glob(ctx, "plugins/kubernetes.io/csi/*/*/vol_data.json", r.volData)
	r.glob(ctx, "plugins/kubernetes.io/csi/volumeDevices/*/data/vol_data.json", r.volData)
}

// volData reads one vol_data.json (pkg/volume/csi/csi_util.go of Kubernetes).
func (r *reader) volData(e tree.Entry) {
	v := probes.VolData{Path: "/" + e.Path}
	if e.Kind != host.File { // the kubelet makes no links here; one leads wherever its maker wants
		v.Err = "a " + string(e.Kind) + ", not a file"
		r.k.VolData = append(r.k.VolData, v)
		return
	}
	b, err := r.h.ReadFile(e.Path, dataLimit)
	switch {
	case err != nil && !errors.Is(err, host.ErrCut):
		v.Err = attr.ErrName(err)
	default:
		v.Values, err = Values(b)
		if err != nil {
			v.Err = err.Error()
		}
	}
	r.k.VolData = append(r.k.VolData, v)
}

// Values decodes a vol_data.json, of which all values are strings.
func Values(b []byte) (map[string]string, error) {
	if strings.TrimSpace(string(b)) == "" {
		return nil, errors.New("empty")
	}
	var raw map[string]any
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	out := map[string]string{}
	for k, v := range raw {
		if s, ok := v.(string); ok {
			out[k] = s
		} else {
			out[k] = fmt.Sprint(v)
		}
	}
	return out, nil
}
