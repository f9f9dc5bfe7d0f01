package filesystem

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// exhausted is what a filesystem has nothing left of, or nothing. A filesystem that counts
// no inodes (btrfs, many servers) says 0 of 0.
func exhausted(st probes.FSStat) string {
	switch {
	case st.Err != "" || st.Blocks == 0:
		return ""
	case st.Files > 0 && st.FilesFree == 0 && st.Avail > 0:
		return fmt.Sprintf("no inodes: all %d are in use, %s are free", st.Files, size(st.Avail, st.BlockSize))
	case st.Avail == 0 && st.Free > 0:
		return fmt.Sprintf("no bytes: all of %s but the %s reserved for root are in use", size(st.Blocks, st.BlockSize), size(st.Free, st.BlockSize))
	case st.Avail == 0:
		return fmt.Sprintf("no bytes: all of %s are in use", size(st.Blocks, st.BlockSize))
	}
	return ""
}

// nearly tells whether what is left is too little for one more file of any size.
func nearly(st probes.FSStat) bool {
	return st.Err == "" && st.Blocks > 0 && (st.Avail <= st.Blocks/1000 || st.Files > 0 && st.FilesFree <= st.Files/10000)
}

func size(blocks, block uint64) string {
	mib := blocks * block >> 20
	if mib >= 10<<10 {
		return fmt.Sprintf("%d GiB", mib>>10)
	}
	return fmt.Sprintf("%d MiB", mib)
}

func numbers(st probes.FSStat) string {
	return fmt.Sprintf("%d of %d blocks available, %d of %d inodes free", st.Avail, st.Blocks, st.FilesFree, st.Files)
}

// image are filesystems that are made full and never change.
var image = []string{"squashfs", "iso9660", "erofs", "cramfs", "udf"}

// ownDisk tells whether a mount is a directory of the filesystem that the kubelet's own
// directory lies on.
func ownDisk(view *snapshot.NodeView, m probes.Mount) bool {
	own := view.Containing(view.KubeletRoot())
	return own != nil && own.Dev == m.Dev && m.Root != "/"
}
