package diagnosis

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stateUnread lists the mounts of the question's volumes of which nobody knows whether
// they answer: neither the kernel's entry of the live filesystem nor its statfs was
// read. A frozen or dead one looks the same in a mount table as one that is well.
func (p *Pass) stateUnread() []report.NotChecked {
	var out []report.NotChecked
	for _, v := range p.Volumes() {
		for _, view := range p.scope.views {
			if point := unreadMount(p.VolumeMounts(v, view.Name), view); point != "" {
				out = append(out, report.NotChecked{
					Need: "node/" + view.Name + "/" + string(probes.Contents), Node: view.Name, Reason: snapshot.NotRequested,
					Detail: "whether the filesystem at " + point + " answers was not asked",
				})
			}
		}
	}
	return out
}

// unreadMount is the first mount whose filesystem's state is unknown, or empty.
func unreadMount(mounts []snapshot.VolumeMount, view *snapshot.NodeView) string {
	for _, m := range mounts {
		asked := slices.ContainsFunc(mounts, func(o snapshot.VolumeMount) bool {
			st, ok := view.Statfs(o.Mount.Point)
			return ok && st.Err == "" && o.Mount.Dev == m.Mount.Dev
		})
		if !asked && view.Superblock(m.Mount.Dev) == nil && m.Mount.FSType != "devtmpfs" && m.Mount.FSType != "tmpfs" {
			return m.Mount.Point
		}
	}
	return ""
}

// awaited are the pods whose logs say why a volume in question is not made or not attached.
func (p *Pass) awaited() (out []*corev1.Pod) {
	for _, v := range p.Volumes() {
		if isUnmade(v) && v.Class != nil {
			out = append(out, p.SidecarPods(v.Class.Provisioner, "csi-provisioner")...)
		}
		if slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return !va.Status.Attached }) {
			out = append(out, p.SidecarPods(v.CSIName(), "csi-attacher")...)
		}
	}
	return out
}

// sourceUnread lists what claims shall be filled from: of that, nothing but other claims is read.
func (p *Pass) sourceUnread() []report.NotChecked {
	var out []report.NotChecked
	for _, v := range p.Volumes() {
		if !isUnmade(v) {
			continue
		}
		if kind, name := claims.SourceOf(v.Claim); name != "" && kind != "PersistentVolumeClaim" {
			out = append(out, report.NotChecked{Need: kind + " " + name, Reason: snapshot.NotRequested, Detail: "claim " + v.Claim.Namespace + "/" + v.Claim.Name + " is filled from it"})
		}
	}
	return out
}
