package causes

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
)

const (
	stageUnknown   = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	stagingLog     = "logs/kube-system/plugin-1/driver.log"
	fabricNQN      = "nqn.2003-01.org.linux-nvme:pvc-3b1c"
	fabricIdentity = "77777777-1111-4222-8333-444444444444"
	fabricOther    = "88888888-1111-4222-8333-444444444444"
)

// fabric is a volume over NVMe/TCP that the API calls attached, and whose disk is not there.
func fabric(attributes string) *world {
	return vol("csi.fabric-san.example", "vol-7", "").Edit("volumeHandle: 'vol-7'}", "volumeHandle: 'vol-7', volumeAttributes: {"+attributes+"}}").
		Waits().Attached("n1").FailedMount(stageFails("device /dev/disk/by-id/nvme-uuid." + fabricIdentity + " does not exist"))
}

// controller adds a controller of an NVMe subsystem to n1.
func controller(w *world, nqn, state string) *world {
	return w.Entries("n1", "sys/class/nvme/nvme1/subsysnqn", nqn, "sys/class/nvme/nvme1/state", state, "sys/class/nvme/nvme1/transport", "tcp", "sys/class/nvme/nvme1/address", "traddr=10.7.0.5,trsvcid=4420")
}

// namespaced gives the subsystem on n1 one disk, of an identity.
func namespaced(w *world, uuid string) *world {
	return controller(w, fabricNQN, "live").Disk("n1", "nvme1n1", "259:1", "nsid", "1", "uuid", uuid, "wwid", "uuid."+uuid).
		Entries("n1", "sys/class/nvme-subsystem/nvme-subsys1/subsysnqn", fabricNQN)
}

// neighbour is another volume that names the same subsystem.
func neighbour(w *world, more string) *world {
	return w.Add("\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-other, uid: 'a0000000-0000-4000-8000-00000000000a'}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: csi.fabric-san.example, volumeHandle: vol-8, volumeAttributes: {model: '" + fabricNQN + "'" + more + "}}}\nstatus: {phase: Available}\n")
}

