package snapshot

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// FstabEntry is a line of fstab(5) that mounts something at a path when the machine starts.
type FstabEntry struct {
	Source, Point string
	Line          string // as it is written, with single spaces
}

// Fstab are the entries of the node, without swap areas and without what is mounted only when
// somebody asks for it (noauto).
func (n *NodeView) Fstab() []FstabEntry {
	var out []FstabEntry
	for _, line := range strings.Split(n.Facts.Files["etc/fstab"].Content, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") || f[2] == "swap" || !path.IsAbs(f[1]) || slices.Contains(strings.Split(strings.Join(f[3:], ","), ","), "noauto") {
			continue
		}
		out = append(out, FstabEntry{Source: probes.Unescape(f[0]), Point: path.Clean(probes.Unescape(f[1])), Line: strings.Join(f, " ")})
	}
	return out
}
