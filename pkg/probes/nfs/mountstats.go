package nfs

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// MountStats keeps the NFS mounts of proc/PID/mountstats with their lines, the
// statistics of single operations left out (fs/nfs/super.c, nfs_show_stats).
func MountStats(text string) []probes.NFSStat {
	var out []probes.NFSStat
	var cur *probes.NFSStat
	perOp := false
	for _, line := range strings.Split(text, "\n") {
		if source, point, fstype, ok := device(line); ok {
			cur, perOp = nil, false
			if strings.HasPrefix(fstype, "nfs") && fstype != "nfsd" {
				out = append(out, probes.NFSStat{Source: source, Point: point})
				cur = &out[len(out)-1]
			}
			continue
		}
		line = strings.TrimSpace(line)
		perOp = perOp || line == "per-op statistics"
		if cur != nil && line != "" && !perOp {
			cur.Lines = append(cur.Lines, line)
		}
	}
	return out
}

// device reads "device SOURCE mounted on POINT with fstype TYPE …".
func device(line string) (source, point, fstype string, ok bool) {
	rest, ok := strings.CutPrefix(line, "device ")
	if !ok {
		return
	}
	source, rest, ok = strings.Cut(rest, " mounted on ")
	if !ok {
		return
	}
	point, rest, ok = strings.Cut(rest, " with fstype ")
	fstype, _, _ = strings.Cut(rest, " ")
	return source, point, fstype, ok
}
