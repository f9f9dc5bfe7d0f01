package superblock

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
)

// How long an unmount that is under way is waited for: the line is gone at once, the
// superblock when everything is written (cleanup_mnt and deactivate_super in the kernel's
// fs/namespace.c and fs/super.c).
const (
	patience = 3 * time.Second
	between  = 200 * time.Millisecond
)

// settle looks again at filesystems that live and stand in no table. What was mounted
// since the tables were read gets its line; what was being unmounted goes. Only what stays
// was detached, or is mounted where nobody can look.
func settle(ctx context.Context, h host.Host, f *probes.Facts) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		list := Unlisted(f)
		if len(list) == 0 {
			return
		}
		mountedSince(h, f, list)
		gone(h, f, list)
		select {
		case <-ctx.Done():
			return
		case <-time.After(between):
		}
	}
}

// mountedSince adds the lines of filesystems that the first table got meanwhile.
func mountedSince(h host.Host, f *probes.Facts, list []probes.Superblock) {
	if len(f.Namespaces) == 0 || f.Namespaces[0].TablePID == 0 {
		return
	}
	ns := &f.Namespaces[0]
	file := process.Dir(&probes.Process{PID: ns.TablePID}) + "mountinfo"
	text, err := h.ReadFile(file, 0)
	if err != nil {
		return
	}
	var p mountns.Parser
	now, _ := p.Parse(string(text))
	for _, sb := range list {
		i := slices.IndexFunc(f.Block, func(d probes.BlockDevice) bool { return d.Name == sb.KName })
		for _, m := range now {
			if i >= 0 && m.Dev == f.Block[i].Dev {
				m.Line = len(ns.Mounts) + 1
				ns.Mounts = append(slices.Clip(ns.Mounts), m)
				host.Amend(h, file, m.Raw+"\n")
			}
		}
	}
}

// gone leaves out the filesystems that the kernel does not have any more.
func gone(h host.Host, f *probes.Facts, list []probes.Superblock) {
	for _, sb := range list {
		if kind, _, err := h.Lstat(sb.Locator); kind != host.Absent || err != nil {
			continue
		}
		f.Superblocks = slices.DeleteFunc(slices.Clone(f.Superblocks), func(o probes.Superblock) bool { return o.KName == sb.KName && o.FSType == sb.FSType })
		host.Forget(h, sb.Locator)
		host.Forget(h, "proc/fs/jbd2/"+strings.ReplaceAll(sb.KName, "/", "!")+"-")
	}
}
