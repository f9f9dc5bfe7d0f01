package mount

import (
	_ "embed"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed block_volume_unmap_stuck.md
var blockVolumeUnmapStuckDoc string

// BlockVolumeUnmapStuck finds the kubelet's loop devices and binds of pods whose
// containers are gone.
var BlockVolumeUnmapStuck = &diagnosis.Rule{
	Name: "block-volume-unmap-stuck", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("blockdev"), diagnosis.Probe("process"), diagnosis.Probe("mountns"), diagnosis.Probe("superblock"), diagnosis.Probe("openfiles")},
	Explains: []string{"pod-stuck-terminating", "unmount-blocked", "detach-stuck", "multi-attach-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-mapped-on-other-node"},
	YieldsTo: []string{"lvm-claims-device", "md-claims-device"},
	Offers:   []string{"unmap-device"},
	Doc:      blockVolumeUnmapStuckDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Block() || v.PVName() == "" {
				continue
			}
			for _, node := range nodesOf(p, v) {
				unmapOn(p, v, node)
			}
		}
	},
}

func unmapOn(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	view := p.View(node)
	if !asked(p, node) {
		return
	}
	if view == nil {
		if released, _ := p.WantedReleased(v, node); released && p.Suffers(v, "pod-stuck-terminating", "unmount-blocked", "detach-stuck") {
			p.Probed(node)
		}
		return
	}
	if !p.Has("/pods") {
		return
	}
	found := false
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		vp, ok := view.ParsePath(strings.TrimSuffix(b.LoopFile, " (deleted)"))
		if b.LoopFile == "" || !ok || vp.Kind != snapshot.BlockDev || vp.PV != v.PVName() {
			continue
		}
		found = true
		if len(view.HoldersOf(b.Dev)) == 0 && gone(p, view, vp.PodUID) {
			leakedLoop(p, v, view, b, vp.PodUID)
		}
	}
	if !found {
		leakedBind(p, v, view)
	}
}

// gone tells whether no container of a pod is left: the pod is unknown or ends,
// and no process carries its UID.
func gone(p *diagnosis.Pass, view *snapshot.NodeView, uid string) bool {
	if len(view.ProcessesOfPod(uid)) > 0 {
		return false
	}
	pod := p.PodByUID(uid)
	return pod == nil || overdue(p, pod) && !runs(pod) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func leakedLoop(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, b *probes.BlockDevice, uid string) {
	f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, b.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, b.Dev)
	pod := p.PodByUID(uid)
	f.Pod(pod)
	if d, ok := p.DeviceOn(v, view.Name); ok {
		f.Device(view.Name, d.Dev)
	}
	whose := "pod " + uid + ", which does not exist any more"
	if pod != nil {
		whose = "pod " + podName(pod) + ", whose containers have ended"
	}
	f.Sayf("On node %s the loop device %s (%s) still holds volume %s (Block) for %s. No process of the pod is left and nothing lies on the loop.%s The kubelet cannot unmap the volume while it exists.",
		view.Name, b.Name, b.Dev, volumeName(v), whose, deletedWords(b))
	f.Fact(
		diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/loop/backing_file", b.LoopFile),
		diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/holders", "empty"),
	)
	f.Unless("a process or virtual machine that uses " + b.Name)
	f.Advise(remedy.UnmapLoop(view, v, b, uid).Note("The kubelet then tries again. Never detach a loop whose pod lives."))
	f.Advise(remedy.Words("Upgrade the kubelet of node " + view.Name + ": older versions do not find a loop device whose backing file was deleted (kubernetes/kubernetes#109132)."))
	p.Report(f)
}

func deletedWords(b *probes.BlockDevice) string {
	if strings.HasSuffix(b.LoopFile, " (deleted)") {
		return " Its backing file is deleted, so the kubelet, which looks for it by path, does not find it."
	}
	return ""
}

// leakedBind reports a bind of a device at the path of a pod that should have
// ended, where the kubelet keeps no loop.
func leakedBind(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	if view.Init == nil {
		return
	}
	for _, e := range blockEntries(view, v).entries {
		pod := p.PodByUID(e.path.PodUID)
		if e.mount == nil || e.file || pod == nil || pod.DeletionTimestamp == nil || !gone(p, view, e.path.PodUID) {
			continue
		}
		f := p.Find(report.Certain, diagnosis.PodSubject(pod)).On(v).Located(view.Name)
		f.Pod(pod)
		f.Sayf("The containers of pod %s on node %s have ended, but the device of block volume %s is still bound at %s. The kubelet does not finish with the pod while it is.",
			podName(pod), view.Name, volumeName(v), e.point)
		f.Fact(tableLine(view.Name, view.Init, *e.mount))
		f.Unless("a container of the pod that still runs")
		f.Advise(remedy.Words("Restart the kubelet of node " + view.Name + " and wait two minutes. If the bind remains, unmount exactly " + e.point + " plainly; that no process of the pod is left was checked."))
		p.Report(f)
		return
	}
}
