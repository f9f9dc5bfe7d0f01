package causes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func azure() *world {
	return vol("disk.csi.azure.com", "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/pvc-1", "")
}
func mulattach(w *world, pod string) *world {
	return w.Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already used by pod(s) "+pod)
}
func attachFailed(w *world, text string) *world {
	return w.Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", text)
}

// going has the claim gone and the volume be deleted since two hours.
func going(w *world) *world {
	const pv = "kind: PersistentVolume\nmeta"
	return w.Drop("kind: PersistentVolumeClaim\n").EditIn(pv, "metadata: {name: pv-data,", "metadata: {name: pv-data, deletionTimestamp: '2026-01-02T10:00:00Z',").
		EditIn(pv, "finalizers: [kubernetes.io/pv-protection]", "finalizers: [external-attacher/ebs-csi-aws-com]").EditIn(pv, "status: {phase: Bound}", "status: {phase: Released}")
}

// va adds an attachment in a state.
func va(w *world, name, node, meta, status string) *world {
	return w.Add(fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: %s, uid: 'b1000000-0000-4000-8000-00000000000%s', creationTimestamp: '2026-01-02T11:30:05Z', finalizers: [external-attacher/%s]%s}
spec: {attacher: %s, nodeName: %s, source: {persistentVolumeName: pv-data}}
status: {%s}
`, name, node[1:], strings.ReplaceAll(w.Driver, ".", "-"), meta, w.Driver, node, status))
}

// notReady makes a node silent since a time.
func notReady(w *world, node, since string) *world {
	before := "conditions: [{type: Ready, status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z', lastHeartbeatTime: '2026-01-02T11:59:40Z'}]\n  nodeInfo: {kernelVersion: 6.1.0-18-amd64, osImage: Debian GNU/Linux 12 (bookworm), kubeletVersion: v1.31.2, containerRuntimeVersion: 'containerd://1.7.22', architecture: amd64, operatingSystem: linux, bootID: 'b0000000-0000-4000-8000-00000000000" + node[1:]
	after := strings.Replace(before, "status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z', lastHeartbeatTime: '2026-01-02T11:59:40Z'", "status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: '"+since+"', lastHeartbeatTime: '"+since+"'", 1)
	return w.Edit(before, after)
}

// second is a pod of shop that uses the claim, with an owner.
func second(w *world, name, node, owner, phase, meta string) *world {
	status := "{name: app, ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://" + strings.Repeat("cd", 32) + "', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}"
	ready := "True"
	created := "2025-12-31T12:00:00Z"
	if phase == "Pending" {
		status, ready, created = "{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}", "False", "2026-01-02T11:30:00Z"
	}
	if phase == "Succeeded" {
		status, ready = "{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {terminated: {exitCode: 0, reason: Completed, startedAt: '2025-12-31T12:00:10Z', finishedAt: '2025-12-31T13:00:10Z'}}}", "False"
	}
	if owner != "" {
		owner = ", ownerReferences: [" + owner + "]"
	}
	return w.Add(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: %[1]s, uid: 'dd0c5a7e-0f3d-4a6b-9a55-%[6]x', creationTimestamp: '%[7]s', labels: {app: other}%[3]s%[5]s}
spec: {nodeName: %[2]s, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: 'registry.example/web:1', volumeMounts: [{name: data, mountPath: /data}]}]}
status: {phase: %[4]s, startTime: '%[7]s', conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '%[7]s'}, {type: Ready, status: '%[9]s', lastTransitionTime: '%[7]s'}], containerStatuses: [%[8]s]}
`, name, node, owner, phase, meta, (name + "000000")[:6], created, status, ready))
}

func rs(n string) string {
	return "{apiVersion: apps/v1, kind: ReplicaSet, name: " + n + ", uid: 'e1000000-0000-4000-8000-0000000000" + fmt.Sprintf("%02x", len(n)) + "', controller: true}"
}

func deployment(w *world, strategy string) *world {
	w.Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: api, uid: 'e2000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z'}
spec: {replicas: 1, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: app, image: i}]}}, strategy: ` + strategy + `}
status: {replicas: 2}
`)
	for _, n := range []string{"api-1", "api-22"} {
		w.Add(fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: shop, name: %s, uid: 'e1000000-0000-4000-8000-0000000000%02x', ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: api, uid: 'e2000000-0000-4000-8000-000000000001', controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: app, image: i}]}}}
`, n, len(n)))
	}
	return w
}

