package superblock

import (
	"context"
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
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
		mountns.Refresh(h, f)
		gone(h, f, list)
		select {
		case <-ctx.Done():
			return
		case <-time.After(between):
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
		names, _ := h.ReadDir(journalDir) // a journal may be listed for a moment longer
		for _, n := range names {
			if k, _ := JournalName(n); k == sb.KName {
				host.Forget(h, journalDir+"/"+n)
			}
		}
	}
}
