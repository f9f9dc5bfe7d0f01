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
		"a Secret that is missing for the next mount":  {provided(says(ceph(), "59:50", secret), image), "broken: unexplained mount-failed"},
		"a Secret that is missing, it was restarted":   {provided(says(ceph(), "58:50", secret), image).EditIn("name: web-0, uid", "restartCount: 0", "restartCount: 3"), "broken: unexplained mount-failed"},
		"a driver that was not registered, its image":  {provided(says(disk(), "58:50", unregistered), image), "healthy"},
		"owners that the server refused, its image":    {provided(says(share(), "58:50", lchown), image), "healthy"},
		"a server that refused, its ConfigMap":         {provided(says(share(), "58:50", nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")), "CreateContainerConfigError"), "healthy"},
		"a share that refused the user, it runs":       {provided(says(windows(), "58:50", smbFailed("mount error(13): Permission denied")), running), "healthy"},
		"a kernel that did not know a feature":         {provided(says(mapped(), "58:50", rbdFailed("rbd: map failed: (6) No such device or address")).Kernel("n1", "70|rbd: image csi-vol-bbbb: image uses unsupported features: 0x38"), image), "healthy"},
		"a container that could not be made, it is up": {provided(disk(), running).EditIn("name: web-0, uid", "{type: Ready, status: 'False'", "{type: Ready, status: 'True'").Event("Pod", "web-0", sketchUID, "Failed", "kubelet", "n1", "2026-01-02T11:59:29Z", "Error: failed to prepare subPath for volumeMount \"data\" of container \"app\""), "healthy"},
	})
}

