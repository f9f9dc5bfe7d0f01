package around

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Unstaged tells that the kubelet publishes an attached disk from a staging path at which nothing is mounted, by a
// driver that stages: the kubelet does not stage again what it takes for staged (kubernetes issue 106729).
func Unstaged(x *snapshot.Index, v *snapshot.Volume, node, step string, texts []evidence.Text) []report.Evidence {
	va := v.AttachmentOn(node)
	if step != "publish" || va == nil || !va.Status.Attached || v.CSIName() == "" || v.Block() || !evidence.Tables(x, node, probes.Mounts).Complete() || !stages(x, v, texts) {
		return nil
	}
	if slices.ContainsFunc(x.VolumeMounts(v, node), func(m snapshot.VolumeMount) bool { return m.Path.Kind == snapshot.Staging }) {
		return nil
	}
	return []report.Evidence{evidence.FromNode(node, "proc/1/mountinfo", "nothing is staged, and the kubelet only publishes")}
}

// stages tells whether the driver of a volume stages volumes: one of it is staged somewhere, or a fresh text says so.
func stages(x *snapshot.Index, v *snapshot.Volume, texts []evidence.Text) bool {
	for _, view := range x.NodeViews {
		if slices.ContainsFunc(view.VolumePaths(), func(m snapshot.VolumeMount) bool {
			return m.Path.Kind == snapshot.Staging && m.Path.Driver == v.CSIName()
		}) {
			return true
		}
	}
	return slices.ContainsFunc(texts, func(t evidence.Text) bool { return t.Fresh && strings.Contains(strings.ToLower(t.Raw), "stag") })
}
