package mounts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BlockEntry is one entry below kubelet's volumeDevices that belongs to a volume.
type BlockEntry struct {
	Path  snapshot.VolumePath
	Point string
	Mount *probes.Mount
	File  bool   // a plain file of the node's disk instead of a device
	kind  string // as listed: file, device …; empty: known from the mount table only
}

// BlockList is what lies below volumeDevices of a volume on the place's node.
type BlockList struct {
	pl      *evidence.Place
	entries []*BlockEntry
}

// BlockListOf joins what lies below volumeDevices with what is mounted there; false while
// the mount table of process 1 was not read.
func BlockListOf(pl *evidence.Place) (BlockList, bool) {
	l := BlockList{pl: pl}
	if pl.View == nil || pl.View.Init == nil {
		return l, false
	}
	for i := range pl.View.Facts.Kubelet.BlockDirs {
		b := &pl.View.Facts.Kubelet.BlockDirs[i]
		if e := l.get(b.Path); e != nil && b.Kind != "link" {
			e.kind, e.File = b.Kind, b.Kind == "file"
		}
	}
	for i := range pl.View.Init.Mounts {
		m := &pl.View.Init.Mounts[i]
		if e := l.get(m.Point); e != nil {
			e.Mount, e.File = m, onRoot(pl.View, m.Dev)
		}
	}
	return l, true
}

func (l *BlockList) get(point string) *BlockEntry {
	vp, ok := l.pl.View.ParsePath(point)
	if !ok || vp.PV != l.pl.Volume.PVName() || !strings.Contains(point, "/volumeDevices/") {
		return nil
	}
	for _, e := range l.entries {
		if e.Point == point {
			return e
		}
	}
	e := &BlockEntry{Path: vp, Point: point}
	l.entries = append(l.entries, e)
	return e
}

// staged and published are the staging path, and the publish path of a pod, when they are
// plain files. A path that does not exist at all is no proof: before the first staging
// nothing is there.
func (l BlockList) staged() *BlockEntry { return l.broken(snapshot.BlockStaging, "") }

// Published is the path of a pod.
func (l BlockList) published(uid string) *BlockEntry { return l.broken(snapshot.BlockPublish, uid) }

func (l BlockList) broken(kind, uid string) *BlockEntry {
	var found *BlockEntry
	for _, e := range l.entries {
		if e.Path.Kind != kind || uid != "" && !snapshot.SameUID(e.Path.PodUID, uid) {
			continue
		}
		if e.kind == "device" || e.Mount != nil && !e.File {
			return nil
		}
		if e.File {
			found = e
		}
	}
	return found
}

// Strays are mounted entries of pods that the API does not know.
func (l BlockList) Strays() []*BlockEntry {
	return slices.DeleteFunc(slices.Clone(l.entries), func(e *BlockEntry) bool {
		return e.Path.PodUID == "" || e.Mount == nil || !l.pl.X.Collected("/pods") || l.pl.X.PodByUID(e.Path.PodUID) != nil
	})
}

// foreign are strays whose device is not the volume's any more.
func (l BlockList) foreign() []*BlockEntry {
	d, ok := l.pl.X.DeviceOn(l.pl.Volume, l.pl.Node)
	if !ok || !d.Proven {
		return nil
	}
	return slices.DeleteFunc(l.Strays(), func(e *BlockEntry) bool {
		if e.Mount.Deleted() {
			return false
		}
		dev, known := l.pl.View.NumberAt("/dev" + e.Mount.Root)
		return e.File || e.Mount.FSType != "devtmpfs" || !known || slices.Contains(d.Numbers(), dev)
	})
}

// Wrong says what is wrong for a pod, as a sentence goes on; empty: nothing.
func (l BlockList) Wrong(uid string) string {
	var out []string
	if e := l.staged(); e != nil {
		out = append(out, "its staging path "+e.Point+" is a plain file of the node's own disk")
	}
	if e := l.published(uid); e != nil {
		out = append(out, "its publish path "+e.Point+" is a plain file")
	}
	if len(out) == 0 {
		for _, e := range l.foreign() {
			out = append(out, "the entry "+e.Point+" of a pod that does not exist any more binds another device")
		}
	}
	return strings.Join(out, ", ")
}

// Lost asks whether a pod gets no device from these entries, and quotes them.
func (l BlockList) Lost(uid string) evidence.Answer {
	if l.Wrong(uid) == "" {
		return l.pl.Tables(probes.Mounts, probes.KubeletDirs).Found()
	}
	var facts []report.Evidence
	for _, e := range append([]*BlockEntry{l.staged(), l.published(uid)}, l.Strays()...) {
		switch {
		case e == nil:
		case e.Mount != nil:
			facts = append(facts, evidence.FromMount(l.pl.Node, l.pl.View.Init, *e.Mount))
		default:
			facts = append(facts, evidence.FromNode(l.pl.Node, strings.TrimPrefix(e.Point, "/"), fmt.Sprintf("%s, nothing mounted on it", e.kind)))
		}
	}
	return evidence.Yes(facts...)
}

// BoundFor are the binds of a device at the paths of pods that are being deleted.
func (l BlockList) BoundFor() []*BlockEntry {
	return slices.DeleteFunc(slices.Clone(l.entries), func(e *BlockEntry) bool {
		pod := l.pl.X.PodByUID(e.Path.PodUID)
		return e.Mount == nil || e.File || pod == nil || pod.DeletionTimestamp == nil
	})
}

// Points and UIDs of entries, each once.
func Points(list []*BlockEntry) (points, uids []string) {
	for _, e := range list {
		points = append(points, e.Point)
		uids = evidence.Once(uids, e.Path.PodUID)
	}
	return points, uids
}

// LoopOf are kubelet's loop devices over the place's block volume, with the UIDs of their
// pods.
func LoopOf(pl *evidence.Place) (loops []*probes.BlockDevice, uids []string) {
	for _, b := range pl.View.Blocks() {
		if b.LoopFile == "" {
			continue
		}
		vp, ok := pl.View.ParsePath(strings.TrimSuffix(b.LoopFile, " (deleted)"))
		if ok && vp.Kind == snapshot.BlockDev && vp.PV == pl.Volume.PVName() {
			loops, uids = append(loops, b), append(uids, vp.PodUID)
		}
	}
	return loops, uids
}

// Bare asks whether nothing lies on a loop.
func Bare(pl *evidence.Place, b *probes.BlockDevice) evidence.Answer {
	at := "sys/class/block/" + b.Name
	loop := evidence.FromNode(pl.Node, at+"/loop/backing_file", b.LoopFile)
	for _, h := range pl.View.HoldersOf(b.Dev) {
		return evidence.No(loop, evidence.FromNode(pl.Node, at+"/holders", h.Device.Name))
	}
	return evidence.Yes(loop, evidence.FromNode(pl.Node, at+"/holders", "empty"))
}
