package local

import (
	"path"
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
	if l := pl.Volume.PV.Spec.Local; l != nil && len(bare) == 0 {
		at, formats := device(view, path.Base(l.Path)), l.FSType != nil && *l.FSType != ""
		switch {
		case at != "" && formats:
			return evidence.Yes(evidence.FromNode(pl.Node, at, "the path is called like this device"))
		case at != "" || formats:
			return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/path", Node: pl.Node, Why: "whether the path is a directory, or a link to a device that the kubelet mounts itself"})
		}
	}
	return evidence.No()
}

// device is where a node has a disk of a name, of the kernel or in /dev/disk, or empty. By the UUID of a filesystem
// people call the directory on which it is mounted.
func device(view *snapshot.NodeView, name string) string {
	if view.ByName(name) != nil {
		return "sys/class/block/" + name
	}
	for _, k := range view.Facts.DevLinks {
		if path.Base(k.Path) == name && !strings.Contains(k.Path, "/by-uuid/") {
			return strings.TrimPrefix(k.Path, "/")
		}
	}
	return ""
}