// rolled is a Deployment whose old pod on n2 keeps the disk from the new one on n1.
func rolled(w *world, strategy, holder string) *world {
	deployment(w, strategy).Attached("n2")
	second(w, "api-1-old", "n2", rs("api-1"), "Running", holder)
	second(w, "api-22-new", "n1", rs("api-22"), "Pending", "")
	return w
}

// neighbours is a Deployment of a local disk, whose old and new pod are on one node.
func neighbours(strategy, said string) *world {
	w := deployment(lvmLocal(), strategy).Disk("n1", "dm-0", "253:0", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:0").LiveExt4("n1", "dm-0")
	second(w, "api-1-old", "n1", rs("api-1"), "Running", "")
	second(w, "api-22-new", "n1", rs("api-22"), "Pending", "")
	return w.Mounts("n1", "253:0 / /var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-6170692d312d/volumes/kubernetes.io~csi/pvc-11aa/mount rw,relatime shared:71 - ext4 /dev/mapper/datavg-pvc--11aa rw").
		Event("Pod", "api-22-new", "dd0c5a7e-0f3d-4a6b-9a55-6170692d3232", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", mountFails("pvc-11aa", said))
}

// onePath is a disk with a multipath map over it, and nothing else.
func onePath(w *world) *world {
	return w.Waits().Attached("n1").Disk("n1", "sdb", "8:16", "holders/dm-0", "@link ../../dm-0").Disk("n1", "dm-0", "253:0", "dm/uuid", "mpath-3600a09803831", "dm/name", "mpatha", "slaves/sdb", "@link ../../sdb")
}

const deleted = ", deletionTimestamp: '2026-01-02T11:31:00Z', deletionGracePeriodSeconds: 30"

func TestSiblingsOfAttachments(t *testing.T) {
	t.Parallel()
	rolling := "{type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}"
	cinder := func() *world { return vol("cinder.csi.openstack.org", "0e6dd0a8-1111-4222-8333-123456789012", "") }
	vs := func() *world { return vol("csi.vsphere.vmware.com", "6a6b1b1a-1111-4222-8333-123456789012", "") }
	pd := func() *world { return vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", "") }
	pend := "attached: false"
	timedout := func(w *world) *world {
		return attachFailed(w, "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of "+w.Driver+" CSI driver to attach volume "+w.Handle)
	}
	noDriver := func(w *world, n string) *world {
		return w.Edit("'70000000-0000-4000-8000-00000000000"+n+"'}\nspec: {drivers: [{name: "+w.Driver+", nodeID: n"+n+", topologyKeys: null}]}", "'70000000-0000-4000-8000-00000000000"+n+"'}\nspec: {drivers: []}").Without("n"+n, "var/lib/kubelet/plugins_registry/").Without("n"+n, "var/lib/kubelet/plugins/").Without("n"+n, "proc/4100/").Drop("name: plugin-" + n + ", uid")
	}
	sets := func() *world {
		const set = "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}"
		w := second(second(nfs(), "web-1", "n2", set, "Running", deleted), "web-2", "n1", set, "Running", "")
		return notReady(w, "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").Unprobed("n1", "PodRejected")
	}
	shared := func(other, old string) *world {
		w := second(second(nfs(), "api-1-old", "n2", rs("api-1"), "Running", old), "api-1-new", "n1", rs(other), "Running", "")
		return notReady(w, "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").Unprobed("n1", "PodRejected")
	}
	rows := []row{
		{"rolling azure", "broken: certain rwo-rolling-update Deployment shop/api", rolled(azure(), rolling, "")},
		{"rolling replicas 2 one rs", "broken: certain rwo-rolling-update Deployment shop/api", second(second(deployment(cinder(), rolling).Attached("n2"), "api-1-a", "n2", rs("api-1"), "Running", ""), "api-1-b", "n1", rs("api-1"), "Pending", "")},
		{"rolling on one node, the driver names the old pod's mount", "broken: certain rwo-rolling-update Deployment shop/api", neighbours(rolling, "verifyMount: device already mounted at [/var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-6170692d312d/volumes/kubernetes.io~csi/pvc-11aa/mount]")},
		{"one node, another reason", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", neighbours(rolling, "mount failed: exit status 32")},
		{"one node, the controller removes the old pod", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", neighbours("{type: Recreate}", "verifyMount: device already mounted at [/var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-6170692d312d/volumes/kubernetes.io~csi/pvc-11aa/mount]")},
		{"the driver misses multipathd before it looks for a disk", "broken: likely multipath-off-for-san Node n1", vol("csi.trident.netapp.io", "pvc-1", "").Waits().Attached("n1").Unprobed("n1", "PodRejected").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to stage volume: multipathd is not running")},
		{"and its socket refuses", "broken: certain multipath-off-for-san Node n1", vol("csi.trident.netapp.io", "pvc-1", "").Waits().Attached("n1").Entries("n1", "@multipathd/show maps json", "ECONNREFUSED").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to stage volume: multipathd is not running")},
		{"a driver of a SAN works with the map, and fails at what it holds", "broken: certain filesystem-type-mismatch PersistentVolume pv-data", onePath(vol("csi.trident.netapp.io", "pvc-1", "")).Entries("n1", "@content/253:0", "TYPE=crypto_LUKS\nUUID=9").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to stage volume: LUN trident_pvc_1 at /dev/sdb, device dm-0 already formatted with other filesystem: crypto_LUKS")},
		{"a map over the disk, and a failure that does not say that it is taken", "broken: likely multipath-claims-device Device n1/8:16", onePath(vol("csi.trident.netapp.io", "pvc-1", "")).FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = fsck of /dev/sdb failed")},
		{"a login by its exit status", "broken: likely iscsi-login-rejected PersistentVolume pv-data", sketch.NewWorld("csi.synology.com", "8.1", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.synology.com, volumeHandle: '8.1', volumeAttributes: {iqn: 'iqn.2000-01.com.synology:pvc-1'}}").Waits().Attached("n1").Entries("n1", "usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:n1", "proc/modules", "iscsi_tcp 28672 0 - Live 0x0").Process("n1", 1200, "", "iscsid", 4026531841, "").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : kubernetes.io/csi: mounter.SetupAt failed: rpc error: code = Internal desc = Failed to run ISCSI login: exit status 19")},
		{"rolling holder node down", "broken: certain node-down Node n2", notReady(rolled(azure(), rolling, deleted), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady")},
		{"migrated by the release, no driver", "broken: certain driver-not-installed CSIDriver ebs.csi.aws.com", attachFailed(sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\nawsElasticBlockStore: {volumeID: 'aws://eu-west-1a/vol-0a1b2c3d4e5f60718', fsType: ext4}").Waits().Add("\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\nspec: {drivers: []}\n"), "AttachVolume.Attach failed for volume \"pv-data\" : CSINode n1 does not contain driver ebs.csi.aws.com")},
		{"shared cronjob", "broken: certain rwo-shared-by-workloads PersistentVolumeClaim shop/data", second(mulattach(cinder().Waits(), "backup-1").Attached("n2"), "backup-1", "n2", "{apiVersion: batch/v1, kind: Job, name: backup, uid: 'e4000000-0000-4000-8000-000000000001', controller: true}", "Running", "")},
		{"shared holder finished", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked", second(mulattach(cinder().Waits(), "backup-1").Attached("n2"), "backup-1", "n2", "{apiVersion: batch/v1, kind: Job, name: backup, uid: 'e4000000-0000-4000-8000-000000000001', controller: true}", "Succeeded", "")},
		{"shared bare pod", "broken: certain rwo-shared-by-workloads PersistentVolumeClaim shop/data", second(pd().Waits().Attached("n2"), "debug", "n2", "", "Running", "")},
		{"node down cinder, unprobed", "broken: certain node-down Node n2", notReady(second(cinder().Waits().Attached("n2"), "web-x", "n2", "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}", "Running", deleted), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady")},
		{"node down pod object gone", "broken: certain node-down Node n2", notReady(cinder().Waits().Attached("n2"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady")},
		{"node down, a share, its pod was replaced", "degraded: likely node-down Node n2", shared("api-1", deleted)},
		{"node down, a share, and the one elsewhere is another of a StatefulSet", "broken: likely node-down Node n2", sets()},
		{"node down, a share, the pod elsewhere is another's", "broken: likely node-down Node n2", shared("api-22", deleted)},
		{"a silent kubelet, a share, and the only pod of a StatefulSet shall go", "broken: certain node-kubelet-down-workload-alive Node n1", notReady(nfsMounted(nfs().Runs(0), "n1", 0), "n1", "2026-01-02T11:20:00Z").EditIn("kind: Pod\nmetadata: {namespace: shop, name: web-0", ", labels: {app: web}", deleted+", labels: {app: web}")},
		{"node down 20s ago", "waiting: possible node-down Node n2 waiting", notReady(cinder().Waits().Attached("n2"), "n2", "2026-01-02T11:59:40Z").Unprobed("n2", "NodeNotReady")},
		{"node kubelet down, workload alive", "broken: certain node-kubelet-down-workload-alive Node n2", func() *world {
			w := ebs().Waits().Attached("n2")
			second(w, "web-x", "n2", "", "Running", deleted)
			return notReady(w, "n2", "2026-01-02T11:20:00Z").Without("n2", "proc/911/").Mounts("n2", "259:1 / /var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-7765622d7830/volumes/kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - ext4 /dev/nvme1n1 rw").Disk("n2", "nvme1n1", "259:1", "device/serial", "vol0a1b2c3d4e5f60718")
		}()},
		{"node removed, va terminating", "broken: certain node-removed Node n2", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = failed to find VirtualMachine for node with Name: n2'}").Drop("kind: Node\nmetadata: {name: n2").Drop("kind: CSINode\nmetadata: {name: n2").Unprobed("n2", "NotFound")},
		{"node removed, va terminating since a moment", "waiting: certain node-removed Node n2 waiting", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:59:10Z'", "attached: true").Drop("kind: Node\nmetadata: {name: n2").Unprobed("n2", "NotFound")},
		{"node removed, va terminating since a moment, and refused", "broken: certain node-removed Node n2", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:59:10Z'", "attached: true, detachError: {time: '2026-01-02T11:59:30Z', message: 'rpc error: code = Internal desc = failed to find VirtualMachine for node with Name: n2'}").Drop("kind: Node\nmetadata: {name: n2").Unprobed("n2", "NotFound")},
		{"node removed, va not deleted", "broken: certain node-removed Node n2", va(vs().Waits(), "csi-old", "n2", "", "attached: true").Drop("kind: Node\nmetadata: {name: n2").Unprobed("n2", "NotFound")},
		{"node removed, and the pod runs elsewhere", "degraded: certain node-removed Node n2", va(vs().Runs(0).Attached("n1"), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = failed to find VirtualMachine for node with Name: n2'}").Drop("kind: Node\nmetadata: {name: n2").Drop("kind: CSINode\nmetadata: {name: n2").Unprobed("n2", "NotFound").Unprobed("n1", "PodRejected")},
		{"its controller made the next a moment ago", "waiting", mulattach(va(vs().Waits(), "csi-old", "n2", "", "attached: true"), "web-0").EditIn("name: web-0,", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:58:30Z', labels")},
		{"a pod has waited long, and its holder has just let go", "waiting", mulattach(va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:59:20Z'", "attached: true"), "web-x")},
		{"and that was long ago", "broken: likely volumeattachment-stale VolumeAttachment csi-old", mulattach(va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:50:20Z'", "attached: true"), "web-x")},
		{"and the backend refuses to detach", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume", mulattach(va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:59:20Z'", "attached: true, detachError: {time: '2026-01-02T11:59:40Z', message: 'rpc error: code = Internal desc = array controller B does not answer'}"), "web-x")},
		{"and another node has it as well", "broken: certain volumeattachment-stale VolumeAttachment csi-older", va(mulattach(va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:59:20Z'", "attached: true"), "web-x"), "csi-older", "n3", "", "attached: true")},
		{"node removed, nodes forbidden", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true").Drop("kind: Node\n").Gap("api//nodes", "Forbidden")},
		{"node removed, nodes forbidden, and nothing else of it is left", "broken: likely node-removed Node n2", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true").Drop("kind: Node\n").Gap("api//nodes", "Forbidden").Drop("kind: CSINode\nmetadata: {name: n2").Drop("name: plugin-2, uid").Unprobed("n2", "NotRequested")},
		{"node removed, a page of the nodes, and nothing else of it is left", "broken: likely node-removed Node n2", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true").Drop("kind: Node\nmetadata: {name: n2").Gap("api//nodes", "Truncated").Drop("kind: CSINode\nmetadata: {name: n2").Drop("name: plugin-2, uid").Unprobed("n2", "NotRequested")},
		{"node removed, nodes and CSINodes forbidden", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume", va(vs().Waits(), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true").Drop("kind: Node\n").Gap("api//nodes", "Forbidden").Drop("kind: CSINode").Drop("name: plugin-2, uid").Unprobed("n2", "NotRequested").Gap("api/storage.k8s.io/csinodes", "Forbidden")},
		{"state out of step a", "broken: certain attach-state-out-of-step Node n1", va(ebsDisk(ebs().Waits(), "n1"), "csi-a", "n1", "", "attached: true").FailedMount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition")},
		{"state out of step b", "broken: certain attach-state-out-of-step Node n1", ebsDisk(ebs().Waits(), "n1").Edit("NAME-ATTACHED-n1", "{name: 'kubernetes.io/csi/ebs.csi.aws.com^vol-0a1b2c3d4e5f60718', devicePath: ''}").FailedMount("MountVolume.WaitForAttach failed for volume \"pv-data\" : volume vol-0a1b2c3d4e5f60718 has GET error for volume attachment csi-abc: volumeattachments.storage.k8s.io \"csi-abc\" is forbidden: User \"system:node:n1\" cannot get resource \"volumeattachments\" in API group \"storage.k8s.io\" at the cluster scope: no relationship found between node 'n1' and this object")},
		{"state out of step b, VAs forbidden", "broken: unexplained pod-waiting-for-volume", ebsDisk(ebs().Waits(), "n1").Edit("NAME-ATTACHED-n1", "{name: 'kubernetes.io/csi/ebs.csi.aws.com^vol-0a1b2c3d4e5f60718', devicePath: ''}").Gap("api/storage.k8s.io/volumeattachments", "Forbidden")},
		{"va stale probed", "broken: certain volumeattachment-stale VolumeAttachment csi-589198f8bd4a396c045d44577312b5c211096fa2ab64c3f190c93fee025ba376", ebsDisk(mulattach(ebs().Waits(), "x").Attached("n2"), "n2").Edit("volumesInUse: [\"kubernetes.io/csi/ebs.csi.aws.com^vol-0a1b2c3d4e5f60718\"]", "volumesInUse: []")},
		{"va stale unprobed", "broken: likely volumeattachment-stale VolumeAttachment csi-64d6141274c4050d81478b64a98cb376d1efc171aec5e3c184b94afdfeb94488", mulattach(azure().Waits(), "x").Attached("n2").Edit("volumesInUse: [\"kubernetes.io/csi/disk.csi.azure.com^", "volumesInUse: [\"kubernetes.io/csi/other^").Unprobed("n2", "PodRejected")},
		{"va stale look: in use", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume", ebsDisk(mulattach(ebs().Waits(), "x").Attached("n2"), "n2")},
		{"va volume gone", "broken: certain claim-lost-volume PersistentVolumeClaim shop/data", va(pd().Drop("kind: PersistentVolume\n").Edit("status: {phase: Bound, acc", "status: {phase: Lost, acc"), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T11:40:00Z'", "attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: 'persistentvolume \"pv-data\" not found'}")},
		{"attacher crash", "broken: certain attacher-not-working Pod kube-system/controller-0", controllerCrashes(timedout(va(cinder().Waits(), "csi-a", "n1", "", pend)), "", "CrashLoopBackOff")},
		{"attacher crash, its last error is old", "broken: certain attacher-not-working Pod kube-system/controller-0", controllerCrashes(timedout(va(cinder().Waits(), "csi-a", "n1", "", pend+", attachError: {time: '2026-01-02T11:40:00Z', message: 'rpc error: code = Internal desc = no'}")), "", "CrashLoopBackOff")},
		{"attacher crash, after an error of this minute", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", controllerCrashes(timedout(va(cinder().Waits(), "csi-a", "n1", "", pend+", attachError: {time: '2026-01-02T11:59:30Z', message: 'rpc error: code = Internal desc = no'}")), "", "CrashLoopBackOff")},
		{"attacher works, an old error", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", va(cinder().Waits(), "csi-a", "n1", "", pend+", attachError: {time: '2026-01-02T11:40:00Z', message: 'rpc error: code = Internal desc = no'}")},
		{"attacher image pull", "broken: certain attacher-not-working Pod kube-system/controller-0", controllerCrashes(timedout(va(azure().Waits(), "csi-a", "n1", "", pend)), "", "ImagePullBackOff")},
		{"attacher none", "broken: likely attacher-not-working CSIDriver cinder.csi.openstack.org", timedout(va(cinder().Waits(), "csi-a", "n1", "", pend)).Drop("name: controller-0")},
		{"attacher forbidden line", "broken: certain attacher-not-working Pod kube-system/controller-0", timedout(va(azure().Waits(), "csi-a", "n1", "", pend)).File("logs/kube-system/controller-0/csi-attacher.log", "I0102 11:58:01.000000       1 csi_handler.go:251] Attaching \"csi-a\"\nE0102 11:58:02.000000       1 csi_handler.go:234] Error processing \"csi-a\": failed to mark as attached: volumeattachments.storage.k8s.io \"csi-a\" is forbidden: User \"system:serviceaccount:kube-system:azure\" cannot patch resource \"volumeattachments/status\" in API group \"storage.k8s.io\" at the cluster scope\n")},
		{"refused on a node that came up a moment ago", "waiting", va(azure().Waits(), "csi-a", "n1", "", pend+", attachError: {time: '2026-01-02T11:59:50Z', message: 'rpc error: code = Aborted desc = not ready for workloads'}").Edit("2026-01-02T11:30:05Z", "2026-01-02T11:59:30Z").Edit("2026-01-02T11:30:00Z", "2026-01-02T11:59:25Z").EditIn("metadata: {name: n1,", "2025-12-23T12:00:00Z", "2026-01-02T11:59:00Z")},
		{"refused in vain since longer than the node is up", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", va(azure().Waits(), "csi-a", "n1", "", pend+", attachError: {time: '2026-01-02T11:59:50Z', message: 'rpc error: code = Aborted desc = not ready for workloads'}").EditIn("metadata: {name: n1,", "2025-12-23T12:00:00Z", "2026-01-02T11:59:00Z")},
		{"attacher ok, va young", "waiting", va(azure().Waits(), "csi-a", "n1", "", pend).Edit("2026-01-02T11:30:05Z", "2026-01-02T11:59:30Z").Edit("2026-01-02T11:30:00Z", "2026-01-02T11:59:25Z")},
		{"csidriver wrong", "broken: certain csidriver-object-wrong CSIDriver nfs.csi.k8s.io", attachFailed(va(nfs().Waits().Drop("kind: CSIDriver").Drop("name: controller-0"), "csi-a", "n1", "", pend), "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of nfs.csi.k8s.io CSI driver to attach volume nas#data")},
		{"csidriver forbidden", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", attachFailed(va(nfs().Waits().Drop("kind: CSIDriver").Drop("name: controller-0"), "csi-a", "n1", "", pend), "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of nfs.csi.k8s.io CSI driver to attach volume nas#data").Gap("api/storage.k8s.io/csidrivers", "Forbidden")},
		{"plugin not on node: taint", "broken: certain csi-plugin-not-on-node Node n1", attachFailed(noDriver(azure().Waits(), "1"), "AttachVolume.Attach failed for volume \"pv-data\" : CSINode n1 does not contain driver disk.csi.azure.com").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}")},
		{"plugin not on node: taint, no CSINodes", "broken: likely csi-plugin-not-on-node Node n1", noDriver(azure().Waits(), "1").Unprobed("n1", "PodRejected").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}").Drop("kind: CSINode").Gap("api/storage.k8s.io/csinodes", "Forbidden")},
		{"plugin not on node, no nodes", "broken: likely csi-plugin-not-on-node Node n1", noDriver(azure().Waits(), "1").Unprobed("n1", "PodRejected").Drop("kind: Node\n").Gap("api//nodes", "Forbidden")},
		{"plugin not on node: taint, nfs mount", "broken: certain csi-plugin-not-on-node Node n1", noDriver(nfs().Waits(), "1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}")},
		{"plugin not on node: ds unknown", "broken: likely csi-plugin-not-on-node Node n1", attachFailed(noDriver(azure().Waits(), "1"), "AttachVolume.Attach failed for volume \"pv-data\" : CSINode n1 does not contain driver disk.csi.azure.com").Drop("kind: DaemonSet").Gap("api/apps/daemonsets", "Forbidden")},
		{"plugin not on node: noexecute evicted", "broken: certain csi-plugin-not-on-node Node n2", func() *world {
			w := noDriver(mulattach(azure().Waits(), "web-x").Attached("n2"), "2").Edit("spec: {podCIDR: 10.42.12.0/24}", "spec: {podCIDR: 10.42.12.0/24, taints: [{key: maint, effect: NoExecute, timeAdded: '2026-01-02T11:30:00Z'}]}")
			return second(w, "web-x", "n2", "", "Running", deleted).Mounts("n2", "8:16 / /var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-7765622d7830/volumes/kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - ext4 /dev/sdb rw").Disk("n2", "sdb", "8:16")
		}()},
		{"stale in backend: gce", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", attachFailed(va(pd().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \"rpc error: code = Internal desc = Failed to Attach: failed cloud service attach disk call: googleapi: Error 400: RESOURCE_IN_USE_BY_ANOTHER_RESOURCE - The disk resource 'projects/p/zones/z/disks/d' is already being used by 'projects/p/zones/z/instances/n2'\"}"), "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = Failed to Attach: failed cloud service attach disk call: googleapi: Error 400: RESOURCE_IN_USE_BY_ANOTHER_RESOURCE - The disk resource 'projects/p/zones/z/disks/d' is already being used by 'projects/p/zones/z/instances/n2'")},
		{"stale in backend: unknown instance", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", attachFailed(va(cinder().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = [ControllerPublishVolume] Attach Volume failed with error disk 0e6dd0a8-1111-4222-8333-123456789012 is attached to a different instance (9a9a9a9a-0000-4000-8000-000000000009)'}"), "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = [ControllerPublishVolume] Attach Volume failed with error disk 0e6dd0a8-1111-4222-8333-123456789012 is attached to a different instance (9a9a9a9a-0000-4000-8000-000000000009)")},
		{"stale in backend: portworx names an address", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", portworx("Volume 1095 is attached on: 10.0.0.12")},
		{"stale in backend: portworx names nobody", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", portworx("Volume 1095 is in use")},
		{"stale in backend: no holder", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", attachFailed(va(azure().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = Attach volume failed with AttachDiskWhileBeingDetached: disk pvc-1 is being detached'}"), "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = Attach volume failed with AttachDiskWhileBeingDetached: disk pvc-1 is being detached")},
		{"stale in backend: another machine has the VMDK open", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", va(vol("csi.vsphere.vmware.com", "6a6b1b1a-1111-4222-8333-123456789012", "").Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = failed to attach cns volume to node vm: vm-1. fault: Reason: Failed to lock the file'}")},
		{"an array knows no host, by its code", "broken: likely backend-node-unknown Node n1", va(vol("csi-unity.dellemc.com", "fs_12", "").Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = NotFound desc = runid=97 Find Host Failed unable to find host'}")},
		{"an array fails, without the code", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", va(vol("csi-unity.dellemc.com", "fs_12", "").Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = unable to find host: connection reset'}")},
		{"backend node unknown: the call's own name is no volume", "broken: certain backend-node-unknown Node n1", va(cinder().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = NotFound desc = [ControllerPublishVolume] Instance n1 not found'}")},
		{"backend node unknown: the volume is", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", va(cinder().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = NotFound desc = [ControllerPublishVolume] Volume 0e6dd0a8-1111-4222-8333-123456789012 not found'}")},
		{"device link vsphere", "broken: likely device-link-missing Device n1/8:16", func() *world {
			w := vs().Waits().Attached("n1").Disk("n1", "sdb", "8:16", "device/vendor", "VMware", "device/model", "Virtual disk")
			return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = NotFound desc = disk: 6000c29abc not attached to node")
		}()},
		{"device link vsphere, of no known size, a new disk", "broken: likely device-link-missing Device n1/8:16; possible attached-in-api-missing-on-node VolumeAttachment csi-e154151db39f3884991be54f61783f69e74fb521f658764b6a9bd339ca6c3078", sizeless("1700")},
		{"device link vsphere, of no known size, an old disk", "broken: possible attached-in-api-missing-on-node VolumeAttachment csi-e154151db39f3884991be54f61783f69e74fb521f658764b6a9bd339ca6c3078; unexplained mount-failed; unexplained pod-waiting-for-volume", sizeless("300000")},
		{"missing on the node: another volume's serial has the form of the handle", "broken: likely attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("vol-0a1b2c3d4e5f60718", "ebs.csi.aws.com", "n1"), slow(another(ebs(), "vol0ffb2c3d4e5f60777"))},
		{"missing on the node: the form of a name with a UUID", "broken: likely attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("projects/p/zones/z/disks/pvc-a1b2c3d4-1111-4222-8333-123456789012", "pd.csi.storage.gke.io", "n1"),
			slow(another(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-a1b2c3d4-1111-4222-8333-123456789012", ""), "pvc-0f1e2d3c-1111-4222-8333-123456789012"))},
		{"missing on the node: an idle disk of the size has a link of the form that is named", "broken: likely attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("c1/zone/lvm/vm-9999-pvc-1", "csi.proxmox.sinextra.dev", "n1"), linked("wwn-0x5056432d49443031")},
		{"missing on the node: an idle disk of the size has a link of another form", "broken: possible attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("c1/zone/lvm/vm-9999-pvc-1", "csi.proxmox.sinextra.dev", "n1") + "; unexplained mount-failed; unexplained pod-waiting-for-volume", linked("scsi-0QEMU_QEMU_HARDDISK_drive-scsi1")},
		{"missing on the node: the driver names the disk over which it stumbles", "broken: likely attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("projects/p/zones/z/disks/pvc-a1b2c3d4-1111-4222-8333-123456789012", "pd.csi.storage.gke.io", "n1"),
			vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-a1b2c3d4-1111-4222-8333-123456789012", "").Waits().Attached("n1").Disk("n1", "sdb", "8:16", "device/wwid", "t10.Google  PersistentDisk  pvc-0f1e2d3c-1111-4222-8333-123456789012").FailedMount(stageFails("failed to find and re-link disk pvc-a1b2c3d4-1111-4222-8333-123456789012 with udevadm: scsi_id failed for device \"/dev/sdb\""))},
		{"missing on the node: another form", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", slow(another(ebs(), "AWS22F1A2B3C4D5E6F7"))},
		{"missing on the node: it is there", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", slow(another(ebsDisk(ebs(), "n1"), "vol0ffb2c3d4e5f60777"))},
		{"hostpath local block absent", "broken: certain hostpath-type-mismatch PersistentVolume pv-data", sketch.NewWorld("", "", localPV).Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/disks/vol1\" does not exist")},
		{"hostpath file", "broken: certain hostpath-type-mismatch Pod shop/web-0", nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: sock, hostPath: {path: /run/docker.sock, type: Socket}}]").FailedMount("MountVolume.SetUp failed for volume \"sock\" : hostPath type check failed: /run/docker.sock is not a socket file")},
		{"hostpath old, recovered", "healthy", sketch.NewWorld("", "", localPV).Runs(0).Mounts("n1", "8:32 / /mnt/disks/vol1 rw shared:9 - ext4 /dev/sdc rw", "8:32 / /var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data rw shared:9 - ext4 /dev/sdc rw").Disk("n1", "sdc", "8:32").LiveExt4("n1", "sdc").Answers("n1", "/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data", "/mnt/disks/vol1").Entries("n1", "mnt/disks/vol1", "@dir").Event("Pod", "web-0", sketch.UID+"00", "FailedMount", "kubelet", "n1", "2025-12-31T12:00:01Z", "MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/disks/vol1\" does not exist")},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			ask := "pvc shop/data"
			if strings.Contains(r.name, "hostpath file") {
				ask = "pod shop/web-0"
			}
			show(t, r.w, ask, r.want)
		})
	}
}

// sizeless is a disk of vSphere without identifiers of which no size is written down, as of one that a pod names
// itself; the kernel has seen it come, so many seconds ago.
func sizeless(at string) *world {
	return vol("csi.vsphere.vmware.com", "6a6b1b1a-1111-4222-8333-123456789012", "").Waits().Attached("n1").Disk("n1", "sdb", "8:16", "device/vendor", "VMware", "device/model", "Virtual disk").Edit("capacity: {storage: 10Gi}", "capacity: {}").
		Kernel("n1", at+"|sd 2:0:1:0: [sdb] Attached SCSI disk").
		FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = NotFound desc = disk: 6000c29abc not attached to node")
}

// portworx attaches as a part of mounting.
func portworx(text string) *world {
	return vol("pxd.portworx.com", "1095", "").Waits().FailedMount(`MountVolume.SetUp failed for volume "pv-data" : rpc error: code = Internal desc = failed  to attach volume: ` + text)
}

// TestVolumeThatShallGo: what keeps the attachment of a volume keeps the volume from being deleted.
func TestVolumeThatShallGo(t *testing.T) {
	t.Parallel()
	show(t, va(going(ebs()), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T09:55:00Z'", "attached: true, detachError: {time: '2026-01-02T11:59:10Z', message: 'could not find node n2'}").Drop("metadata: {name: n2, uid: 'f0"),
		"volume pv-data", "broken: certain node-removed Node n2")
	show(t, va(going(ebs()), "csi-old", "n2", ", deletionTimestamp: '2026-01-02T09:55:00Z'", "attached: true, detachError: {time: '2026-01-02T11:59:10Z', message: 'the frobnicator says 17'}"),
		"volume pv-data", "broken: unexplained claim-pending; unexplained detach-stuck")
	show(t, going(ebs()), "volume pv-data", "broken: unexplained claim-pending")
}

// slow is a volume that is attached to n1 and whose staging only runs out of time.
func slow(w *world) *world {
	return w.Waits().Attached("n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = DeadlineExceeded desc = context deadline exceeded")
}

// another is n1 with an EBS disk, or one of the instance's own, beside the volume's.
func another(w *world, serial string) *world {
	return w.Disk("n1", "nvme2n1", "259:5", "device/serial", serial, "device/model", "Amazon Elastic Block Store", "device/state", "live")
}

// linked is a volume whose driver names a by-id link that is not there, beside an idle disk of its size that has the one given.
func linked(link string) *world {
	w := vol("csi.proxmox.sinextra.dev", "c1/zone/lvm/vm-9999-pvc-1", "").Waits().Attached("n1")
	return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = device /dev/disk/by-id/wwn-0x5056432d49443032 is not found").
		Disk("n1", "sdb", "8:16", "device/vendor", "QEMU", "device/model", "QEMU HARDDISK", "device/state", "running").Entries("n1", "dev/disk/by-id/"+link, "@link ../../sdb")
}
