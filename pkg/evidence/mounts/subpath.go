package mounts

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SubPaths tells whether a container of a pod mounts a subPath: of a claim, or of a
// ConfigMap or Secret.
func SubPaths(pod *corev1.Pod) bool {
	return snapshot.AnyContainer(pod, func(c *corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.SubPath != "" || m.SubPathExpr != "" })
	})
}

// SubBind is the bind of a subPath of a pod.
type SubBind struct {
	snapshot.VolumeMount
	pl     *evidence.Place
	Volume *snapshot.Volume // nil: no persistent one
	Err    string           // what it answers, when that is an error
}

// SubBindsOf are those of the place's pod on a living device.
func SubBindsOf(pl *evidence.Place) []SubBind {
	var out []SubBind
	for _, u := range pl.View.VolumePaths() {
		if u.Path.Kind != snapshot.SubPath || !snapshot.SameUID(u.Path.PodUID, string(pl.Pod.UID)) || pl.View.Dead(u.Mount.Dev) {
			continue
		}
		b := SubBind{VolumeMount: u, pl: pl, Volume: pl.X.VolumeOfPath(pl.Node, u.Mount.Point)}
		if st, _ := pl.View.Statfs(u.Mount.Point); slices.Contains([]string{"ESTALE", "EIO", "ENOTCONN"}, st.Err) {
			b.Err = st.Err
		}
		out = append(out, b)
	}
	return out
}

// Stale asks whether what it was bound to is gone. A container that runs with a deleted
// ConfigMap file works until it restarts, so that alone is nothing.
func (b SubBind) Stale() evidence.Answer {
	line := evidence.FromMount(b.pl.Node, b.pl.View.Init, b.Mount)
	switch {
	case b.Err != "":
		return evidence.Yes(line, evidence.FromNode(b.pl.Node, "@statfs"+b.Mount.Point, b.Err))
	case b.Mount.Deleted() && (pods.Overdue(b.pl.X, b.pl.Pod) && !pods.Runs(b.pl.Pod) || pods.CannotStart(b.pl.Pod, b.Path.Container)):
		return evidence.Yes(line)
	}
	return evidence.No(line)
}

// Wholly asks whether the mount of the whole volume is not well either: then the fault is
// not the subPath's alone. A volume without a mount of its own (ConfigMap, Secret,
// emptyDir) is a directory of the node.
func (b SubBind) Wholly() evidence.Answer {
	view := b.pl.View
	for _, u := range view.VolumePaths() {
		if u.Path.Kind != snapshot.Publish || !snapshot.SameUID(u.Path.PodUID, string(b.pl.Pod.UID)) || u.Path.PV != b.Path.Volume && (b.Volume == nil || u.Path.PV != b.Volume.PVName()) {
			continue
		}
		st, ok := view.Statfs(u.Mount.Point)
		another := b.Volume != nil && !u.Mount.Dev.Anonymous() && u.Mount.Dev != b.Mount.Dev // two devices of one volume
		if ok && st.Err != "" || view.Dead(u.Mount.Dev) || u.Mount.Deleted() || another {
			return evidence.Yes(evidence.FromMount(b.pl.Node, u.NS, u.Mount))
		}
	}
	return b.pl.Tables(probes.Mounts).Found()
}

// The words of the kubelet and the runtime about a subPath.
var (
	subPathGone  = []string{"volume-subpaths/", "no such file or directory"}
	subPathOther = []string{"failed to prepare subPath for volumeMount", "error cleaning subPath mounts"}
)

// SaidStale asks whether a fresh text about the place's pod says that a subPath is gone, or
// that one cannot be made or cleaned, which is weaker: a pod in which nothing ever ran has no
// bind that could have become old.
func SaidStale(pl *evidence.Place) (ceiling report.Certainty, a evidence.Answer) {
	for _, t := range Said(pl.X, pl.Pod) {
		_, after, gone := strings.Cut(t.Raw, subPathGone[0])
		gone = gone && strings.Contains(after, subPathGone[1])
		switch other := evidence.ContainsAny(t.Raw, subPathOther...); {
		case !t.Fresh:
		case gone:
			return report.Likely, evidence.Yes(t.Evidence())
		case other && (pl.Pod.DeletionTimestamp != nil || pods.Started(pl.Pod)):
			return report.Possible, evidence.Yes(t.Evidence())
		}
	}
	return report.Possible, evidence.No()
}

// Remote tells whether a filesystem type is a server's or a daemon's.
func Remote(fstype string) bool {
	return strings.HasPrefix(fstype, "nfs") || strings.HasPrefix(fstype, "fuse") || slices.Contains([]string{"cifs", "smb3", "ceph", "glusterfs", "lustre", "gpfs", "9p", "virtiofs"}, fstype)
}
