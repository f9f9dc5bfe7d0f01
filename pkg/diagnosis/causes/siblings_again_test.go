package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// lacksDir has the driver miss the directory of an ephemeral volume below a kubelet's.
func lacksDir(root string) *world {
	w := ephemeral(nfs().Waits().Unprobed("n1", "NotRequested"), "certs").Edit("csi: {driver: secrets-store.csi.k8s.io,", "csi: {driver: nfs.csi.k8s.io,")
	dir := root + strings.TrimPrefix(strings.Replace(w.Publish(0), "pv-data", "certs", 1), "/var/lib/kubelet")
	return w.FailedMount("MountVolume.SetUp failed for volume \"certs\" : rpc error: code = Internal desc = unable to create target path \"" + dir + "\": mkdir " + dir + ": no such file or directory")
}

// ephemeral gives web-0 an ephemeral volume of a CSI driver beside its claim.
func ephemeral(w *world, name string) *world {
	for _, n := range []string{"1", "2", "3"} {
		w.Edit("nodeID: n"+n+", topologyKeys: null}]}", "nodeID: n"+n+", topologyKeys: null}, {name: secrets-store.csi.k8s.io, nodeID: n"+n+", topologyKeys: null}]}")
	}
	return w.Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: "+name+", csi: {driver: secrets-store.csi.k8s.io, readOnly: true, volumeAttributes: {secretProviderClass: app}}}]").
		Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: "+name+", mountPath: /mnt/"+name+"}]").
		Add("\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: secrets-store.csi.k8s.io, uid: '3a000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}\nspec: {attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral]}\n")
}

// taken is a claim that names the volume of another one.
func taken(w *world) *world {
	return w.Edit("status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Pending}").
		Edit("namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001'}\n  accessModes", "namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000009'}\n  accessModes").
		Add("\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000009', creationTimestamp: '2025-12-20T08:00:00Z'}\nspec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, storageClassName: fast, volumeName: pv-data, resources: {requests: {storage: 10Gi}}}\nstatus: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}\n")
}

func encryptedRBD() *world {
	w := sketch.NewWorld("rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000002-bbbb", strings.Replace(rbdPV, "imageFeatures: layering", "imageFeatures: layering, encrypted: 'true', encryptionKMSID: user", 1))
	return rbdMapped(w.Waits().Attached("n1"), "n1").Entries("n1", "@content/252:0", "TYPE=crypto_LUKS\nUUID=5f", "proc/modules", "dm_crypt 57344 0 - Live 0x0\nrbd 28672 0 - Live 0x0")
}

