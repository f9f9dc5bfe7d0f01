package longhorn

import (
	"fmt"
	"path"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// stat is what the node's filesystem says of a disk.
func (o OnDisk) stat() (probes.FSStat, bool) {
	if o.View == nil {
		return probes.FSStat{}, false
	}
	st, ok := o.View.Statfs(path.Clean(o.Disk.Path))
	return st, ok && st.Err == ""
}

func (o OnDisk) statFact(st probes.FSStat, found bool) evidence.Answer {
	return evidence.When(found, evidence.FromNode(o.Node.Name, "@statfs"+path.Clean(o.Disk.Path),
		fmt.Sprintf("%d of %d blocks available, %d of %d inodes free", st.Avail, st.Blocks, st.FilesFree, st.Files)))
}

// NothingLeft asks the node whether no byte or no inode is left on a disk; some
// filesystems count no inodes.
func (o OnDisk) NothingLeft() evidence.Answer {
	st, ok := o.stat()
	if !ok {
		return evidence.No()
	}
	return o.statFact(st, st.Blocks > 0 && st.Avail == 0 || st.Files > 0 && st.FilesFree == 0)
}

// Agrees asks whether the node does not contradict that a disk is too full: where its
// filesystem was asked, less than the threshold is free.
func (o OnDisk) Agrees(threshold int64) evidence.Answer {
	st, ok := o.stat()
	switch {
	case !ok:
		return evidence.Yes()
	case o.NothingLeft().Yes() || st.Avail*100 <= st.Blocks*uint64(max(threshold, 0)):
		return o.statFact(st, true)
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + o.Node.Name, Node: o.Node.Name, Why: "a full filesystem: statfs on the node shows more space than the threshold asks for"}).
		With(o.statFact(st, true).Facts()...)
}

// Room says how much of a disk is available, and how much Longhorn wants to keep.
func (o OnDisk) Room(threshold int64) string {
	share := "unknown share"
	if o.Disk.Maximum > 0 {
		share = fmt.Sprintf("%d %%", o.Disk.Available*100/o.Disk.Maximum)
	}
	return fmt.Sprintf("%s of %s are available (%s), the setting storage-minimal-available-percentage asks for %d %%", gib(o.Disk.Available), gib(o.Disk.Maximum), share, threshold)
}
