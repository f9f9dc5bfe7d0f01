package live

import (
	"fmt"
	"strings"
)

// featureNames are the names of feature bits in three words.
type featureNames struct{ compat, incompat, ro map[int]string }

// extNames are those of e2fsprogs (lib/e2p/feature.c).
var extNames = featureNames{
	compat: map[int]string{0: "dir_prealloc", 2: "has_journal", 3: "ext_attr", 4: "resize_inode", 5: "dir_index",
		9: "sparse_super2", 10: "fast_commit", 11: "stable_inodes", 12: "orphan_file"},
	incompat: map[int]string{0: "compression", 1: "filetype", 2: "needs_recovery", 3: "journal_dev", 4: "meta_bg",
		6: "extent", 7: "64bit", 8: "mmp", 9: "flex_bg", 10: "ea_inode", 12: "dirdata", 13: "metadata_csum_seed",
		14: "large_dir", 15: "inline_data", 16: "encrypt", 17: "casefold"},
	ro: map[int]string{0: "sparse_super", 1: "large_file", 3: "huge_file", 4: "uninit_bg", 5: "dir_nlink",
		6: "extra_isize", 8: "quota", 9: "bigalloc", 10: "metadata_csum", 13: "project", 15: "verity",
		16: "orphan_present"},
}

// xfsNames are those of xfsprogs (libfrog/fsgeom.c, mkfs.xfs(8)).
var xfsNames = featureNames{
	incompat: map[int]string{0: "ftype", 1: "sparse", 2: "meta_uuid", 3: "bigtime", 4: "needsrepair", 5: "nrext64",
		6: "exchange", 7: "parent", 8: "metadir"},
	ro: map[int]string{0: "finobt", 1: "rmapbt", 2: "reflink", 3: "inobtcount"},
}

// features lists the names of the bits that are set; a bit without a name shows
// as its word and number, because just those stop older kernels.
func features(n featureNames, compat, incompat, ro uint32) string {
	var list []string
	for _, word := range []struct {
		name  string
		bits  uint32
		names map[int]string
	}{{"compat", compat, n.compat}, {"incompat", incompat, n.incompat}, {"ro_compat", ro, n.ro}} {
		for bit := range 32 {
			if word.bits&(1<<bit) == 0 {
				continue
			}
			name, ok := word.names[bit]
			if !ok {
				name = fmt.Sprintf("%s:0x%x", word.name, uint32(1)<<bit)
			}
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}
