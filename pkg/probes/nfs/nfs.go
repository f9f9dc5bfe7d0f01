// Package nfs reads the NFS client of a node without touching any mount: a
// lookup below the mount of a dead server does not return.
package nfs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	switches   = "sys/kernel/sunrpc/xprt-switches"
	statsLimit = 4 << 20
)

// Run fills Facts.NFS.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	n := &f.NFS
	uniqueID(h, f)
	for _, tool := range []string{"mount.nfs", "mount.nfs4"} {
		if n.Helper == "" {
			n.Helper = f.Tool(tool)
		}
	}
	b, _ := h.ReadFile("proc/filesystems", 0)
	n.Filesystems = Filesystems(string(b))
	module(f)
	n.StatdPIDs = probes.PIDs(f.Daemons("rpc.statd"))
	n.Transports = transports(ctx, h)
	n.Stats = stats(ctx, h, f)
	b, _ = h.ReadFile("etc/nfsmount.conf", 0)
	n.Conf = string(b)
	return ctx.Err()
}

// identifiers are where a client is told to be somebody else than its host name:
// per network namespace first, then for the machine (fs/nfs/sysfs.c, fs/nfs/super.c).
var identifiers = []string{"sys/fs/nfs/net/nfs_client/identifier", "sys/module/nfs/parameters/nfs4_unique_id"}

func uniqueID(h host.Host, f *probes.Facts) {
	for _, p := range identifiers {
		v, err := attr.Read(h, p)
		if err != nil {
			continue
		}
		f.NFS.UniqueIDRead = true
		if v != "" && v != "(null)" && f.NFS.UniqueID == "" {
			f.NFS.UniqueID = v
		}
	}
}

// module says whether the client module is on disk; it may also be built in.
func module(f *probes.Facts) {
	m := f.Module("nfs")
	switch {
	case m.OnDisk || m.BuiltIn:
		f.NFS.ModuleOnDisk = "yes"
	case m.Listed:
		f.NFS.ModuleOnDisk = "no"
	}
}

// Filesystems reads proc/filesystems: "nodev<TAB>nfs4" or "<TAB>ext4".
func Filesystems(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			out = append(out, fields[len(fields)-1])
		}
	}
	return out
}

func transports(ctx context.Context, h host.Host) []probes.NFSTransport {
	var out []probes.NFSTransport
	names, _ := h.ReadDir(switches)
	for _, s := range names {
		xprts, _ := h.ReadDir(path.Join(switches, s))
		for _, x := range xprts {
			if !strings.HasPrefix(x, "xprt-") || ctx.Err() != nil {
				continue
			}
			dir := path.Join(switches, s, x)
			t := probes.NFSTransport{
				Path:    "/" + dir,
				Address: attr.Text(h, dir+"/dstaddr"),
				State:   State(attr.Text(h, dir+"/xprt_state")),
			}
			for _, a := range []string{"srcaddr", "xprt_info"} {
				if v := attr.Text(h, dir+"/"+a); v != "" {
					t.Attrs = append(t.Attrs, probes.Attr{Name: a, Value: v})
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// State turns "state= LOCKED CONNECTING   BOUND" into "LOCKED CONNECTING BOUND"
// (rpc_sysfs_xprt_state_show in net/sunrpc/sysfs.c).
func State(text string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(text), "state=")), " ")
}

// stats reads mountstats where NFS is mounted: the first such process of every
// namespace. The kernel answers from memory.
func stats(ctx context.Context, h host.Host, f *probes.Facts) []probes.NFSStat {
	var out []probes.NFSStat
	seen := map[string]bool{}
	for _, ns := range f.Namespaces {
		if !slices.ContainsFunc(ns.Mounts, func(m probes.Mount) bool { return strings.HasPrefix(m.FSType, "nfs") }) || ctx.Err() != nil {
			continue
		}
		p := fmt.Sprintf("proc/%d/mountstats", ns.TablePID)
		b, err := h.ReadFile(p, statsLimit)
		if err != nil && !errors.Is(err, host.ErrCut) {
			continue
		}
		for _, s := range MountStats(string(b)) {
			if key := s.Source + " " + s.Point; !seen[key] {
				seen[key] = true
				out = append(out, s)
			}
		}
	}
	return out
}
