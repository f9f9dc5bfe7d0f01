package causes

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const (
	lhVol = "pvc-7d3c0a51-0b8e-4d6a-9a11-5c0f3e2d1b7a"
	lhPV  = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: driver.longhorn.io, fsType: ext4, volumeHandle: " + lhVol + ", volumeAttributes: {numberOfReplicas: '2'}}"
	lhIQN = "iqn.2019-10.io.longhorn:" + lhVol
	lhDoc = "apiVersion: longhorn.io/v1beta2\nkind: "
)

// lhWorld is a healthy Longhorn of a release on three nodes with volume lhVol, whose
// replicas run on n1 and n2; nobody uses it yet.
func lhWorld(release string) *world { return lhWorldOf(release, lhPV) }

// lhWorldOf makes it with a PersistentVolume.
func lhWorldOf(release, pv string) *world {
	w := sketch.NewWorld("driver.longhorn.io", lhVol, pv)
	w.Edit("attachRequired: false", "attachRequired: true").Edit("namespace: kube-system, name: plugin", "namespace: longhorn-system, name: longhorn-csi-plugin")
	w.Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: csi-attacher-6fbf76ff66-dx454, creationTimestamp: '2025-11-07T13:25:00Z', labels: {app: csi-attacher}}\nspec: {nodeName: n3, containers: [{name: csi-attacher, image: 'longhornio/csi-attacher:v4.8.1', args: ['--csi-address=$(ADDRESS)', --leader-election]}], volumes: [{name: socket-dir, hostPath: {path: /var/lib/kubelet/plugins/driver.longhorn.io, type: DirectoryOrCreate}}]}\nstatus: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-attacher, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}]}\n")
	w.Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: csi-resizer-5c8f4b6d9-8xkqz, creationTimestamp: '2025-11-07T13:25:00Z', labels: {app: csi-resizer}}\nspec: {nodeName: n3, containers: [{name: csi-resizer, image: 'longhornio/csi-resizer:v1.13.2', args: ['--csi-address=$(ADDRESS)', --leader-election]}], volumes: [{name: socket-dir, hostPath: {path: /var/lib/kubelet/plugins/driver.longhorn.io, type: DirectoryOrCreate}}]}\nstatus: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-resizer, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}]}\n")
	for _, kv := range []string{"current-longhorn-version " + release, "auto-delete-pod-when-volume-detached-unexpectedly true", "concurrent-replica-rebuild-per-node-limit 5"} {
		name, value, _ := strings.Cut(kv, " ")
		w.Add(fmt.Sprintf(lhDoc+"Setting\nmetadata: {name: %s, namespace: longhorn-system, creationTimestamp: '2025-11-01T08:00:00Z'}\nvalue: '%s'\n", name, value))
	}
	w.Add("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {namespace: longhorn-system, name: longhorn-manager, uid: 'd5000000-0000-4000-8000-000000000001'}\nspec: {selector: {matchLabels: {app: longhorn-manager}}, template: {metadata: {labels: {app: longhorn-manager}}, spec: {containers: [{name: longhorn-manager, image: 'longhornio/longhorn-manager:" + release + "'}]}}}\nstatus: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3, numberAvailable: 3}\n")
	for i := 1; i <= 3; i++ {
		lhNode(w, i, release)
	}
	w.Add(lhDoc+"EngineImage\nmetadata: {name: ei-51cc7b9c, namespace: longhorn-system}\nspec: {image: 'longhornio/longhorn-engine:"+release+"'}\nstatus: {state: deployed, incompatible: false, nodeDeploymentMap: {n1: true, n2: true, n3: true}}\n",
		lhDoc+"Volume\nmetadata: {name: "+lhVol+", namespace: longhorn-system, uid: 'e1000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z'}\nspec: {size: '10737418240', nodeID: WANTED, accessMode: rwo, numberOfReplicas: 2, image: 'longhornio/longhorn-engine:"+release+"', dataLocality: disabled, dataEngine: v1, migratable: false, frontend: blockdev, migrationNodeID: '', backingImage: '', encrypted: false, Standby: false}\n"+
			"status: {state: STATE, robustness: HEALTH, ownerID: n1, currentNodeID: WHERE, currentImage: 'longhornio/longhorn-engine:"+release+"', remountRequestedAt: '', pendingNodeID: '', currentMigrationNodeID: '', expansionRequired: false, restoreRequired: false, isStandby: false, shareState: '', frontendDisabled: false, kubernetesStatus: {namespace: shop, pvcName: data, pvName: pv-data, pvStatus: Bound}, conditions: [{type: Scheduled, status: 'True'}, {type: WaitForBackingImage, status: 'False'}, {type: Restore, status: 'False'}]}\n",
		lhDoc+"Engine\nmetadata: {name: "+lhVol+"-e-0, namespace: longhorn-system, creationTimestamp: '2025-12-01T08:00:00Z', labels: {longhornvolume: "+lhVol+"}}\nspec: {volumeName: "+lhVol+", volumeSize: '10737418240', nodeID: WANTED, active: true, desireState: DESIRE, image: 'longhornio/longhorn-engine:"+release+"', dataEngine: v1, frontend: blockdev, disableFrontend: false, replicaAddressMap: {ADDRESSES}, upgradedReplicaAddressMap: {}}\nstatus: {currentState: ENGINE, currentImage: 'longhornio/longhorn-engine:"+release+"', instanceManagerName: 'MANAGER', endpoint: 'ENDPOINT', currentSize: '10737418240', replicaModeMap: {MODES}, restoreStatus: {}, rebuildStatus: {}, isExpanding: false, lastExpansionError: '', conditions: [{type: InstanceCreation, status: 'True'}]}\n")
	for _, n := range []string{"1", "2"} {
		w.Add(lhDoc + "Replica\nmetadata: {name: " + lhVol + "-r-" + n + ", namespace: longhorn-system, creationTimestamp: '2025-12-01T08:00:00Z', labels: {longhornvolume: " + lhVol + "}}\nspec: {volumeName: " + lhVol + ", volumeSize: '10737418240', nodeID: n" + n + ", diskID: disk-n" + n + ", diskPath: /var/lib/longhorn/, dataDirectoryName: " + lhVol + "-d" + n + ", active: true, engineName: " + lhVol + "-e-0, healthyAt: '2025-12-01T08:01:00Z', lastHealthyAt: '2026-01-02T11:00:00Z', failedAt: '', lastFailedAt: '', desireState: DESIRE, dataEngine: v1, rebuildRetryCount: 0}\nstatus: {currentState: REPLICA, instanceManagerName: 'RMANAGER" + n + "', ip: 10.42.1" + n + ".20, storageIP: 10.42.1" + n + ".20, port: 10010, conditions: []}\n")
	}
	return w
}

