package hostfiles

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// groupFiles bounds the counters of control groups that are read.
const groupFiles = 4000

func (c *collector) groups(ctx context.Context) {
	w := c.w
	w.Left = groupFiles
	for _, g := range groups {
		for _, name := range []string{"memory.events", "pids.events", "pids.current", "pids.max", "pids.peak"} {
			w.Glob(ctx, g+"/"+name, func(e tree.Entry) { c.keep(e, whole) })
		}
	}
	c.w.Cut += w.Cut
}

// programs notes which tools the host has, and where.
func (c *collector) programs(ctx context.Context) {
	for _, dir := range append(probes.ToolDirs(), probes.OtherToolDirs()...) {
		if ctx.Err() != nil {
			return
		}
		if !c.w.Guard.Safe(dir) {
			host.Refuse(c.h, dir)
			continue
		}
		for _, t := range tools {
			if e := c.w.Entry(dir + "/" + t); !e.Mount {
				c.keep(e, presence)
			}
		}
	}
	c.w.Glob(ctx, "sbin", func(e tree.Entry) { c.keep(e, presence) })
	c.w.Glob(ctx, "bin", func(e tree.Entry) { c.keep(e, presence) })
	c.w.Glob(ctx, "lib", func(e tree.Entry) { c.keep(e, presence) })
}

var storageModules = pattern.MustCompile(storageModule)

// moduleLine keeps the lines of modules.dep and modules.builtin that name
// modules of storage, network filesystems and their ciphers.
var moduleLine = pattern.MustCompile(`/(fs|scsi|block|md|nvme|crypto|net/sunrpc|net/ceph|target|infiniband|infiniband/ulp|drbd|zfs|extra|updates|net/9p|hv|virtio|message)/`)

// modules notes what the running kernel has loaded, built in and on disk.
func (c *collector) modules(ctx context.Context) {
	seen := func(e tree.Entry) {
		if name := path.Base(e.Path); c.h.Given() || storageModules.MatchString(name) {
			c.keep(e, presence)
			c.w.Glob(ctx, e.Path+"/initstate", func(e tree.Entry) { c.keep(e, whole) })
			c.w.Glob(ctx, e.Path+"/parameters/*", func(e tree.Entry) { c.keep(e, whole) })
		}
	}
	c.w.Glob(ctx, "sys/module/*", seen)
	release := c.f.Identity.Kernel
	if release == "" {
		release = attr.Text(c.h, "proc/sys/kernel/osrelease")
	}
	if release == "" {
		return
	}
	for _, lib := range []string{"lib/modules/", "usr/lib/modules/"} {
		dir := lib + release
		if e := c.w.Entry(dir); e.Kind == host.Dir {
			c.keep(e, presence)
		}
		for _, name := range []string{"modules.dep", "modules.builtin"} {
			c.moduleList(dir + "/" + name)
		}
	}
	c.w.Glob(ctx, "boot/config-"+release, func(e tree.Entry) { c.config(e.Path) })
	c.w.Glob(ctx, "lib/modules/*", func(e tree.Entry) { c.keep(e, presence) })
	c.w.Glob(ctx, "usr/lib/modules/*", func(e tree.Entry) { c.keep(e, presence) })
}

func (c *collector) moduleList(p string) {
	if !c.w.Guard.Safe(p) {
		host.Refuse(c.h, p)
		return
	}
	b, err := c.h.ReadFile(p, listLimit)
	if err != nil {
		return
	}
	v := probes.File{Kind: string(host.File)}
	for _, line := range strings.SplitAfter(string(b), "\n") {
		if name, _, _ := strings.Cut(line, ":"); c.h.Given() || moduleLine.MatchString(name) {
			v.Content += name
			if !strings.HasSuffix(name, "\n") {
				v.Content += ":\n"
			}
		}
	}
	c.f.Files[p] = v
}

// option matches the kernel configuration that rules ask for.
var option = pattern.MustCompile(`(?m)^(# )?CONFIG_(ISCSI|SCSI|NFS|SUNRPC|CIFS|CEPH|BLK_DEV|DM_|MD_|NVME|XFS|EXT4|BTRFS|FUSE|CRYPTO_(XTS|AES|USER)|SECURITY_(SELINUX|APPARMOR)|NAMESPACES|CGROUP)[^\n]*\n?`)

func (c *collector) config(p string) {
	b, err := c.h.ReadFile(p, listLimit)
	if err != nil {
		return
	}
	text := string(b)
	if !c.h.Given() {
		text = strings.Join(option.FindAllString(text, -1), "")
	}
	c.f.Files[p] = probes.File{Kind: string(host.File), Content: text}
}

// containerPrograms looks for the tools inside the root of a kubelet that runs in
// a container: it mounts with its own programs, not with the host's.
func (c *collector) containerPrograms(ctx context.Context) {
	if !c.h.Given() {
		return // the link proc/PID/root leads into a file system that may hang
	}
	for _, p := range c.f.Daemons("kubelet", "hyperkube") {
		if p.MntNS == c.f.Identity.InitMntNS || p.MntNS == 0 {
			continue
		}
		for _, dir := range probes.ToolDirs() {
			for _, t := range tools {
				c.keep(c.w.Entry(fmt.Sprintf("proc/%d/root/%s/%s", p.PID, dir, t)), presence)
			}
		}
	}
	c.w.Glob(ctx, "proc/[0-9]*/root", func(root tree.Entry) {
		if root.Kind == host.Dir { // a link leads back to the whole recording
			c.w.Walk(ctx, root.Path, func(e tree.Entry) {
				if e.Kind != host.Dir {
					c.keep(e, presence)
				}
			})
		}
	})
}

// everything keeps what else a recording holds: somebody found it worth
// recording. Only small text; what other probes read stays theirs.
func (c *collector) everything(ctx context.Context) {
	tops, err := c.h.ReadDir("")
	if err != nil {
		tops = []string{"etc", "usr", "lib", "lib64", "bin", "sbin", "boot", "run", "var", "mnt", "data", "opt", "srv", "home", "root", "tmp"}
	}
	w := c.w
	w.Guard = tree.Guard{} // replaying: nothing here can hang
	w.Depth = 24
	for _, top := range tops {
		if top == "proc" || top == "sys" || top == "dev" || strings.HasPrefix(top, "@") {
			continue
		}
		w.Walk(ctx, top, func(e tree.Entry) {
			if e.Kind != host.Dir {
				c.keep(e, whole)
				return
			}
			if names, err := c.h.ReadDir(e.Path); err == nil && len(names) == 0 {
				c.keep(e, presence)
			}
		})
	}
	c.w.Cut += w.Cut
}