// TestTwinsThatWereRepaired: the same words in a world in which it works since, or has only just
// begun to.
func TestTwinsThatWereRepaired(t *testing.T) {
	t.Parallel()
	const running, ready = "running: {startedAt: '2026-01-02T11:59:30Z'}", "{type: Ready, status: 'True'"
	const pluginLog = "logs/kube-system/plugin-1/driver.log"
	up := func(w *world) *world {
		return provided(w, running).EditIn("name: web-0, uid", "{type: Ready, status: 'False'", ready)
	}
	disk := func() *world {
		return ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	beside := func(w *world) *world { return second(w, "web-b", "n1", "", "Running", "") }
	back := func(w *world, at string) *world {
		return notReady(w, "n2", "2026-01-02T11:40:00Z").Unprobed("n2", "NodeNotReady").
			EditIn("name: n2, uid: 'f0", "status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: '2026-01-02T11:40:00Z'", "status: 'True', reason: KubeletReady, lastTransitionTime: '2026-01-02T"+at+"Z'")
	}
	lost := func(at string) *world { return back(mulattach(cinderW().Waits().Attached("n2"), "x"), at) }
	lease := func(started string) *world {
		w := attachFailed(va(cinderW().Waits(), "csi-a", "n1", "", "attached: false"), "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of cinder.csi.openstack.org CSI driver to attach volume 0e6dd0a8")
		return w.EditIn("name: controller-0", "{name: csi-attacher, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}", "{name: csi-attacher, ready: true, restartCount: 4, state: {running: {startedAt: '2026-01-02T"+started+"Z'}}}").
			Add("\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-system, name: external-attacher-leader-cinder-csi-openstack-org}\nspec: {holderIdentity: controller-0, renewTime: '2026-01-02T11:10:00.000000Z'}\n")
	}
	quorum := func() *world {
		return drbdDevice(linstor().Waits().Attached("n1"), "n1").Kernel("n1", "300|drbd pvc-77aa n2: conn( Connected -> NetworkFailure ) peer( Secondary -> Unknown )", "300|drbd pvc-77aa/0 drbd1000: quorum( yes -> no )")
	}
	looped := func(w *world) *world {
		for _, reason := range []string{"Attached", "Detached"} {
			w.Add("\napiVersion: v1\nkind: Event\nmetadata: {namespace: longhorn-system, name: e-" + reason + "}\ninvolvedObject: {kind: Volume, namespace: longhorn-system, name: " + lhVol + "}\nreason: " + reason + "\ntype: Normal\ncount: 12\nfirstTimestamp: '2026-01-02T11:40:00Z'\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: volume " + reason + "\n")
		}
		return w
	}
	lhSince := func() *world {
		return lhRuns(lhWorld("v1.7.2")).EditIn("name: web-0, uid", "startedAt: '2025-12-31T12:00:10Z'", "startedAt: '2026-01-02T11:59:30Z'")
	}
	const format = "E0102 11:58:50.000000       1 mount_linux.go:487] format of disk \"/dev/nvme1n1\" failed: volume pv-data vol-0a1b2c3d4e5f60718: /dev/nvme1n1 is apparently in use by the system; will not make a filesystem here!"
	const fsck = "E0102 11:58:50.000000       1 server.go:1] volume vol-0a1b2c3d4e5f60718: failed to run fsck: /dev/nvme1n1 is mounted. e2fsck: Cannot continue, aborting."
	const record = "[" + lhVol + "-e-0] time=\"2026-01-02T11:58:50Z\" level=error msg=\"Failed to startup frontend\" error=\"iscsiadm -m node -T " + lhIQN + " -o show: iSCSI ERROR: Unknown parameter name node.session.conn_reopen_log_freq\\niSCSI ERROR: config file /var/lib/iscsi/nodes/" + lhIQN + "/10.42.11.20,3260,1/default invalid.: exit status 7\""
	showEach(t, map[string]shown{
		"a format that failed, in the log only":        {up(disk()).File(pluginLog, format), "healthy"},
		"a check that refused, the other pod is old":   {beside(up(disk())).File(pluginLog, fsck), "healthy"},
		"a volume that flapped until its pod had it":   {looped(lhSince()), "healthy"},
		"a volume that flaps under its pod":            {looped(lhRuns(lhWorld("v1.7.2"))), "broken: unexplained volume-attach-loop"},
		"a probe that ran out of time, it is Ready":    {provided(disk(), running).EditIn("name: web-0, uid", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:30:00Z'}", ready+", lastTransitionTime: '2026-01-02T11:59:50Z'}").Event("Pod", "web-0", sketchUID, "Unhealthy", "kubelet", "n1", "2026-01-02T11:59:40Z", "Readiness probe failed: command timed out: \"ls /data\" timed out after 5s"), "healthy"},
		"a node that has just come back":               {lost("11:59:30"), "waiting"},
		"a node that came back, and keeps the volume":  {lost("11:50:00"), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
		"an attacher that was started a moment ago":    {lease("11:59:20"), "broken: possible attacher-not-working Pod kube-system/controller-0; unexplained attach-failed; unexplained pod-waiting-for-volume"},
		"an attacher that does not take the lease":     {lease("11:40:00"), "broken: certain attacher-not-working Pod kube-system/controller-0"},
		"DRBD without quorum, nobody says so any more": {quorum().Entries("n1", "@content/147:1000", "@error ENODATA"), "broken: certain drbd-state-blocks Device n1/147:1000"},
		"DRBD that another node has, nobody says so":   {quorum().Entries("n1", "@content/147:1000", "@error EMEDIUMTYPE"), "broken: unexplained pod-waiting-for-volume"},
	})
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"records that a node refused before": {lhSince().Unprobed("n1", "PodRejected").File("logs/longhorn-system/instance-manager-n1/instance-manager.log", record), "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "node n1", c.want)
		})
	}
}

// TestClaimThatGotItsVolumeSince: what the driver said while it made the volume is past once it is
// there, and until then its log tells of the claim's volume, too.
func TestClaimThatGotItsVolumeSince(t *testing.T) {
	t.Parallel()
	const refused = "failed to provision volume with StorageClass \"sc\": rpc error: code = InvalidArgument desc = failed to fetch monitor list using clusterID (c-1): missing configuration for cluster ID (c-1)"
	const line = "E0102 11:58:50.110901       1 utils.go:163] ID: 41 Req-ID: pvc-c0000000-0000-4000-8000-000000000001 GRPC error: rpc error: code = InvalidArgument desc = missing configuration for cluster ID (c-1)"
	const log = "logs/kube-system/controller-0/driver.log"
	grown := func() *world {
		return pvcEvent(cephfs(), "Warning", "ProvisioningFailed", "cephfs.csi.ceph.com", refused).Edit("capacity: {storage: 10Gi}}", "capacity: {storage: 5Gi}}")
	}
	const made = "pvc-c0000000-0000-4000-8000-000000000001"
	helper := func(w *world) *world {
		return w.Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: helper-pod-create-" + made + ", uid: '6a000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:50:00Z'}\nspec: {nodeName: n1, volumes: [{name: data, hostPath: {path: /opt/local-path-provisioner}}], containers: [{name: helper-pod, image: busybox}]}\nstatus: {phase: Pending, startTime: '2026-01-02T11:50:00Z', containerStatuses: [{name: helper-pod, ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image'}}}]}\n")
	}
	runs := func(w *world) *world {
		return helper(w).Edit("{waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image'}}", "{running: {startedAt: '2026-01-02T11:59:10Z'}}").
			Add("apiVersion: v1\nkind: Event\nmetadata: {namespace: kube-system, name: e-helper}\ninvolvedObject: {kind: Pod, namespace: kube-system, name: helper-pod-create-" + made + ", uid: '6a000000-0000-4000-8000-000000000001'}\ntype: Warning\nreason: Failed\nmessage: 'Error: ErrImagePull'\ncount: 3\nfirstTimestamp: '2026-01-02T11:51:00Z'\nlastTimestamp: '2026-01-02T11:58:40Z'\nsource: {component: kubelet, host: n1}\n")
	}
	local := func() *world { return vol("rancher.io/local-path", "x", "") }
	showEach(t, map[string]shown{
		"a helper that cannot make it":   {helper(pendingClaim(local(), "Immediate", anno("rancher.io/local-path"))), "broken: certain helper-pod-failed Pod kube-system/helper-pod-create-" + made},
		"its image came at last":         {runs(pendingClaim(local(), "Immediate", anno("rancher.io/local-path"))), "broken: unexplained claim-pending"},
		"a helper that is left over":     {helper(local()).Edit("pv-data", made), "healthy"},
		"the same, its PV unread":        {helper(local()).Edit("pv-data", made).Drop("name: "+made).Gap("api//persistentvolumes", "Forbidden"), "unknown"},
		"it was made, and has not grown": {grown(), "degraded: unexplained expansion-pending"},
		"the provisioner's log alone":    {pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")).File("logs/kube-system/controller-0/csi-provisioner.log", "E0102 11:58:50.110901       1 controller.go:957] error syncing claim \"c0000000-0000-4000-8000-000000000001\": failed to provision volume with StorageClass \"fast\": rpc error: code = ResourceExhausted desc = no space left in pool kube"), "broken: certain provisioning-failed PersistentVolumeClaim shop/data"},
		"only the log says why":          {pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")).File(log, line), "broken: certain driver-configuration-wrong StorageClass fast"},
	})
}

// TestSinceTheDriverStarted: what a driver answered before its plugin was started anew is its last word,
// and proves nothing any more.
func TestSinceTheDriverStarted(t *testing.T) {
	t.Parallel()
	const was, likely, certain = "2025-11-07T13:25:00Z", "broken: likely driver-configuration-wrong PersistentVolume pv-data", "broken: certain driver-configuration-wrong PersistentVolume pv-data"
	said := func(at string) *world {
		return rbd().Waits().Attached("n1").Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", at, stageFails("missing configuration for cluster ID \"rook-ceph\""))
	}
	anew := func(w *world, plugin string) *world {
		return w.EditIn("name: "+plugin+", uid", was, "2026-01-02T11:57:20Z")
	}
	ends := func(w *world) *world {
		return w.EditIn("name: plugin-1, uid", was, "2026-01-02T11:59:30Z").EditIn("name: plugin-1, uid", "restartCount: 0", "restartCount: 9")
	}
	showEach(t, map[string]shown{
		"the plugin was started since":    {anew(said("2026-01-02T11:55:00Z"), "plugin-1"), likely},
		"it says so again":                {anew(said("2026-01-02T11:59:00Z"), "plugin-1"), certain},
		"the plugin of another node was":  {anew(said("2026-01-02T11:55:00Z"), "plugin-2"), certain},
		"the plugin is the same":          {said("2026-01-02T11:55:00Z"), certain},
		"the plugin ends again and again": {ends(said("2026-01-02T11:59:00Z")), certain},
	})
}
