package local

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// There asks whether the disk is there all the same: the path is a link to a device, which the kubelet mounts
// below its own directory (pkg/volume/local, MountDevice), or leads through a link of the machine (/mnt is /var/mnt
// where the system is an OSTree), or the pods have a filesystem of its own.
func (d Disk) There(pl *evidence.Place) evidence.Answer {
	view := pl.View
	if view.Init == nil {
		return evidence.No()
	}
	var bare, own []probes.Mount
	below := view.Containing(d.Point)
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		switch {
		case m.Path.Kind == snapshot.Staging:
			return evidence.Yes(evidence.FromNode(pl.Node, "proc/1/mountinfo", m.Mount.Raw))
		case below != nil && m.Mount.Dev == below.Dev:
			bare = append(bare, m.Mount)
		default:
			own = append(own, m.Mount)
		}
	}
	if len(own) > 0 && len(bare) == 0 {
		return evidence.Yes(evidence.FromNode(pl.Node, "proc/1/mountinfo", own[0].Raw))
	}
	for _, m := range view.Init.Mounts {
		if len(bare) == 0 && m.Point != d.Point && strings.HasSuffix(m.Point, d.Point) && strings.Count(m.Point, "/") <= strings.Count(d.Point, "/")+2 {
			return evidence.Yes(evidence.FromNode(pl.Node, "proc/1/mountinfo", m.Raw))
		}
	}
	if len(bare) == 0 && toDevice(pl) {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/path", Node: pl.Node, Why: "whether the path is a directory, or a link to a device that the kubelet mounts itself"})
	}
	return evidence.No()
}

// toDevice tells whether a path looks like the link to a device: its filesystem is named, or it is called like one.
func toDevice(pl *evidence.Place) bool {
	l := pl.Volume.PV.Spec.Local
	if l == nil {
		return false
	}
	name := path.Base(l.Path)
	return l.FSType != nil && *l.FSType != "" || pl.View.ByName(name) != nil ||
		slices.ContainsFunc(pl.View.Facts.DevLinks, func(k probes.DevLink) bool { return path.Base(k.Path) == name })
}
