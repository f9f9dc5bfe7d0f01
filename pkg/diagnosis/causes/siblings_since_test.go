package causes

import (
	"strings"
	"testing"
)

// provided makes of the waiting pod web-0 one whose volumes came at 11:59:28.
func provided(w *world, state string) *world {
	const mine, waits, ready = "name: web-0, uid", "state: {waiting: {reason: ContainerCreating}}", "{type: Ready, status: 'False'"
	w.EditIn(mine, ready, "{type: PodReadyToStartContainers, status: 'True', lastTransitionTime: '2026-01-02T11:59:28Z'}, "+ready)
	if !strings.Contains(state, "running") {
		return w.EditIn(mine, waits, "state: {waiting: {reason: "+state+"}}")
	}
	return w.EditIn(mine, waits, "state: {"+state+"}").EditIn(mine, "phase: Pending", "phase: Running").Process("n1", 5000, sketchUID, "app", 4026532700, "")
}

// TestPodThatGotItsVolumesSince: a refusal is the last word of a volume until the kubelet has
// mounted it; what keeps the pod from then on is something else.
func TestPodThatGotItsVolumesSince(t *testing.T) {
	t.Parallel()
	const image, running = "ImagePullBackOff", "running: {startedAt: '2026-01-02T11:59:30Z'}"
	const secret = "MountVolume.MountDevice failed for volume \"pv-data\" : fetching NodeStageSecretRef kube-system/ceph-secret failed: kubernetes.io/csi: failed to find the secret ceph-secret in the namespace kube-system with error: secrets \"ceph-secret\" not found"
	const unregistered = "MountVolume.MountDevice failed for volume \"pv-data\" : kubernetes.io/csi: driver name ebs.csi.aws.com not found in the list of registered CSI drivers"
	const lchown = "MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol nas#data: lchown /var/lib/kubelet/pods/1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00/volumes/kubernetes.io~csi/pv-data/mount: operation not permitted"
	says := func(w *world, at, words string) *world {
		return w.Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", "2026-01-02T11:"+at+"Z", words)
	}
	share := func() *world { return nfsMounted(nfs().Waits(), "n1", 0).Answers("n1", nfs().Publish(0)) }
	windows := func() *world {
		return smbMounted(smb().Waits(), "n1", 0).Answers("n1", smb().Publish(0), smb().Stage())
	}
	ceph := func() *world {
		return cephfsMounted(cephfs().Waits(), "n1", 0).Answers("n1", cephfs().Publish(0), cephfs().Stage())
	}
	mapped := func() *world {
		return rbdMounted(rbd().Waits(), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0))
	}
	disk := func() *world {
		return ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	showEach(t, map[string]shown{
		"a Secret that was missing, it runs":           {provided(says(ceph(), "58:50", secret), running), "healthy"},
		"a Secret that was missing, its image":         {provided(says(ceph(), "58:50", secret), image), "healthy"},
		"a Secret that is missing for the next mount":  {provided(says(ceph(), "59:50", secret), image), "broken: certain csi-credentials-wrong Secret kube-system/ceph-secret"},
		"a Secret that is missing, it was restarted":   {provided(says(ceph(), "58:50", secret), image).EditIn("name: web-0, uid", "restartCount: 0", "restartCount: 3"), "broken: certain csi-credentials-wrong Secret kube-system/ceph-secret"},
		"a driver that was not registered, its image":  {provided(says(disk(), "58:50", unregistered), image), "healthy"},
		"owners that the server refused, its image":    {provided(says(share(), "58:50", lchown), image), "healthy"},
		"a server that refused, its ConfigMap":         {provided(says(share(), "58:50", nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")), "CreateContainerConfigError"), "healthy"},
		"a share that refused the user, it runs":       {provided(says(windows(), "58:50", smbFailed("mount error(13): Permission denied")), running), "healthy"},
		"a kernel that did not know a feature":         {provided(says(mapped(), "58:50", rbdFailed("rbd: map failed: (6) No such device or address")).Kernel("n1", "70|rbd: image csi-vol-bbbb: image uses unsupported features: 0x38"), image), "healthy"},
		"a container that could not be made, it is up": {provided(disk(), running).EditIn("name: web-0, uid", "{type: Ready, status: 'False'", "{type: Ready, status: 'True'").Event("Pod", "web-0", sketchUID, "Failed", "kubelet", "n1", "2026-01-02T11:59:29Z", "Error: failed to prepare subPath for volumeMount \"data\" of container \"app\""), "healthy"},
	})
}
