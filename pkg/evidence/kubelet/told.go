package kubelet

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Vanished asks whether a fresh text misses the directory of a volume at a path that no container of the plugin has; root is the
// kubelet's directory by that path. Where the node was not looked at, or not at that directory, seen says so. Either the kubelet misses it: it sets
// the owner of a volume (applyFSGroup) after the call has succeeded, and looks for a device of it (EvalHostSymlinks) then, and the call alone
// makes that directory or device. Or the driver does: the kubelet makes the directory above the one that it hands over before it calls
// (SetUpAt in pkg/volume/csi/csi_mounter.go), and the one to stage at itself (MountDevice in csi_attacher.go). (openebs issue 3532, topolvm issue 406, kubernetes-csi/csi-driver-host-path issue 527)
func Vanished(pl *evidence.Place, v *snapshot.Volume, plugin *corev1.Pod) (root string, a, seen evidence.Answer) {
	if v == nil {
		return "", evidence.No(), seen
	}
	for _, t := range pl.Refused() {
		before, _, gone := strings.Cut(strings.Replace(t.Raw, " does not exist", ": no such file or directory", 1), ": no such file or directory")
		p := lastPath(before)
		root, _, _ = strings.Cut(p, "/pods/")
		root, _, _ = strings.Cut(root, "/plugins/kubernetes.io/csi/")
		vp, ok := snapshot.ParseVolumePath(root, p)
		s := Sight{pl, plugin, v, path.Clean(root)}
		handed := vp.Kind == snapshot.Publish || vp.Kind == snapshot.Staging || vp.Kind == snapshot.BlockStaging
		if vp.Kind == snapshot.BlockPublish { // the driver makes it, and the kubelet misses it
			handed = strings.Contains(before, "MapVolume.EvalHostSymlinks failed")
		}
		if !ok || !gone || !handed || !s.path(p) {
			continue
		}
		if view := pl.X.View(pl.Node); !known(pl.X, view) {
			seen = unseenRoot(pl.Node)
		} else if seen = s.onHost(p); seen.Yes() || path.Clean(view.Facts.Kubelet.Root) != s.root {
			continue // Missed says it, or no directory of this kubelet
		}
		return root, evidence.All(evidence.Yes(t.Evidence()), s.lacks("none holds "+p, p)), seen
	}
	return "", evidence.No(), seen
}
