package longhorn

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// directory is what a node shows of one replica's files: its volume.meta, and images
// of snapshots whose own .meta file is missing (longhorn-engine, pkg/replica).
type directory struct {
	path      string // without leading slash
	seen      bool   // anything of it was read
	metaText  string
	Size      int64
	Building  bool
	images    int // snapshot images
	unmatched []string
}

// directoryOf reads the directory of a replica from the recording of its node.
func directoryOf(p *diagnosis.Pass, r *snapshot.LHReplica) directory {
	d := directory{path: strings.Trim(path.Join(r.DiskPath, "replicas", r.DataDirectory), "/")}
	view := p.View(r.NodeID)
	if view == nil || r.DiskPath == "" || r.DataDirectory == "" {
		return d
	}
	for name := range view.Facts.Files {
		rest, ok := strings.CutPrefix(name, d.path+"/")
		if !ok {
			continue
		}
		d.seen = true
		if !strings.HasPrefix(rest, "volume-snap-") || !strings.HasSuffix(rest, ".img") {
			continue
		}
		d.images++
		if f, has := view.Facts.Files[name+".meta"]; !has || f.Err != "" {
			d.unmatched = append(d.unmatched, rest)
		}
	}
	slices.Sort(d.unmatched)
	meta, ok := view.Facts.Files[d.path+"/volume.meta"]
	if !ok || meta.Err != "" {
		return d
	}
	var v struct {
		Size       int64
		Rebuilding bool
	}
	if json.Unmarshal([]byte(meta.Content), &v) == nil {
		d.metaText, d.Size, d.Building = strings.TrimSpace(meta.Content), v.Size, v.Rebuilding
	}
	return d
}
