package longhorn

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Directory is what a node shows of one replica's files: its volume.meta, and images
// of snapshots whose own .meta file is missing (longhorn-engine, pkg/replica).
type Directory struct {
	path     string // without leading slash
	seen     bool   // anything of it was read
	Meta     string // volume.meta as it stands there
	Size     int64
	Building bool
	Lone     []string

	snapshots bool // there are some
}

// directoryOf reads the directory of a replica from the recording of its node.
func directoryOf(x *snapshot.Index, r *snapshot.LHReplica) Directory {
	d := Directory{path: strings.Trim(path.Join(r.DiskPath, "replicas", r.DataDirectory), "/")}
	view := x.View(r.NodeID)
	if view == nil || r.DiskPath == "" || r.DataDirectory == "" {
		return d
	}
	for name := range view.Facts.Files {
		rest, ok := strings.CutPrefix(name, d.path+"/")
		if !ok {
			continue
		}
		d.seen = true
		if !strings.HasPrefix(rest, "volume-snap-") {
			continue
		}
		d.snapshots = true // also of an image whose name was not recorded, but that of its .meta file
		if !strings.HasSuffix(rest, ".img") {
			continue
		}
		if f, has := view.Facts.Files[name+".meta"]; !has || f.Err != "" {
			d.Lone = append(d.Lone, rest)
		}
	}
	slices.Sort(d.Lone)
	meta, ok := view.Facts.Files[d.path+"/volume.meta"]
	if !ok || meta.Err != "" {
		return d
	}
	var v struct {
		Size       int64
		Rebuilding bool
		Parent     string // the newest snapshot, below the volume's head
	}
	if json.Unmarshal([]byte(meta.Content), &v) == nil {
		d.Meta, d.Size, d.Building = strings.TrimSpace(meta.Content), v.Size, v.Rebuilding
		d.snapshots = d.snapshots || v.Parent != ""
	}
	return d
}

// WithoutData tells whether a replica never was healthy, and its directory was seen to
// hold no snapshot.
func WithoutData(x *snapshot.Index, r *snapshot.LHReplica) bool {
	if r.HealthyAt != "" || r.LastHealthyAt != "" {
		return false
	}
	if r.NodeID == "" {
		return true
	}
	d := directoryOf(x, r)
	return x.View(r.NodeID) != nil && !d.snapshots && (d.seen || r.DataDirectory == "")
}

// torn are the signs in a directory that its replica is not complete.
func (d Directory) torn(r *snapshot.LHReplica) (why string, facts []report.Evidence) {
	var said []string
	if d.Building {
		said = append(said, "volume.meta says that its rebuild is not finished")
		facts = append(facts, evidence.FromNode(r.NodeID, d.path+"/volume.meta", d.Meta))
	}
	if len(d.Lone) > 0 {
		said = append(said, "snapshot images lack their .img.meta file: "+strings.Join(d.Lone, ", "))
		facts = append(facts, evidence.FromNode(r.NodeID, d.path+"/"+d.Lone[0]+".meta", "does not exist"))
	}
	return strings.Join(said, "; "), facts
}

// Complete finds another replica whose directory looks complete.
func Complete(x *snapshot.Index, v *snapshot.Volume, besides *snapshot.LHReplica) *snapshot.LHReplica {
	return evidence.First(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool {
		d := directoryOf(x, r)
		return r.Name != besides.Name && d.Meta != "" && !d.Building && len(d.Lone) == 0
	})
}
