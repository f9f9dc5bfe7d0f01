package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestRegisteredSinceItWasSaid: an event of half an hour ago is no witness against the registry's socket
// and the entry of CSINode, which are there now.
func TestRegisteredSinceItWasSaid(t *testing.T) {
	t.Parallel()
	said := func(at string) *world {
		return nfs().Waits().Event("Pod", "web-0", sketch.UID+"00", "FailedMount", "kubelet", "n1", at, `MountVolume.SetUp failed for volume "pv-data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers`)
	}
	const (
		old, now = "2026-01-02T11:34:00Z", "2026-01-02T11:59:00Z"
		named    = "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"
	)
	showEach(t, map[string]shown{
		"long ago, and it is registered":        {said(old), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"just now, whatever the API has":        {said(now), named},
		"long ago, nobody looked at the node":   {said(old).Unprobed("n1", "PodRejected"), named},
		"long ago, and its socket is not there": {said(old).Without("n1", "var/lib/kubelet/plugins_registry/nfs").Entries("n1", "var/lib/kubelet/plugins_registry/other-reg.sock", "@socket"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
	})
}
