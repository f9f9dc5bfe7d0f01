package mounts

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// deadNodes finds raw block volumes that came back as another disk under a pod that runs: what the kubelet bound for the pod is
// a device node that was deleted since, and the pod has a number open that no disk has. Nothing of it shows in the API
// (harvester/harvester#11208).
func deadNodes(pl *evidence.Place) []DeadMount {
	now, known := pl.X.DeviceOn(pl.Volume, pl.Node)
	list, read := BlockListOf(pl)
	if !pl.Volume.Block() || !known || now.Block == nil || !read {
		return nil
	}
	var out []DeadMount
	for _, e := range list.entries {
		if e.Path.Kind != snapshot.BlockPublish || e.Mount == nil || !e.Mount.Deleted() {
			continue
		}
		for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
			open := deadOpen(pl.View, string(c.Pod.UID))
			if !snapshot.SameUID(e.Path.PodUID, string(c.Pod.UID)) || open == nil {
				continue
			}
			out = append(out, DeadMount{Volume: pl.Volume, view: pl.View, Dev: open.Dev, Now: &now, Mounts: []snapshot.VolumeMount{{Use: snapshot.Use{NS: pl.View.Init, Mount: *e.Mount}, Path: e.Path}},
				reason: "the device node that was bound there is deleted, and the pod has a disk open that the kernel does not have any more",
				facts:  append([]report.Evidence{evidence.FromNode(pl.Node, open.Path, open.Target+", block "+open.Dev.String())}, evidence.FromNode(pl.Node, "sys/class/block/*/dev", "no entry "+open.Dev.String()))})
		}
	}
	return out
}

// deadOpen is a block device that a process of a pod has open and that is gone.
func deadOpen(view *snapshot.NodeView, uid string) *probes.Descriptor {
	for _, p := range view.ProcessesOfPod(uid) {
		for i := range p.Open {
			if d := &p.Open[i]; d.Device && view.Dead(d.Dev) {
				return d
			}
		}
	}
	return nil
}