// TestSiblingsOverFabrics: a disk comes with the connection, which the driver makes when it
// stages the volume.
func TestSiblingsOverFabrics(t *testing.T) {
	t.Parallel()
	const named, missing = "model: '" + fabricNQN + "'", " attached-in-api-missing-on-node VolumeAttachment csi-c9ddc91883e5487f3272b9c860c9fcc4d132f355cc32a0085169858774f4cb5a"
	showEach(t, map[string]shown{
		"never connected":                      {fabric(named), stageUnknown},
		"the subsystem in an address":          {fabric("uri: 'nvmf://10.7.0.5:8420/" + fabricNQN + "?hostnqn=nqn.2019-05.io.openebs:node-name:n1'"), stageUnknown},
		"it is connecting":                     {controller(fabric(named), fabricNQN, "connecting"), stageUnknown},
		"only the transport is said":           {fabric("transport: nvme-tcp"), stageUnknown},
		"connected, and the disk is missing":   {controller(fabric(named), fabricNQN, "live"), "broken: certain" + missing},
		"a disk of the volume's own subsystem": {namespaced(fabric(named), fabricOther), "broken: certain device-link-missing Device n1/259:1"},
		"and it states its identity":           {namespaced(fabric(named+", nvmeNamespaceUUID: '"+fabricIdentity+"'"), fabricIdentity), "broken: certain device-link-missing Device n1/259:1"},
		"and it states another one":            {namespaced(fabric(named+", nvmeNamespaceUUID: '"+fabricIdentity+"'"), fabricOther), "broken: possible" + missing + "; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"of which another volume has a disk":   {neighbour(namespaced(fabric(named), fabricOther), ", nvmeNamespaceUUID: '"+fabricOther+"'"), "broken: certain" + missing},
		"a subsystem of two volumes":           {neighbour(namespaced(fabric(named), fabricOther), ""), "broken: possible" + missing + "; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"which subsystem, nobody says":         {controller(fabric("transport: nvme-tcp"), "nqn.2003-01.org.other:a", "live"), "broken: likely" + missing},
	})
}

// TestSiblingsOfImages: a value that was parsed out of a handle is never printed in part.
func TestSiblingsOfImages(t *testing.T) {
	t.Parallel()
	image := func(handle, attributes string) *world {
		return sketchWorld("rook-ceph.rbd.csi.ceph.com", handle, "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: rook-ceph.rbd.csi.ceph.com, fsType: ext4, volumeHandle: '"+handle+"', volumeAttributes: {"+attributes+"}}").
			Waits().Attached("n1").FailedMount(stageFails("disk not found: something went wrong"))
	}
	const id = "8d4b3f4c-1111-4222-8333-123456789012"
	sayEach(t, map[string]said{
		"whole":                {image("0001-0009-rook-ceph-0000000000000002-"+id, "clusterID: rook-ceph, pool: kube"), []string{"rbd status kube/csi-vol-" + id}, nil},
		"no pool":              {image("0001-0009-rook-ceph-0000000000000002-"+id, "clusterID: rook-ceph"), []string{"/sys/bus/rbd/devices"}, []string{"rbd status", "lsblk"}},
		"a handle without id":  {image("some-handle-that-is-long-enough-to-end-in-36-characters", "clusterID: rook-ceph, pool: kube"), []string{"/sys/bus/rbd/devices"}, []string{"rbd status", "lsblk", "names its disks"}},
		"static without image": {image("mine", "clusterID: rook-ceph, staticVolume: 'true'"), nil, []string{"rbd status"}},
	})
}

// TestSiblingsOfMakers: a program that the driver's image lacks, and a filesystem that the kernel
// refuses.
func TestSiblingsOfMakers(t *testing.T) {
	t.Parallel()
	lacks := func(fs, said string) *world {
		return attachedEBS().Edit("fsType: ext4", "fsType: "+fs).Without("n1", "@content/259:1").Entries("n1", "@content/259:1", "TYPE=none").
			FailedMount(stageFails("format of disk \"/dev/nvme1n1\" failed: type:(\"" + fs + "\") target:(\"/globalmount\") options:(\"defaults\") errcode:(" + said + "executable file not found in $PATH) output:() "))
	}
	showEach(t, map[string]shown{
		"the kernel knows it, the image lacks mkfs":   {lacks("xfs", "exec: \"mkfs.xfs\": "), "broken: unexplained format-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"nobody knows it, in the words of utils/exec": {lacks("f2fs", ""), "broken: likely storageclass-parameter-wrong StorageClass fast"},
		"nobody knows it": {lacks("f2fs", "exec: \"mkfs.f2fs\": "), "broken: likely storageclass-parameter-wrong StorageClass fast"},
	})
	w := attachedEBS().FailedMount(stageFails("mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/nvme1n1 /globalmount\nOutput: mount: /globalmount: wrong fs type, bad option, bad superblock on /dev/nvme1n1, missing codepage or helper program, or other error.")).
		Kernel("n1", "61|EXT4-fs (nvme1n1): bad geometry: block count 5242880 exceeds size of device (2621440 blocks)")
	sayEach(t, map[string]said{"larger than its device": {w, []string{"bad geometry"}, []string{"a damaged filesystem"}}})
}

// TestSiblingsOfLogs: the driver says why without naming the volume.
func TestSiblingsOfLogs(t *testing.T) {
	t.Parallel()
	logs := func(lines string) *world {
		return sketchWorld("objects.example.com", "v-77712345", "accessModes: [ReadWriteMany]\ncsi: {driver: objects.example.com, volumeHandle: v-77712345}").Waits().
			FailedMount(mountFails("pv-data", "mounter did not come up")).File(stagingLog, lines)
	}
	const answer = "E0102 11:58:59.500000       1 server.go:120] GRPC error: rpc error: code = Internal desc = mounter did not come up\n"
	sayEach(t, map[string]said{
		"just before the answer":      {logs("E0102 11:58:58.000000       1 s3.go:31] SignatureDoesNotMatch\n" + answer), []string{"SignatureDoesNotMatch"}, nil},
		"before a line of the volume": {logs("time=\"2026-01-02T11:50:58Z\" level=warning msg=\"certificate has expired\"\ntime=\"2026-01-02T11:50:59Z\" level=error msg=\"v-77712345: mounter did not come up\"\n"), []string{"certificate has expired"}, nil},
		"long before":                 {logs("E0102 11:38:58.000000       1 s3.go:31] SignatureDoesNotMatch\n" + answer), nil, []string{"SignatureDoesNotMatch"}},
		"about another volume":        {logs("E0102 11:58:58.000000       1 s3.go:31] v-99912345: SignatureDoesNotMatch\n" + answer).Add(pvOf("objects.example.com", "v-99912345")), nil, []string{"SignatureDoesNotMatch"}},
		"as usual":                    {logs("I0102 11:58:58.000000       1 s3.go:31] SignatureDoesNotMatch\n" + answer), nil, []string{"SignatureDoesNotMatch"}},
	})
}

const subdirProvisioner = "k8s-sigs.io/nfs-subdir-external-provisioner"

// ownShare is a claim whose provisioner waits for the share that it serves.
func ownShare() *world {
	w := sketchWorld("", "", "accessModes: [ReadWriteOnce]\nnfs: {server: 10.9.0.5, path: /export/data}")
	w = pendingClaim(w, "Immediate", anno(subdirProvisioner)).Edit("provisioner: \"\"", "provisioner: "+subdirProvisioner)
	w.Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: nfs, name: nfs-client-provisioner, uid: 'de000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z'}
spec: {replicas: 1, selector: {matchLabels: {app: nfsp}}, template: {metadata: {labels: {app: nfsp}}, spec: {containers: [{name: nfs-client-provisioner, image: 'registry.k8s.io/sig-storage/nfs-subdir-external-provisioner:v4.0.2'}]}}}
status: {replicas: 1, unavailableReplicas: 1}
`, `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: nfs, name: nfs-client-provisioner-5d, uid: 'de000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-01T08:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: nfs-client-provisioner, uid: 'de000000-0000-4000-8000-000000000001', controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: nfsp}}, template: {metadata: {labels: {app: nfsp}}, spec: {containers: [{name: nfs-client-provisioner, image: i}]}}}
status: {replicas: 1}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: nfs, name: nfs-client-provisioner-5d-x1, uid: 'de000000-0000-4000-8000-000000000003', creationTimestamp: '2026-01-02T11:30:00Z', labels: {app: nfsp}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: nfs-client-provisioner-5d, uid: 'de000000-0000-4000-8000-000000000002', controller: true}]}
spec: {nodeName: n1, serviceAccountName: nfs-client-provisioner, volumes: [{name: nfs-client-root, nfs: {server: 10.9.0.5, path: /export/data}}], containers: [{name: nfs-client-provisioner, image: 'registry.k8s.io/sig-storage/nfs-subdir-external-provisioner:v4.0.2', env: [{name: PROVISIONER_NAME, value: k8s-sigs.io/nfs-subdir-external-provisioner}], volumeMounts: [{name: nfs-client-root, mountPath: /persistentvolumes}]}]}
status: {phase: Pending, startTime: '2026-01-02T11:30:00Z', conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, {type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:30:00Z'}], containerStatuses: [{name: nfs-client-provisioner, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}]}
`, `
apiVersion: v1
kind: Event
metadata: {namespace: nfs, name: ev1, creationTimestamp: '2026-01-02T11:59:00Z'}
involvedObject: {kind: Pod, namespace: nfs, name: nfs-client-provisioner-5d-x1, uid: 'de000000-0000-4000-8000-000000000003'}
type: Warning
reason: FailedMount
message: "MountVolume.SetUp failed for volume \"nfs-client-root\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.0.5:/export/data /var/lib/kubelet/pods/de000000-0000-4000-8000-000000000003/volumes/kubernetes.io~nfs/nfs-client-root\nOutput: mount.nfs: access denied by server while mounting 10.9.0.5:/export/data\n"
count: 7
firstTimestamp: '2026-01-02T11:31:00Z'
lastTimestamp: '2026-01-02T11:59:00Z'
source: {component: kubelet, host: n1}
`)
	w.Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms")
	return pvcEvent(w, "Normal", "ExternalProvisioning", "persistentvolume-controller", "Waiting for a volume to be created either by the external provisioner '"+subdirProvisioner+"' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.")
}

// undetached is an attachment whose deletion the backend refuses.
func undetached(text string) *world {
	w := va(cinderW().Waits().Edit("nodeName: n1, restartPolicy", "nodeName: n2, restartPolicy"), "csi-old", "n1", ", deletionTimestamp: '2026-01-02T11:32:00Z'", "attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: '"+text+"'}")
	return w.Event("Pod", "web-0", "1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another")
}

// TestSiblingsThatStop: the report leads to the volume that keeps a provisioner, and its chain stops
// at one place.
func TestSiblingsThatStop(t *testing.T) {
	t.Parallel()
	io := attachedEBS().FailedMount(stageFails("could not mount: input/output error")).Kernel("n1", "300|I/O error, dev nvme1n1, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0")
	sayEach(t, map[string]said{
		"a provisioner that waits for its own share": {ownShare(), []string{"it waits for a volume of its own", "kubectl mountdoctor pod nfs-client-provisioner-5d-x1 -n nfs", "access denied by server"}, nil},
		"a mount fails, and the disk has errors":     {io, []string{"pod web-0 → PVC → PV → attached to n1 → nvme1n1 ✗ mount on n1"}, nil},
		"the node does not report": {notReady(nfs().Waits().Unprobed("n1", "NodeNotReady"), "n1", "2026-01-02T11:31:00Z").Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", "2026-01-02T11:31:00Z", nfsFailed("mount.nfs: Connection timed out")),
			[]string{"Node n1 has not reported for 29m", "kubectl describe node n1"}, []string{"kubectl debug", "logs plugin-1"}},
		"a detach fails, and another node waits": {undetached("rpc error: code = Internal desc = unexpected reply of the array"), []string{"pod web-0 → PVC → PV ✗ detach"}, nil},
	})
	full := pvcEvent(unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", ""), "0/3 nodes are available: 3 node(s) did not have enough free storage. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."), "Normal", "WaitForPodScheduled", "persistentvolume-controller", "waiting for pod web-0 to be scheduled")
	showEach(t, map[string]shown{"no node has room": {full, "broken: likely provisioning-failed PersistentVolumeClaim shop/data"}})
	const stale = "broken: certain volumeattachment-stale VolumeAttachment csi-old"
	showEach(t, map[string]shown{
		"the backend has no attachment":  {undetached("rpc error: code = Internal desc = ControllerUnpublishVolume Detach Volume failed with error disk 0e6d has no attachments in compute or attachment not found"), stale},
		"the backend says not attached":  {undetached("rpc error: code = FailedPrecondition desc = volume is not attached to node n1"), stale},
		"the backend has another reason": {undetached("rpc error: code = Internal desc = unexpected reply of the array"), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume"},
		"nobody looked at the old node":  {undetached("rpc error: code = Internal desc = volume not attached").Unprobed("n1", "PodRejected"), "broken: likely volumeattachment-stale VolumeAttachment csi-old"},
	})
}

// TestVolumeOfThePodItself: a ConfigMap that the kubelet cannot mount, beside a claim that is there.
func TestVolumeOfThePodItself(t *testing.T) {
	t.Parallel()
	w := ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0), ebs().Stage()).
		Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, configMap: {name: settings}}]").
		Add("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: shop, name: settings, uid: 'cf000000-0000-4000-8000-000000000001'}").
		FailedMount("MountVolume.SetUp failed for volume \"conf\" : failed to sync configmap cache: timed out waiting for the condition")
	sayOf(t, "pod shop/web-0", said{w, []string{"The kubelet on node n1 cannot set up volume conf of pod shop/web-0 (ConfigMap settings).", "journalctl -u kubelet"}, []string{"volume pv-data"}})
}

// TestSiblingsOfDRBD: an open that DRBD refuses, with no word of its peers.
func TestSiblingsOfDRBD(t *testing.T) {
	t.Parallel()
	fails := func(w *world, words string) *world {
		return w.Waits().Attached("n1").FailedMount(stageFails("NodePublishVolume failed for pvc-77aa: " + words))
	}
	const medium = "mount failed: exit status 32 Output: mount: /x: mount(2) system call failed: Wrong medium type."
	showEach(t, map[string]shown{
		"its own word, and no peer's": {drbdDevice(fails(linstor(), "mount failed: exit status 32"), "n1").Kernel("n1", "60|drbd pvc-77aa: Auto-promote failed: Multiple primaries not allowed by config (-1)"), "broken: likely drbd-state-blocks Device n1/147:1000"},
		"the driver's words":          {drbdDevice(fails(linstor(), medium), "n1"), "broken: likely drbd-state-blocks Device n1/147:1000"},
		"nobody looked":               {fails(linstor(), medium).Unprobed("n1", "PodRejected"), "broken: likely drbd-state-blocks PersistentVolume pv-data"},
		"other words":                 {drbdDevice(fails(linstor(), "mount failed: exit status 32"), "n1"), stageUnknown},
		"there is no device":          {fails(linstor(), medium).Entries("n1", "proc/modules", "drbd 28672 0 - Live 0x0"), stageUnknown},
	})
	const res, reader, other = "drbd pvc-77aa", "Peer may not become primary while device is opened read-only", "Multiple primaries not allowed by config"
	peer := func(ago string, lines ...string) *world { // n1 is declined by n2, whose kernel says these lines
		w := drbdDevice(drbdDevice(fails(linstor(), "couldn't create ext4 filesystem on /dev/drbd1000: Read-only file system while setting up superblock"), "n1"), "n2")
		for i := range lines {
			lines[i] = ago + "|" + res + lines[i]
		}
		return w.Kernel("n1", ago+"|"+res+": Declined by peer n2 (id: 1), see the kernel log there", ago+"|"+res+": Auto-promote failed: State change was refused by peer node (-10)").Kernel("n2", lines...)
	}
	opens := func(w *world, comm, unit, dev string) *world {
		return w.Entries("n2", "proc/751/comm", comm, "proc/751/cgroup", "0::/system.slice/"+unit, "proc/751/cmdline", comm+"␀", "proc/751/ns/mnt", "@link mnt:[4026531841]",
			"proc/751/stat", "751 ("+comm+") S 1 751 751 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", "proc/751/status", "Name:\t"+comm+"\nState:\tS (sleeping)\nTgid:\t751\nPid:\t751\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t751",
			"proc/751/fd/9", "@link /dev/drbd"+dev[4:], "proc/751/fdinfo/9", "pos:\t0\nflags:\t0104000\nmnt_id:\t24", "@dev/proc/751/fd/9", dev)
	}
	const holder, likely, declined = "broken: certain device-held-by-process Process n2/751", "broken: likely device-held-by-process Process n2/751", "broken: certain drbd-state-blocks Device n2/147:1000"
	refuses, holds := ": State change failed: "+reader, "/0 drbd1000: Held open by "
	showEach(t, map[string]shown{
		"multipathd has it open at the peer":        {opens(peer("60", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1000"), holder},
		"the peer is called with its domain":        {opens(peer("60", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1000").Moved("by peer n2 ", "by peer n2.storage.example "), holder},
		"the peer's kernel has another name":        {opens(peer("60", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1000").Without("n2", "@hostname").Entries("n2", "@hostname", "stor-b.example").Moved("by peer n2 ", "by peer stor-b "), holder},
		"a thread of an agent":                      {opens(peer("60", holds+"backupd(799)", refuses), "backupd", "backupd.service", "147:1000"), holder},
		"no name is said":                           {opens(peer("60", refuses), "multipathd", "multipathd.service", "147:1000"), likely},
		"the peer's log was not read":               {opens(peer("60"), "multipathd", "multipathd.service", "147:1000").Entries("n2", "@kmsg", "@error EPERM"), likely},
		"another one is named":                      {opens(peer("60", refuses, holds+"blkid(4711)"), "multipathd", "multipathd.service", "147:1000"), declined},
		"it has another device open":                {opens(peer("60", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1001"), declined},
		"the peer declines for another reason":      {opens(peer("60", ": State change failed: "+other), "multipathd", "multipathd.service", "147:1000"), declined},
		"nobody looked at the peer":                 {peer("60").Unprobed("n2", "PodRejected"), "broken: likely drbd-state-blocks Device n2/147:1000"},
		"it was refused an hour ago":                {opens(peer("3600", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1000"), stageUnknown},
		"the node became Primary after the refusal": {opens(peer("60", refuses, holds+"multipathd(751)"), "multipathd", "multipathd.service", "147:1000").Kernel("n1", "50|"+res+": role( Secondary -> Primary )"), stageUnknown},
	})
}

// TestSiblingsOfWindows: what a node with Windows says of a share.
func TestSiblingsOfWindows(t *testing.T) {
	t.Parallel()
	windows := func(words, number string) *world {
		return smb().Waits().Unprobed("n1", "Unsupported").Edit("kubernetes.io/hostname: n1, kubernetes.io/os: linux", "kubernetes.io/hostname: n1, kubernetes.io/os: windows").
			FailedMount(stageFails("volume(nas-data) mount \"//10.9.0.6/data\" on \"x\" failed with NewSmbGlobalMapping failed. output: \"New-SmbGlobalMapping : " + words + " \\r\\n + FullyQualifiedErrorId : Windows System Error " + number + ",New-SmbGlobalMapping\", err: exit status 1"))
	}
	showEach(t, map[string]shown{
		"the password is wrong":   {windows("The user name or password is incorrect.", "1326"), "broken: likely smb-access-denied Secret shop/smb-user"},
		"the path was not found":  {windows("The network path was not found.", "53"), "broken: likely smb-server-unreachable Node n1"},
		"there is no such share":  {windows("The network name cannot be found.", "67"), "broken: possible smb-mount-refused PersistentVolume pv-data; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"another user is there":   {windows("Multiple connections to a server or shared resource by the same user, using more than one user name, are not allowed.", "1219"), "broken: likely smb-mount-refused PersistentVolume pv-data"},
		"a number without a name": {windows("A device attached to the system is not functioning.", "31"), stageUnknown},
	})
}

// said is a world, and what the short report of its claim says and does not say.
type said struct {
	world     *world
	has, lack []string
}

func sayEach(t *testing.T, rows map[string]said) {
	t.Helper()
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sayOf(t, "pvc shop/data", c)
		})
	}
}

func sayOf(t *testing.T, question string, c said) {
	t.Helper()
	_, r := c.world.Verdict(t, Catalog(), question)
	var b bytes.Buffer
	if err := render.Text(&b, r, render.Options{Width: 400}); err != nil {
		t.Fatal(err)
	}
	for _, words := range c.has {
		if !strings.Contains(b.String(), words) {
			t.Errorf("%q is not said:\n%s", words, b.String())
		}
	}
	for _, words := range c.lack {
		if strings.Contains(b.String(), words) {
			t.Errorf("%q is said:\n%s", words, b.String())
		}
	}
}
