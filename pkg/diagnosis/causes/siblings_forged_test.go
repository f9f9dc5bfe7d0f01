package causes

import "testing"

// TestWordsAgainstTheState: an event is written by whoever may write events in the namespace of
// the pod, and by a component whose trouble is over. What the API and the node show counts.
func TestWordsAgainstTheState(t *testing.T) {
	t.Parallel()
	const image = "ImagePullBackOff"
	says := func(w *world, reason, words string) *world {
		who, host := "kubelet", "n1"
		if reason == "FailedAttachVolume" {
			who, host = "attachdetach-controller", ""
		}
		return w.Event("Pod", "web-0", sketchUID, reason, who, host, "2026-01-02T11:59:50Z", words)
	}
	mount := func(w *world, words string) *world {
		return says(w, "FailedMount", "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "+words)
	}
	attach := func(w *world, words string) *world {
		return says(w, "FailedAttachVolume", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = "+words)
	}
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	has := func() *world {
		return provided(ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)), image)
	}
	disk := func() *world { return ebsDisk(ebs().Waits().Attached("n1"), "n1") }
	share := func() *world { return nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms") }
	kept := func(w *world) *world { return smbMounted(w, "n1", 0).Answers("n1", smb().Publish(0), smb().Stage()) }
	const fips = "failed to encrypt volume with LUKS: cryptsetup luksFormat: argon2i key derivation function is not allowed in FIPS mode"
	const key = "missing passphrase for encrypted volume pv-data"
	const checked = "failed to run fsck on device '/dev/nvme1n1': exit status 8: /dev/nvme1n1 is mounted.\ne2fsck: Cannot continue, aborting."
	const features = "rbd: map failed: (6) No such device or address: RBD image feature set mismatch. You can disable features unsupported by the kernel with \"rbd feature disable kube/x object-map\"."
	const elsewhere = "volume pv-data failed to attach: it is attached to node ber-a already"
	const watched = "rbd image kube/csi-vol-cccc is still being used: watcher=192.168.40.17:0/3 client.584712"
	const login = "iscsiadm: Could not login to [iface: default, target: iqn.2005-10.org.example:x, portal: 10.7.0.5,3260]"
	unregistered := func(name string) string {
		return "kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name " + name + " not found in the list of registered CSI drivers"
	}
	const past = "broken: unexplained mount-failed" // the kubelet asked again, and nobody waits
	const waits = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	const alone = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"FIPS, the volume is mounted":                      {mount(runs(), fips), "healthy"},
		"FIPS, the pod waits for its image":                {mount(has(), fips), "broken: unexplained format-failed; unexplained mount-failed"},
		"FIPS, the node is in none":                        {mount(disk().Entries("n1", "proc/sys/crypto/fips_enabled", "0"), fips), "broken: unexplained format-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"FIPS":                                             {mount(disk().Entries("n1", "proc/sys/crypto/fips_enabled", "1"), fips), "broken: certain encryption-parameters-refused Node n1"},
		"a passphrase, the disk is not encrypted":          {mount(disk(), key), waits},
		"a passphrase, the volume is mounted":              {mount(has(), key), past},
		"a check, the pod has the mount":                   {mount(has(), checked), "broken: unexplained fsck-failed; unexplained mount-failed"},
		"a check, the pod runs":                            {mount(runs(), checked), "healthy"},
		"features of an image, it is a cloud's disk":       {mount(disk(), features), waits},
		"features of an image that is mounted":             {mount(provided(rbdMounted(rbd().Waits(), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)), image), features), past},
		"a watcher of another image":                       {mount(rbd().Waits().Attached("n1"), watched), waits},
		"a watcher of an image, it is a share":             {mount(share(), watched), waits},
		"a login, it is a cloud's disk":                    {mount(disk(), login), waits},
		"a refusal by another server":                      {mount(share(), "mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.9.9:/other "+nfs().Publish(0)+"\nOutput: mount.nfs: access denied by server while mounting 10.9.9.9:/other"), waits},
		"a refusal by a server, it is a cloud's disk":      {mount(disk(), "mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.9.9:/other "+nfs().Publish(0)+"\nOutput: mount.nfs: access denied by server while mounting 10.9.9.9:/other"), waits},
		"held elsewhere, it is attached since":             {attach(disk(), elsewhere), "broken: unexplained pod-waiting-for-volume"},
		"held elsewhere, the driver attaches nothing":      {attach(share(), elsewhere), alone},
		"held elsewhere":                                   {attach(ebs().Waits(), elsewhere), "broken: certain attachment-stale-in-backend PersistentVolume pv-data"},
		"Fargate refuses a pod that has a node":            {says(disk(), "FailedScheduling", "Pod not supported on Fargate: volumes not supported: storage-volume not supported because: PVC data bound to invalid PV pv-data with CSI Driver: ebs.csi.aws.com"), "broken: unexplained pod-waiting-for-volume"},
		"not registered, CSINode and the socket say so":    {mount(smb().Waits(), unregistered("smb.csi.k8s.io")), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"not registered, CSINode has dropped it":           {mount(smb().Waits(), unregistered("smb.csi.k8s.io")).Edit("nodeID: n1, topologyKeys: null}]}", "nodeID: n1, topologyKeys: null}]}").Edit("drivers: [{name: smb.csi.k8s.io, nodeID: n1, topologyKeys: null}]", "drivers: []"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"not registered, the pod has its mounts":           {mount(provided(kept(smb().Waits()), image), unregistered("smb.csi.k8s.io")), past},
		"a configuration that the volume named":            {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = missing configuration for cluster ID \"rook-ceph\""), "broken: certain driver-configuration-wrong PersistentVolume pv-data"},
		"a configuration of its keys":                      {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = invalid encryption kms configuration: missing encryption KMS configuration with vault-x"), "broken: certain driver-configuration-wrong PersistentVolume pv-data"},
		"a configuration of its keys that it may not read": {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = invalid encryption kms configuration: failed to read kms configuration from configmap csi-kms-connection-details in namespace kube-system: Get \"https://10.96.0.1:443/api/v1/namespaces/kube-system/configmaps/csi-kms-connection-details\": dial tcp 10.96.0.1:443: i/o timeout"), waits},
		"a service of keys that knows somebody else":       {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = invalid encryption kms configuration: failed connecting to Vault: failed to get the authentication token: Error making API request.\n\nURL: PUT https://vault.vault.svc.cluster.local:8200/v1/auth/kubernetes/login\nCode: 403. Errors:\n\n* service account name not authorized"), "broken: likely csi-credentials-wrong PersistentVolume pv-data"},
		"a configuration that is no JSON, ceph-csi 3.4":    {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = unmarshal failed: invalid character ']' looking for beginning of value. raw buffer response: [{\"clusterID\": \"rook-ceph\",]"), "broken: certain driver-configuration-wrong PersistentVolume pv-data"},
		"a configuration that is no JSON":                  {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = unmarshal failed (invalid character ']' looking for beginning of value), raw buffer response: [{\"clusterID\": \"rook-ceph\",]"), "broken: certain driver-configuration-wrong PersistentVolume pv-data"},
		"a volume that was made anew since":                {rbd().Waits().EditIn("kind: PersistentVolume\n", "2025-12-01T08:00:00Z", "2026-01-02T11:59:20Z").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = missing configuration for cluster ID \"rook-ceph\""), waits},
		"a Secret that the volume does not name":           {mount(share(), "fetching NodeStageSecretRef kube-system/ceph-secret failed: kubernetes.io/csi: failed to find the secret ceph-secret in the namespace kube-system with error: secrets \"ceph-secret\" not found"), waits},
		"a Secret, the pod has the mount":                  {mount(has(), "fetching NodeStageSecretRef a/b failed: failed to find the secret b in the namespace a: not found"), past},
		"a configuration of Ceph, it is a share":           {mount(share(), "missing configuration for cluster ID \"rook-ceph\""), "broken: likely driver-configuration-wrong PersistentVolume pv-data"},
		"another server's name":                            {mount(share(), "mount.nfs: Failed to resolve server nas.shop.svc.cluster.local: Name or service not known"), waits},
		"another server's name, SMB":                       {mount(smb().Waits().Entries("n1", "@dial/10.9.0.6:445", "ok 1.2ms"), "mount error: could not resolve address for other.example: Unknown error"), waits},
		"a tunnel, the volume names its server":            {mount(share(), "mount.nfs4: access denied by server while mounting 127.0.0.1:/"), waits},
		"a module for another kind of volume":              {mount(share(), "modprobe: FATAL: Module drbd not found"), waits},
		"a module, said of a container":                    {says(has(), "Failed", "Error: fuse: device not found"), "healthy"},
		"maps, it is a cloud's disk":                       {mount(disk().Entries("n1", "@multipathd/show maps json", "ECONNREFUSED"), "multipathd is not running"), waits},
		"xfs_repair, it is an ext4":                        {mount(disk(), "'xfs_repair' found errors on device /dev/nvme1n1 but could not correct them: ERROR: The filesystem has valuable metadata changes in a log which needs to be replayed."), waits},
		"another filesystem than the volume asks for":      {mount(disk(), "failed to mount the volume as \"xfs\", it already contains ext4. Mount error: x"), waits},
		"held elsewhere, said of a share that mounts":      {mount(share(), elsewhere), waits},
		"features of an image that is mapped":              {mount(rbdMapped(rbd().Waits().Attached("n1"), "n1"), features), waits},
		"a refusal to mount, the claim is not bound":       {mount(pendingClaim(ebs().Waits(), "Immediate", anno("ebs.csi.aws.com")), "mount.nfs: access denied by server while mounting 10.9.9.9:/other"), "broken: unexplained claim-pending; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a sandbox, the node does not show the volume":     {says(share(), "FailedCreatePodSandBox", "failed to create pod sandbox"), "broken: unexplained pod-waiting-for-volume"},
		"the scheduler, its condition says otherwise":      {says(pendingClaim(unscheduled(ebs(), "0/3 nodes are available: 3 Insufficient cpu."), "WaitForFirstConsumer", anno("ebs.csi.aws.com")), "FailedScheduling", "0/3 nodes are available: 3 node(s) had volume node affinity conflict."), "broken: certain consumer-unschedulable Pod shop/web-0"},
		"a volume group that nothing of it names":          {mount(localDir("/mnt/disks/vol1").Waits(), "Volume group \"datavg\" not found"), "broken: likely local-pool-inactive Node n1"},
		"another driver of a longer name":                  {mount(rbdMapped(rbd().Waits().Attached("n1"), "n1"), unregistered("rook-ceph.rbd.csi.ceph.com")), waits},
	})
}

// TestLastWordsOfAContainer: what a container leaves as its last word is its owner's, also where the API
// calls it a message.
func TestLastWordsOfAContainer(t *testing.T) {
	t.Parallel()
	dies := func(w *world, reason string) *world {
		return w.EditIn("name: web-0, uid", "restartCount: 0", "restartCount: 3, lastState: {terminated: {exitCode: 1, reason: "+reason+", startedAt: '2026-01-02T11:59:00Z', finishedAt: '2026-01-02T11:59:20Z', message: 'modprobe: FATAL: Module nfs not found in directory /lib/modules/6.1.0-18-amd64'}}")
	}
	share := func() *world {
		return nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms", "proc/modules", "overlay 28672 0 - Live 0x0", "proc/filesystems", "nodev\tsysfs\n\text4")
	}
	showEach(t, map[string]shown{
		"its own":       {dies(share(), "Error"), "healthy"},
		"the runtime's": {dies(share(), "StartError"), "broken: certain kernel-module-missing Node n1"},
	})
}

// TestContainersThatWereMadeSince: what kept a container from being made is past once all of
// them run, Ready or not; a path that the kubelet missed is there once it has all volumes.
func TestContainersThatWereMadeSince(t *testing.T) {
	t.Parallel()
	const image, running = "ImagePullBackOff", "running: {startedAt: '2026-01-02T11:59:30Z'}"
	at := func(w *world, when, reason, words string) *world {
		return w.Event("Pod", "web-0", sketchUID, reason, "kubelet", "n1", "2026-01-02T11:"+when+"Z", words)
	}
	disk := func() *world {
		return ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	const sub = "Error: failed to prepare subPath for volumeMount \"data\" of container \"app\""
	const private = "Error: failed to generate container \"abc\" spec: failed to generate spec: path \"/var/lib/kubelet\" is mounted on \"/\" but it is not a shared mount"
	const absent = "MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/disks/vol1\" does not exist"
	const other = "MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb1 at /g (fstype: xfs), error failed to mount the volume as \"xfs\", it already contains ext4. Mount error: x"
	device := func() *world {
		return localDir("/dev/sdb1").Waits().Unprobed("n1", "PodRejected")
	}
	locking := func(ago string) *world {
		return rbdMounted(rbd().Waits(), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)).Kernel("n1", ago+"|rbd: rbd0: no lock owners detected", ago+"|rbd: rbd0: breaking header lock owned by client4567", ago+"|rbd: rbd0: failed to blocklist client4567: -13")
	}
	showEach(t, map[string]shown{
		"a subPath, its container runs":          {provided(at(disk(), "59:29", "Failed", sub), running), "healthy"},
		"a private mount, its container runs":    {provided(at(disk(), "59:29", "Failed", private), running).Unprobed("n1", "PodRejected"), "unknown"},
		"a path that was absent, its image":      {provided(at(localPublish(localDir("/mnt/disks/vol1").Waits(), "8:2", "/mnt/disks/vol1"), "58:50", "FailedMount", absent), image), "healthy"},
		"another filesystem, its image":          {provided(at(device(), "58:50", "FailedMountOnFilesystemMismatch", other), image), "unknown"},
		"a lock that could not be taken":         {locking("70"), "broken: certain rbd-lock-or-watcher-stale PersistentVolume pv-data"},
		"a lock that could not be taken, it was": {provided(locking("70"), image), "healthy"},
	})
}

// TestNameOfAnEarlierDisk: what the kernel said of a name before the volume was attached was said of
// the disk that had the name then.
func TestNameOfAnEarlierDisk(t *testing.T) {
	t.Parallel()
	const waits = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	at := func(seconds, text string) *world {
		return ebsDisk(ebs().Waits().Attached("n1"), "n1").Kernel("n1", seconds+"|"+text).FailedMount(stageFails("the operation did not succeed"))
	}
	const feature, damaged = "EXT4-fs (nvme1n1): couldn't mount RDWR because of unsupported optional features (10000)", "EXT4-fs error (device nvme1n1): ext4_validate_block_bitmap:390: comm mount: bg 1: bad block bitmap checksum"
	showEach(t, map[string]shown{
		"a feature":                        {at("61", feature), "broken: certain filesystem-feature-unsupported Device n1/259:1"},
		"a feature, of the disk before it": {at("300000", feature), waits},
		"damage, of the disk before it":    {at("300000", damaged), waits},
	})
}

// twinned adds a PersistentVolume of the same handle, with a claim of another namespace, and a
// pod of it that runs on a node with the same disk.
func twinned(w *world, node, dev, name, fs string) *world {
	const uid = "7a000000-0000-4000-8000-000000000001"
	line := dev + " / /var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~csi/pv-twin/mount rw,relatime shared:64 - " + fs + " /dev/" + name + " rw"
	return w.Add("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-twin, uid: 'a0000000-0000-4000-8000-000000000007', creationTimestamp: '2025-12-02T08:00:00Z'}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, claimRef: {namespace: other, name: twin, uid: 'c0000000-0000-4000-8000-000000000007'}, csi: {driver: "+w.Driver+", fsType: "+fs+", volumeHandle: '"+w.Handle+"'}}\nstatus: {phase: Bound}\n",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: other, name: twin, uid: 'c0000000-0000-4000-8000-000000000007', creationTimestamp: '2025-12-02T08:00:00Z'}\nspec: {accessModes: [ReadWriteOnce], volumeName: pv-twin, storageClassName: '', resources: {requests: {storage: 10Gi}}}\nstatus: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {namespace: other, name: twin-0, uid: '"+uid+"', creationTimestamp: '2025-12-30T12:00:00Z'}\nspec: {nodeName: "+node+", volumes: [{name: d, persistentVolumeClaim: {claimName: twin}}], containers: [{name: app, image: i, volumeMounts: [{name: d, mountPath: /d}]}]}\nstatus: {phase: Running, startTime: '2025-12-30T12:00:00Z', conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-30T12:00:10Z'}], containerStatuses: [{name: app, ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-30T12:00:05Z'}}}]}\n").
		Mounts(node, line).Process(node, 5900, uid, "twin", 4026532790, "")
}

