package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// submounts are the filesystems that mount what lies below them by themselves, and unmount it again
// when they are unmounted (shrink_submounts in fs/namespace.c): such mounts keep nobody.
var submounts = []string{"nfs", "nfs4", "cifs", "smb3", "afs"}

// inside are what the node itself built in the filesystem of the volume: a loop over a file of it, and a
// mount below one of its mount points. No process has either open, and umount(2) fails with EBUSY until
// it is gone (propagate_mount_busy in fs/namespace.c; loop_configure in drivers/block/loop.c keeps the file).
func (t *Tower) inside(released evidence.Answer) []Held {
	var out []Held
	own := evidence.Keep(t.pl.X.VolumeMounts(t.pl.Volume, t.pl.Node), func(m snapshot.VolumeMount) bool { return m.Init })
	held := func(kind, path, entry string, dev probes.Dev, is evidence.Answer) {
		if slices.ContainsFunc(out, func(h Held) bool { return h.Entry == entry && h.Path == path }) {
			return
		}
		out = append(out, Held{Kind: kind, Subject: t.Device.Dev, Dev: dev, Path: path, Entry: entry, Is: evidence.All(is, released), Last: t.pl.Mounts().Nothing()})
	}
	for _, m := range own {
		for _, b := range t.pl.View.Blocks() {
			file := strings.TrimSuffix(b.LoopFile, " (deleted)")
			if file != m.Mount.Point && probes.Within(file, m.Mount.Point) {
				held("loop", file, b.Name, b.Dev, evidence.Yes(evidence.FromNode(t.pl.Node, "sys/class/block/"+b.Name+"/loop/backing_file", b.LoopFile)))
			}
		}
		for _, u := range t.pl.View.Under(m.Mount.Point) {
			mine := slices.ContainsFunc(own, func(o snapshot.VolumeMount) bool { return o.Mount.Dev == u.Mount.Dev })
			if u.Mount.Point != m.Mount.Point && !mine && !(u.Mount.FSType == m.Mount.FSType && slices.Contains(submounts, u.Mount.FSType)) {
				held("child", u.Mount.Point, entryOf(t.pl.View, u.Mount.Point), u.Mount.Dev, evidence.Yes(evidence.FromNode(t.pl.Node, "proc/1/mountinfo", u.Mount.Raw)))
			}
		}
	}
	return out
}