func lhNode(w *world, i int, release string) {
	n := fmt.Sprintf("n%d", i)
	w.Add(lhDoc+fmt.Sprintf("Node\nmetadata: {name: %[1]s, namespace: longhorn-system, creationTimestamp: '2025-11-01T08:00:00Z'}\nspec: {name: %[1]s, allowScheduling: true, evictionRequested: false, disks: {default-disk: {path: /var/lib/longhorn/, diskType: filesystem, allowScheduling: true, evictionRequested: false, storageReserved: 0, tags: []}}}\n"+
		"status: {conditions: [{type: Ready, status: 'True'}, {type: Schedulable, status: 'True'}, {type: MountPropagation, status: 'True'}, {type: HugePagesAvailable, status: 'True'}], diskStatus: {default-disk: {diskUUID: disk-%[1]s, diskPath: /var/lib/longhorn/, storageMaximum: 100000000000, storageAvailable: 70000000000, storageScheduled: 10737418240, conditions: [{type: Ready, status: 'True'}, {type: Schedulable, status: 'True'}]}}}\n", n),
		lhDoc+fmt.Sprintf("InstanceManager\nmetadata: {name: instance-manager-%[1]s, namespace: longhorn-system, creationTimestamp: '2025-12-20T08:00:00Z'}\nspec: {nodeID: %[1]s, type: aio, dataEngine: v1, image: 'longhornio/longhorn-instance-manager:%[2]s'}\nstatus: {currentState: running, ip: 10.42.1%[3]d.20, ownerID: %[1]s, instanceEngines: {ENGINES-%[1]s}, instanceReplicas: {REPLICAS-%[1]s other-%[1]s-r-9: {spec: {name: other-%[1]s-r-9}, status: {state: running}}}}\n", n, release, i))
	for _, pod := range []string{"instance-manager-" + n + " instance-manager 20 longhorn.io/component: instance-manager", "longhorn-manager-" + n + " longhorn-manager 21 app: longhorn-manager"} {
		f := strings.SplitN(pod, " ", 4)
		w.Add(fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: %s, uid: '8%sc0de0-0000-4000-8000-00000000000%d', creationTimestamp: '2025-12-20T08:00:00Z', labels: {%s}}\nspec: {nodeName: %s, containers: [{name: %s, image: 'longhornio/%s:%s'}]}\nstatus: {phase: Running, startTime: '2025-12-20T08:00:00Z', podIP: 10.42.1%d.%s, podIPs: [{ip: 10.42.1%d.%s}], conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'}], containerStatuses: [{name: %s, ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}}]}\n",
			f[0], f[2], i, f[3], n, f[1], f[1], release, i, f[2], i, f[2], f[1]))
	}
	w.Entries(n, "@dial/10.42.1"+n[1:]+".20:3260", "ok 0.4ms", "proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 40", "var/lib/longhorn/longhorn-disk.cfg", `{"diskName":"default-disk","diskUUID":"disk-`+n+`"}`,
		"@statfs/var/lib/longhorn", "24414062 17000000 17000000 6000000 5900000 4096", "proc/modules", "iscsi_tcp 28672 2 - Live 0x0\nlibiscsi_tcp 36864 1 - Live 0x0\nlibiscsi 77824 2 - Live 0x0\nscsi_transport_iscsi 151552 4 - Live 0x0\ndm_crypt 1 0 - Live 0x0\nnvme_tcp 1 0 - Live 0x0\nnvme_fabrics 1 0 - Live 0x0\nvfio_pci 1 0 - Live 0x0\nuio_pci_generic 1 0 - Live 0x0\nublk_drv 1 0 - Live 0x0\nnfs 1 0 - Live 0x0",
		"usr/sbin/iscsiadm", "@hex\n7f454c46", "usr/sbin/iscsid", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:"+n)
	w.Process(n, 1301, "", "iscsid", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw")
	w.Entries(n, "proc/1301/cgroup", "0::/system.slice/iscsid.service", "proc/1301/cmdline", "/usr/sbin/iscsid␀")
}

func lhState(w *world, pairs ...string) *world {
	for i := 0; i < len(pairs); i += 2 {
		w.Edit(pairs[i], pairs[i+1])
	}
	return w
}

func ticketID(node string) string {
	return snapshot.AttachmentName(lhVol, snapshot.LonghornDriver, node)
}

func lhTickets(w *world, satisfied bool, entries string) *world {
	id := ticketID("n1")
	return w.Add(fmt.Sprintf(lhDoc+"VolumeAttachment\nmetadata: {name: %s, namespace: longhorn-system, creationTimestamp: '2025-12-01T08:00:00Z'}\nspec: {volume: %s, attachmentTickets: {%s: {id: %s, type: csi-attacher, nodeID: n1, generation: 0, parameters: {disableFrontend: 'false'}}%s}}\nstatus: {attachmentTicketStatuses: {%s: {id: %s, satisfied: %t, generation: 0, conditions: [{type: Satisfied, status: '%s', lastTransitionTime: '2026-01-02T11:30:05Z'}]}}}\n",
		lhVol, lhVol, id, id, entries, id, id, satisfied, map[bool]string{true: "True", false: "False"}[satisfied]))
}

// lhRuns is the volume attached to n1 and mounted by web-0, which has run for two days.
func lhRuns(w *world) *world {
	return lhMounted(lhAttached(w.Runs(0)), "n1", "sdb", "8:16")
}

// lhAttached is the volume attached to n1, with its disk.
func lhAttached(w *world) *world {
	w.Attached("n1")
	lhTickets(w, true, "")
	lhState(w, "WANTED", "n1", "STATE", "attached", "HEALTH", "healthy", "WHERE", "n1", "DESIRE", "running", "currentState: ENGINE", "currentState: running", "'MANAGER'", "instance-manager-n1", "ENDPOINT", "/dev/longhorn/"+lhVol,
		"ADDRESSES", lhVol+"-r-1: '10.42.11.20:10010', "+lhVol+"-r-2: '10.42.12.20:10010'", "MODES", lhVol+"-r-1: RW, "+lhVol+"-r-2: RW",
		"REPLICA,", "running,", "'RMANAGER1'", "instance-manager-n1", "'RMANAGER2'", "instance-manager-n2",
		"ENGINES-n1", lhVol+"-e-0: {spec: {name: "+lhVol+"-e-0}, status: {state: running}}", "ENGINES-n2", "", "ENGINES-n3", "",
		"REPLICAS-n1", lhVol+"-r-1: {spec: {name: "+lhVol+"-r-1}, status: {state: running}},", "REPLICAS-n2", lhVol+"-r-2: {spec: {name: "+lhVol+"-r-2}, status: {state: running}},", "REPLICAS-n3", "")
	return lhSees(w, "n1", "sdb", "8:16", 1)
}

// lhSees is the iSCSI disk of the volume on a node.
func lhSees(w *world, node, disk, dev string, session int) *world {
	s := fmt.Sprintf("sys/class/iscsi_session/session%d/", session)
	w.Disk(node, disk, dev, "device/vendor", "IET     ", "device/model", "VIRTUAL-DISK    ", "device/state", "running")
	w.Entries(node, "dev/longhorn/"+lhVol, "@device block "+dev, s+"targetname", lhIQN, s+"state", "LOGGED_IN",
		s+fmt.Sprintf("device/target%d:0:0/%d:0:0:1/block/%s", session, session, disk), "@dir", s+fmt.Sprintf("device/connection%d:0", session), "@dir",
		fmt.Sprintf("sys/class/iscsi_connection/connection%d:0/persistent_address", session), "10.42.1"+node[1:]+".20", fmt.Sprintf("sys/class/iscsi_connection/connection%d:0/state", session), "up")
	return w
}

// lhMounted adds the mounts of that disk.
func lhMounted(w *world, node, disk, dev string) *world {
	line := " rw,relatime shared:80 - ext4 /dev/longhorn/" + lhVol + " rw"
	return w.LiveExt4(node, disk).Mounts(node, dev+" / "+w.Stage()+line, dev+" / "+w.Publish(0)+line).Answers(node, w.Stage(), w.Publish(0))
}

// lhWaits is the volume wanted by web-0 on n1 for half an hour and not attached; the
// replicas run, the engine does not.
func lhWaits(w *world) *world {
	w.Waits()
	w.Add("apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " + ticketID("n1") + ", creationTimestamp: '2026-01-02T11:30:02Z'}\nspec: {attacher: driver.longhorn.io, nodeName: n1, source: {persistentVolumeName: pv-data}}\nstatus: {attached: false}\n")
	lhTickets(w, false, "")
	lhState(w, "WANTED", "n1", "STATE", "attaching", "HEALTH", "unknown", "WHERE", "''", "DESIRE", "running", "currentState: ENGINE", "currentState: stopped", "'MANAGER'", "''", "ENDPOINT", "",
		"ADDRESSES", lhVol+"-r-1: '10.42.11.20:10010', "+lhVol+"-r-2: '10.42.12.20:10010'", "MODES", "",
		"REPLICA,", "running,", "'RMANAGER1'", "instance-manager-n1", "'RMANAGER2'", "instance-manager-n2", "ENGINES-n1", "", "ENGINES-n2", "", "ENGINES-n3", "",
		"REPLICAS-n1", lhVol+"-r-1: {spec: {name: "+lhVol+"-r-1}, status: {state: running}},", "REPLICAS-n2", lhVol+"-r-2: {spec: {name: "+lhVol+"-r-2}, status: {state: running}},", "REPLICAS-n3", "")
	return w.Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:20Z", `AttachVolume.Attach failed for volume "pv-data" : rpc error: code = DeadlineExceeded desc = volume `+lhVol+` failed to attach to node n1 with attachmentID `+ticketID("n1"))
}

// lhShare is a served RWX volume whose share-manager runs on n2, mounted by web-0 on n1.
func lhShare(release string) *world {
	w := lhWorldOf(release, strings.Replace(lhPV, "ReadWriteOnce", "ReadWriteMany", 1))
	w.EditIn(volDoc, "accessMode: rwo", "accessMode: rwx").EditIn(volDoc, "shareState: ''", "shareState: running")
	w.Runs(0).Attached("n1")
	lhTickets(w, true, ", share-manager-controller-"+lhVol+": {id: share-manager-controller-"+lhVol+", type: share-manager-controller, nodeID: n2, generation: 0}")
	lhState(w, "WANTED", "n2", "STATE", "attached", "HEALTH", "healthy", "WHERE", "n2", "DESIRE", "running", "currentState: ENGINE", "currentState: running", "'MANAGER'", "instance-manager-n2", "ENDPOINT", "/dev/longhorn/"+lhVol,
		"ADDRESSES", lhVol+"-r-1: '10.42.11.20:10010', "+lhVol+"-r-2: '10.42.12.20:10010'", "MODES", lhVol+"-r-1: RW, "+lhVol+"-r-2: RW",
		"REPLICA,", "running,", "'RMANAGER1'", "instance-manager-n1", "'RMANAGER2'", "instance-manager-n2",
		"ENGINES-n2", lhVol+"-e-0: {spec: {name: "+lhVol+"-e-0}, status: {state: running}}", "ENGINES-n1", "", "ENGINES-n3", "",
		"REPLICAS-n1", lhVol+"-r-1: {spec: {name: "+lhVol+"-r-1}, status: {state: running}},", "REPLICAS-n2", lhVol+"-r-2: {spec: {name: "+lhVol+"-r-2}, status: {state: running}},", "REPLICAS-n3", "")
	w.Add(lhDoc+"ShareManager\nmetadata: {name: "+lhVol+", namespace: longhorn-system, creationTimestamp: '2025-12-20T08:00:00Z'}\nspec: {image: 'longhornio/longhorn-share-manager:"+release+"'}\nstatus: {ownerID: n2, state: running, endpoint: 'nfs://10.96.10.77/"+lhVol+"'}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: "+lhVol+", namespace: longhorn-system}\nspec: {clusterIP: 10.96.10.77, ports: [{name: nfs, port: 2049}]}\n",
		"apiVersion: v1\nkind: Endpoints\nmetadata: {name: "+lhVol+", namespace: longhorn-system}\nsubsets: [{addresses: [{ip: 10.42.12.30, targetRef: {kind: Pod, name: share-manager-"+lhVol+", namespace: longhorn-system}}], ports: [{name: nfs, port: 2049}]}]\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: share-manager-"+lhVol+", uid: '9a5c0de0-0000-4000-8000-000000000001', creationTimestamp: '2025-12-20T08:00:00Z', labels: {longhorn.io/component: share-manager, longhorn.io/share-manager: "+lhVol+"}}\nspec: {nodeName: n2, containers: [{name: share-manager, image: 'longhornio/longhorn-share-manager:"+release+"'}]}\nstatus: {phase: Running, startTime: '2025-12-20T08:00:00Z', podIP: 10.42.12.30, podIPs: [{ip: 10.42.12.30}], conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'}], containerStatuses: [{name: share-manager, ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}}]}\n")
	s := "sys/class/iscsi_session/session1/"
	w.Disk("n2", "sdb", "8:16", "device/vendor", "IET     ", "device/model", "VIRTUAL-DISK    ", "device/state", "running").LiveExt4("n2", "sdb")
	w.Entries("n2", "dev/longhorn/"+lhVol, "@device block 8:16", s+"targetname", lhIQN, s+"state", "LOGGED_IN", s+"device/target1:0:0/1:0:0:1/block/sdb", "@dir", s+"device/connection1:0", "@dir",
		"sys/class/iscsi_connection/connection1:0/persistent_address", "10.42.12.20", "sys/class/iscsi_connection/connection1:0/state", "up")
	w.Process("n2", 7000, "9a5c0de0-0000-4000-8000-000000000001", "longhorn-share-", 4026532777, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 8:16 / /export/"+lhVol+" rw,relatime - ext4 /dev/longhorn/"+lhVol+" rw")
	line := " rw,relatime shared:80 - nfs4 10.96.10.77:/" + lhVol + " rw,vers=4.1,rsize=1048576,softerr,noresvport,proto=tcp,timeo=600,retrans=5,clientaddr=10.0.0.11,addr=10.96.10.77"
	w.Mounts("n1", "0:80 / "+w.Stage()+line, "0:80 / "+w.Publish(0)+line).Entries("n1", "@dial/10.96.10.77:2049", "ok 0.6ms")
	return w.Answers("n1", w.Stage(), w.Publish(0))
}
