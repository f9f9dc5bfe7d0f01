package noise

import (
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// orphanedPodLog: a pod's directory is left over, for which the kubelet logs an
// orphaned pod for ever, and nothing is mounted below it.
var orphanedPodLog = &diagnosis.NoiseRule{Name: "orphaned-pod-log", Run: func(p *diagnosis.Pass) {
	if !p.Collected("/pods") {
		return
	}
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil || view.Init == nil || len(p.PodsOn(node)) == 0 {
			continue
		}
		for _, d := range view.Facts.Kubelet.PodDirs {
			if len(d.Volumes) == 0 || p.PodByUID(d.UID) != nil || mountedBelow(view, d.UID) || len(view.ProcessesOfPod(d.UID)) > 0 {
				continue
			}
			message := fmt.Sprintf("Node %s keeps the directory of pod %s, which the API does not know.", node, d.UID)
			if line := logLine(view, `orphaned pod "`, d.UID); line != "" {
				message += " Its kubelet logs: " + line
			}
			left := ": only empty directories or a vol_data.json are left"
			if files := written(d); len(files) > 0 {
				left = ", but files lie there, which were written while no volume was mounted and may exist nowhere else: " + strings.Join(files, ", ")
			}
			p.AddNoise(diagnosis.NodeSubject(node), message, "nothing is mounted below the directory and no process belongs to the pod"+left)
		}
	}
}}

// written are files in the directories of a pod's volumes that are none of the kubelet's own.
func written(d probes.PodDir) []string {
	var out []string
	for _, v := range d.Volumes {
		for _, f := range v.Files {
			if f != "mount" && path.Base(f) != "vol_data.json" { // the first is the directory itself
				out = append(out, path.Join(v.Name, f))
			}
		}
	}
	return out
}

// mountedBelow looks into every mount namespace that was read.
func mountedBelow(view *snapshot.NodeView, uid string) bool {
	dir := view.Resolved(path.Join(view.KubeletRoot(), "pods", uid))
	if len(view.Under(dir)) > 0 {
		return true
	}
	for _, ns := range view.Namespaces() {
		for _, m := range ns.Mounts {
			if len(m.Point) > len(dir) && m.Point[:len(dir)+1] == dir+"/" {
				return true
			}
		}
	}
	return false
}