// crashes has the container of web-0 end again and again.
func crashes(w *world) *world {
	return w.Without("n1", "proc/5000/").Edit("{name: app, ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://"+strings.Repeat("ab", 31)+"00', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}",
		"{name: app, ready: false, restartCount: 44, image: i, imageID: '', lastState: {terminated: {exitCode: 1, reason: Error, finishedAt: '2026-01-02T11:58:00Z'}}, state: {waiting: {reason: CrashLoopBackOff, message: 'back-off 5m0s restarting failed container'}}}").
		Edit("{type: Ready, status: 'True', lastTransitionTime: '2025-12-31T12:00:00Z'}", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:50:00Z'}")
}

func TestSiblingsAgain(t *testing.T) {
	t.Parallel()
	shared := func() *world {
		return ephemeral(nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)), "certs")
	}
	consumer := func() *world {
		return pvcEvent(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", ""), "Normal", "WaitForFirstConsumer", "persistentvolume-controller", "waiting for first consumer to be created before binding").Waits()
	}
	const hint = "failed to open device /dev/rbd0: exit status 1 Check that kernel supports aes-xts-plain64 cipher (check syslog for more info)."
	inline := nfs().Waits().Edit("kubeletVersion: v1.31.2", "kubeletVersion: v1.24.9").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, azureFile: {secretName: azure-secret, shareName: files}}]").
		FailedMount("MountVolume.SetUp failed for volume \"data\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o vers=3.0,<masked> //acct.file.core.windows.net/files "+pods+"volumes/kubernetes.io~azure-file/data\nOutput: mount error(13): Permission denied\nRefer to the mount.cifs(8) manual page (e.g. man mount.cifs)").
		Kernel("n1", "61|CIFS: Attempting to mount \\\\acct.file.core.windows.net\\files", "61|CIFS: Status code returned 0xc000006d STATUS_LOGON_FAILURE", "61|CIFS: VFS: \\\\acct.file.core.windows.net Send error in SessSetup = -13", "61|CIFS: VFS: cifs_mount failed w/return code = -13")
	armored := nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.0.5:/export/data "+nfs().Publish(0)+"\nOutput: mount.nfs: access denied by server while mounting 10.9.0.5:/export/data").
		Kernel("n1", "61|audit: type=1400 audit(1767355138.000:77): apparmor=\"DENIED\" operation=\"mount\" class=\"mount\" info=\"failed flags match\" error=-13 profile=\"cri-containerd.apparmor.d\" name=\""+nfs().Publish(0)+"/\" pid=99120 comm=\"mount.nfs\" fstype=\"nfs\" srcname=\"10.9.0.5:/export/data\"")
	labelled := crashes(localPublish(localDir("/opt/pg/data").Runs(0), "8:2", "/opt/pg/data").Answers("n1", pods+"volumes/kubernetes.io~local-volume/pv-data").Entries("n1", "opt/pg/data", "@dir", "sys/fs/selinux/enforce", "1")).
		Kernel("n1", "62|audit: type=1400 audit(1767355138.000:77): avc:  denied  { write } for  pid=99121 comm=\"postgres\" name=\"data\" dev=\"sda2\" ino=131 scontext=system_u:system_r:container_t:s0:c1,c2 tcontext=unconfined_u:object_r:default_t:s0 tclass=dir permissive=0").
		File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z FATAL:  could not create file \"/data/postmaster.pid\": Permission denied\n")
	grown := func() *world {
		w := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Edit("capacity: {storage: 10Gi}\n  persistentVolumeReclaimPolicy", "capacity: {storage: 20Gi}\n  persistentVolumeReclaimPolicy").Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}")
		return w.Edit("accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]}")
	}
	single := func() *world {
		return nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, configMap: {name: conf}}]").
			Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /etc/app/app.ini, subPath: app.ini}]")
	}
	imaged := func(image string) *world {
		w := nfsMounted(nfs().Waits(), "n1", 0).Answers("n1", nfs().Publish(0)).Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: model, image: {reference: registry.example/model, pullPolicy: IfNotPresent}}]")
		return w.Edit("waiting: {reason: ContainerCreating}", `waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "`+image+`": ErrImagePull: rpc error: code = NotFound desc = failed to resolve reference "`+image+`": not found'}`)
	}
	unmounted := func(message string) *world {
		return imaged("x").Edit("waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"x\": ErrImagePull: rpc error: code = NotFound desc = failed to resolve reference \"x\": not found'}", "waiting: {reason: CreateContainerError, message: '"+message+"'}")
	}
	const refused = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	for name, c := range map[string]struct {
		w         *world
		ask, want string
	}{
		"containerd: a file of a volume's image":                     {unmounted("ImageVolumeMountFailed: failed to ensure image subpath \"a.jar\" in \"/run/containerd/io.containerd.grpc.v1.cri/image-volumes/1a/2b\": only directory subpath is supported"), "pod shop/web-0", refused},
		"CRI-O: a path that is not in a volume's image":              {unmounted("ImageVolumeMountFailed: subPath opt/yq-jq does not exist in OCI artifact volume"), "pod shop/web-0", refused},
		"a runtime that knows no volumes of images":                  {unmounted("failed to generate container \"cc99\" spec: failed to generate spec: failed to mkdir \"\": mkdir : no such file or directory"), "pod shop/web-0", refused},
		"a runtime that lacks a directory of its own":                {unmounted("failed to generate container \"cc99\" spec: failed to generate spec: failed to mkdir \"/run/x\": mkdir /run/x: no such file or directory"), "pod shop/web-0", "healthy"},
		"a container that cannot be made otherwise":                  {unmounted("failed to reserve container name"), "pod shop/web-0", "healthy"},
		"the image of a volume cannot be pulled":                     {imaged("registry.example/model:latest"), "pod shop/web-0", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the image of a container cannot be":                         {imaged("registry.example/app:1"), "pod shop/web-0", "healthy"},
		"a path of the node that is checked, nobody says anything":   {nfs().Waits().Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, hostPath: {path: /run/agent.sock, type: Socket}}]"), "pod shop/web-0", "broken: unexplained pod-waiting-for-volume"},
		"a path of the node that is made, nobody says anything":      {nfs().Waits().Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, hostPath: {path: /run/agent, type: DirectoryOrCreate}}]"), "pod shop/web-0", "healthy"},
		"a share of SMB that is named as one of NFS is":              {sketch.NewWorld("org.democratic-csi.smb", "pvc-data", "accessModes: [ReadWriteMany]\ncsi: {driver: org.democratic-csi.smb, volumeHandle: pvc-data, volumeAttributes: {node_attach_driver: smb, server: 10.9.0.6, share: data}}").Waits().Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").FailedMount(`MountVolume.MountDevice failed for volume "pv-data" : rpc error: code = Internal desc = {"code":32,"stdout":"","stderr":"mount error(13): Permission denied\\nRefer to the mount.cifs(8) manual page (e.g. man mount.cifs)\\n"}`), "", "broken: likely smb-access-denied PersistentVolume pv-data"},
		"an inline share of Azure":                                   {inline, "pod shop/web-0", "broken: certain smb-access-denied Secret shop/azure-secret"},
		"AppArmor denies the mount, mount.nfs blames the server":     {armored, "", "broken: certain security-module-denies Pod kube-system/plugin-1"},
		"SELinux denies a directory with a short name":               {labelled, "", "broken: certain security-module-denies Pod shop/web-0"},
		"grown by the backend, the node was not looked at":           {grown().Unprobed("n1", "PodRejected"), "", "degraded: likely expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"a daemon that died, the application says so, nobody looked": {sketch.NewWorld("csi.juicefs.com", "jfs-1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: jfs-1}").Runs(0).Unprobed("n1", "PodRejected").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z open /data/x: transport endpoint is not connected\n"), "", "broken: possible fuse-daemon-dead Pod shop/web-0; unexplained volume-io-error"},
		"crun: a share cannot be mapped for a user namespace":        {cannotStart(single(), "container create failed: mount_setattr `/data` (maybe the file system used does not support idmap mounts on this kernel?): Invalid argument"), "pod shop/web-0", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"crun: a key that is a directory":                            {cannotStart(single(), "container create failed: mount `"+pods+"volume-subpaths/conf/app/1` to `etc/app/app.ini`: Not a directory"), "pod shop/web-0", "broken: certain subpath-type-mismatch Pod shop/web-0"},
		"an ephemeral volume is not mounted":                         {shared(), "pod shop/web-0", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"an ephemeral volume is mounted":                             {shared().Mounts("n1", "0:88 / "+strings.Replace(nfs().Publish(0), "pv-data", "certs", 1)+" ro,relatime shared:88 - tmpfs tmpfs rw,inode64"), "pod shop/web-0", "healthy"},
		"an ephemeral volume whose directory the plugin lacks":       {lacksDir("/var/snap/microk8s/common/var/lib/kubelet"), "pod shop/web-0", "broken: likely kubelet-root-dir-wrong DaemonSet kube-system/plugin"},
		"an ephemeral volume whose directory it does have":           {lacksDir("/var/lib/kubelet"), "pod shop/web-0", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"an ephemeral volume of a class that is not there":           {ephemeral(nfs().Waits(), "certs").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").FailedMount("MountVolume.SetUp failed for volume \"certs\" : rpc error: code = Unknown desc = failed to get secretproviderclass shop/app, error: SecretProviderClass.secrets-store.csi.x-k8s.io \"app\" not found"), "pod shop/web-0", "broken: likely volume-source-missing SecretProviderClass shop/app"},
		"an ephemeral volume, and another object is not there":       {ephemeral(nfs().Waits(), "certs").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").FailedMount("MountVolume.SetUp failed for volume \"certs\" : rpc error: code = Unknown desc = failed to get secretproviderclass shop/web, error: SecretProviderClass.secrets-store.csi.x-k8s.io \"web\" not found"), "pod shop/web-0", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"an ephemeral volume, and the vault refuses":                 {ephemeral(nfs().Waits(), "certs").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").FailedMount("MountVolume.SetUp failed for volume \"certs\" : rpc error: code = Unknown desc = failed to mount objects, error: Status=403 Code=\"Forbidden\" Message=\"The user, group or application 'appid=abc' does not have secrets get permission on key vault 'kv'.\""), "pod shop/web-0", "broken: certain csi-credentials-wrong ServiceAccount shop/default"},
		"a node without volumes that is not Ready":                   {notReady(nfs(), "n2", "2026-01-02T11:31:00Z"), "node n2", "unknown"},
		"a node without volumes that is Ready":                       {nfs(), "node n2", "healthy"},
		"the volume belongs to another claim":                        {taken(cinderW()).Waits(), "", "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"the volume was given to another claim":                      {taken(cinderW()).EditIn("name: data, uid: 'c0", "phase: Pending", "phase: Lost").Waits(), "", "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"the other claim may not be read":                            {taken(cinderW()).Drop("metadata: {namespace: shop, name: other").Edit("namespace: shop, name: other", "namespace: stage, name: other").Gap("api//persistentvolumeclaims/stage", "Forbidden"), "", "broken: likely claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"a nodeName that the template has not":                       {consumer(), "", "broken: unexplained claim-pending; unexplained pod-waiting-for-volume"},
		"the template has changed since":                             {consumer().Edit("labels: {app: web}, ownerReferences", "labels: {app: web, controller-revision-hash: web-1}, ownerReferences").Edit("status: {replicas: 1}", "status: {replicas: 1, updateRevision: web-2}"), "", "broken: likely wffc-bypassed-by-nodename Pod shop/web-0"},
		"no such cipher, the kernel says so":                         {encryptedRBD().FailedMount(stageFails(hint)).Kernel("n1", "61|device-mapper: table: 253:5: crypt: Error allocating crypto tfm (-ENOENT)"), "", "broken: certain encryption-tools-missing Node n1"},
		"no such cipher, cryptsetup says so":                         {encryptedRBD().FailedMount(stageFails(hint)), "", "broken: likely encryption-tools-missing Node n1"},
		"no such cipher, the node was not looked at":                 {encryptedRBD().FailedMount(stageFails(hint)).Unprobed("n1", "PodRejected"), "", "broken: likely encryption-tools-missing Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ask == "" {
				c.ask = "pvc shop/data"
			}
			show(t, c.w, c.ask, c.want)
		})
	}
}
