package superblock

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Unlisted lists the live superblocks that no mount table shows: mounted lazily
// away, or in a namespace that could not be read. Only a descriptor, a working
// directory or a root can still hold such a filesystem, and its path says nothing
// any more (umount2(2), MNT_DETACH). A superblock whose disk has gone has no
// number left to compare and counts as well.
func Unlisted(f *probes.Facts) []probes.Superblock {
	numbers := map[string]probes.Dev{}
	for _, d := range f.Block {
		numbers[d.Name] = d.Dev
	}
	mounted := map[probes.Dev]bool{}
	btrfs := false
	for _, ns := range f.Namespaces {
		for i := range ns.Mounts {
			mounted[ns.Mounts[i].Dev] = true
			btrfs = btrfs || ns.Mounts[i].FSType == "btrfs"
		}
	}
	var list []probes.Superblock
	for _, sb := range f.Superblocks {
		switch {
		case sb.FSType == "jbd2", sb.FSType == "btrfs" && btrfs:
		case !mounted[numbers[sb.KName]]:
			list = append(list, sb)
		}
	}
	return list
}
