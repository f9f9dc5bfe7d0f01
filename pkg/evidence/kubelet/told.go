package kubelet

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Vanished asks, where nobody looked at the node, whether the kubelet freshly misses the directory of a volume that the plugin
// said it had mounted, at a path that no container of the plugin has; root is the kubelet's directory by its own words. It sets
// the owner of a volume (applyFSGroup) after the call has succeeded, and looks for a device of it (EvalHostSymlinks) then, and the call alone
// makes that directory or device. (openebs issue 3532, topolvm issue 406)
func Vanished(pl *evidence.Place, v *snapshot.Volume, plugin *corev1.Pod) (root string, a evidence.Answer) {
	if v == nil || known(pl.X, pl.X.View(pl.Node)) {
		return "", evidence.No()
	}
	for _, t := range pl.Refused() {
		before, _, gone := strings.Cut(t.Raw, ": no such file or directory")
		below, p := "/pods/", lastPath(before)
		fits := strings.Contains(before, "applyFSGroup failed") && strings.HasSuffix(p, "/volumes/kubernetes.io~csi/"+v.PVName()+"/mount")
		if strings.Contains(before, "MapVolume.EvalHostSymlinks failed") {
			below, fits = "/plugins/kubernetes.io/csi/", strings.Contains(p, "/volumeDevices/publish/"+v.PVName()+"/")
		}
		if !fits || !gone {
			continue
		}
		root, _, _ = strings.Cut(p, below)
		return root, evidence.All(evidence.Yes(t.Evidence()), Sight{pl, plugin, v, path.Clean(root)}.Unnamed())
	}
	return "", evidence.No()
}