// TestOneDiskOfTwoVolumes: two PersistentVolumes of one handle are one disk; no mount of the one is
// foreign to the other.
func TestOneDiskOfTwoVolumes(t *testing.T) {
	t.Parallel()
	runs := func() *world {
		return twinned(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)), "n1", "259:1", "nvme1n1", "ext4")
	}
	gone := func(w *world) *world { // the pod of the first ended
		return w.Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:40:00Z', deletionGracePeriodSeconds: 30, uid").Without("n1", "proc/5000/").
			Edit("state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:40:05Z'}}").Edit("ready: true, restartCount: 0, image: i, imageID: ''", "ready: false, restartCount: 0, image: i, imageID: ''")
	}
	xfs := func() *world {
		return twinned(sanMounted(pureISCSI()), "n1", "8:32", "sdc", "xfs")
	}
	showEach(t, map[string]shown{
		"both run":                          {runs(), "healthy"},
		"the disk came after the mounts":    {xfs().Kernel("n1", "60|sd 2:0:0:0: [sdc] Attached SCSI disk"), "healthy"},
		"the first waits elsewhere":         {twinned(sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Entries("n1", "sys/fs/xfs/sdc/stats/stats", "x"), "n1", "8:32", "sdc", "xfs"), "broken: likely volumehandle-duplicate PersistentVolume pv-twin"},
		"an image is mapped for the second": {twinned(rbdMapped(moved(rbd()), "n1"), "n1", "252:0", "rbd0", "ext4").Without("n1", "proc/5900/"), "broken: likely volumehandle-duplicate PersistentVolume pv-twin"},
		"the first ends":                    {gone(runs()), "broken: unexplained pod-stuck-terminating"},
		"the first waits":                   {twinned(ebsDisk(ebs().Waits().Attached("n1"), "n1"), "n1", "259:1", "nvme1n1", "ext4").LiveExt4("n1", "nvme1n1"), "broken: certain volumehandle-duplicate PersistentVolume pv-twin"},
	})
}
