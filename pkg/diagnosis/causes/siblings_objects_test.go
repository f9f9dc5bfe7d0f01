package causes

const (
	classCase    = "class-name-of-the-old-cluster"
	sharedCase   = "backup-cronjob-and-deployment-one-rwo"
	smDownCase   = "share-manager-cannot-reach-recovery-backend"
	smPlaceCase  = "share-manager-on-a-node-without-longhorn"
	hugeCase     = "spdk-target-out-of-hugepages"
	faultedCase  = "both-replica-nodes-lost-power"
	pendingCase  = "pending-node-id-after-upgrade"
	featuresCase = "rbd-image-features-of-a-newer-cluster"
)

// staticPV is an Available volume of the class that the claim of classCase names.
func staticPV(size string) edit {
	return edit{"cluster/core.yaml", "", `- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: search-by-hand, uid: 5e1d3c52-8a0e-4d0c-9f2c-000000000001, creationTimestamp: '2026-02-11T09:00:00Z'}
  spec:
    accessModes: [ReadWriteOnce]
    capacity: {storage: ` + size + `}
    storageClassName: ceph-block-ssd
    persistentVolumeReclaimPolicy: Retain
    volumeMode: Filesystem
    csi: {driver: driver.longhorn.io, volumeHandle: search-by-hand, fsType: ext4}
  status: {phase: Available}
`}
}

var siblingsOfObjects = []sibling{
	{"healthy-after-failover", "the target of a session is not known", []edit{{"nodes/kube-b.txtar", "-- sys/class/iscsi_session/session9/targetname --\niqn.2019-10.io.longhorn:pvc-a4392b21-b899-5c43-9e5d-593de5ff900e\n", ""}}, ""},
	{classCase, "a volume made by hand carries the class", []edit{staticPV("50Gi")}, ""},
	{classCase, "a volume made by hand is too small", []edit{staticPV("20Gi")}, "certain storageclass-missing PersistentVolumeClaim data-search-0"},
	{classCase, "the classes could not be read", []edit{{"cluster/storage.k8s.io.yaml", "kind: StorageClass", "kind: Unread"}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: api/storage.k8s.io/storageclasses, reason: Forbidden}"}}, "likely storageclass-missing PersistentVolumeClaim data-search-0"},
	{classCase, "the class has been made since", []edit{{"cluster/storage.k8s.io.yaml", "    name: longhorn\n", "    name: ceph-block-ssd\n"}}, ""},
	{sharedCase, "the other pod has finished", []edit{{"cluster/core.yaml", "phase: Running\n    startTime: '2026-02-27T02:18:00Z'", "phase: Succeeded\n    startTime: '2026-02-27T02:18:00Z'"}}, ""},
	{sharedCase, "the other pod's node is silent", []edit{
		{"cluster/core.yaml", "{type: Ready, status: 'True', reason: KubeletReady, message: kubelet is posting ready status,", "{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status.,"},
		{"nodes/pool-a1.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/pool-a1, reason: NodeNotReady}"},
	}, "certain node-down Node pool-a1"},
	{sharedCase, "the claim may be shared", []edit{{"cluster/core.yaml", "ReadWriteOnce", "ReadWriteMany"}}, ""},
	{smDownCase, "the node of the share-manager was not looked at", []edit{{"nodes/f-2.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/f-2, reason: PodRejected}"}}, "likely longhorn-share-manager-down ShareManager pvc-f448de81-dda3-5143-8a4c-8fde1ceceedf"},
	{smDownCase, "multipathd holds the disk below", []edit{
		{"nodes/f-2.txtar", "-- sys/class/block/sdc/holders --\n@dir\n", "-- sys/class/block/sdc/holders/dm-3 --\n@link ../../../../virtual/block/dm-3\n-- sys/class/block/dm-3/dev --\n253:3\n-- sys/class/block/dm-3/size --\n41943040\n-- sys/class/block/dm-3/dm/name --\nmpatha\n-- sys/class/block/dm-3/dm/uuid --\nmpath-360000000000000000e00000000010001\n-- sys/class/block/dm-3/slaves/sdc --\n@link ../../../sdc\n-- sys/class/block/dm-3/holders --\n@dir\n"},
		{"nodes/f-2.txtar", "-- @claim/8:32 --\nfree", "-- @claim/8:32 --\nEBUSY"},
	}, "certain multipath-claims-device Device 8:32"},
	{smDownCase, "it runs again", []edit{{"cluster/longhorn.io.yaml", "state: error, endpoint: ''", "state: running, endpoint: 'nfs://10.43.77.12/pvc'"}, {"cluster/longhorn.io.yaml", "shareState: error", "shareState: running"}, {"cluster/core.yaml", "phase: Failed", "phase: Running"}, {"cluster/core.yaml", "status: 'False'", "status: 'True'"}, {"cluster/core.yaml", "ready: false", "ready: true"}}, ""},
	{"multipathd-mount-busy-1210", "the node of the pod was not looked at", []edit{{"nodes/dell-02.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/dell-02, reason: PodRejected}"}}, "possible multipath-claims-device Node dell-02"},
	{smPlaceCase, "Longhorn runs on that node, too", []edit{{"cluster/core.yaml", "nodeName: store-3", "nodeName: gpu-1"}}, "certain longhorn-share-manager-down ShareManager pvc-f6a947b2-1acf-5403-9fc2-63c1559c5089"},
	{smPlaceCase, "the pods of Longhorn could not be read", []edit{{"snapshot.yaml", "gaps: []", "gaps:\n- {need: api//pods/longhorn-system, reason: Forbidden}"}}, "likely longhorn-share-manager-misplaced ShareManager pvc-f6a947b2-1acf-5403-9fc2-63c1559c5089"},
	{smPlaceCase, "the share is served nevertheless", []edit{{"cluster/longhorn.io.yaml", "state: starting", "state: running"}, {"cluster/core.yaml", "'False'", "'True'"}, {"cluster/core.yaml", "ready: false", "ready: true"}}, ""},
	{hugeCase, "nothing says that an allocation failed", []edit{
		{"cluster/longhorn.io.yaml", ": failed to create raid bdev: error code: -12, message: Cannot allocate memory", ""}, {"cluster/events.yaml", ": failed to create raid bdev: error code: -12, message: Cannot allocate memory", ""},
		{"logs/longhorn-system/instance-manager-151d4708f8be5f1588953ba04b9a2f0a/instance-manager.log", "", cut},
	}, "likely longhorn-v2-memory-short Node sp-2"},
	{hugeCase, "enough pages are free", []edit{
		{"cluster/longhorn.io.yaml", "status: 'False', reason: InsufficientHugePages", "status: 'True', reason: ''"}, {"nodes/sp-2.txtar", "free_hugepages --\n0", "free_hugepages --\n900"},
		{"cluster/longhorn.io.yaml", ": failed to create raid bdev: error code: -12, message: Cannot allocate memory", ""}, {"cluster/events.yaml", ": failed to create raid bdev: error code: -12, message: Cannot allocate memory", ""},
		{"logs/longhorn-system/instance-manager-151d4708f8be5f1588953ba04b9a2f0a/instance-manager.log", "", cut},
	}, "possible longhorn-v2-engine-stuck Volume pvc-c3502058-1b11-5e83-aa7b-b1f67b1793d8"},
	{faultedCase, "nobody says that it is faulted now", []edit{{"cluster/longhorn.io.yaml", "robustness: faulted", "robustness: unknown"}}, ""},
	{faultedCase, "the disk of a replica is full", []edit{{"cluster/longhorn.io.yaml", "- {type: Ready, status: 'True'}\n        - {type: Schedulable, status: 'True'}", "- {type: Ready, status: 'True'}\n        - {type: Schedulable, status: 'False', reason: DiskPressure, message: the disk is full}"}, {"cluster/longhorn.io.yaml", "storageAvailable: 180000000000", "storageAvailable: 0"}}, "certain longhorn-disk-full Node rk-1; certain longhorn-disk-full Node rk-2"},
	{pendingCase, "a version that does not read the field", []edit{{"cluster/longhorn.io.yaml", "value: v1.5.1", "value: v1.5.5"}}, ""},
	{pendingCase, "wanted for a minute only", []edit{{"cluster/storage.k8s.io.yaml", "2026-01-29T19:51:00Z", "2026-01-29T20:19:00Z"}, {"cluster/core.yaml", "2026-01-29T19:51:00Z", "2026-01-29T20:19:00Z"}}, ""},
	{pendingCase, "the version could not be read", []edit{{"cluster/longhorn.io.yaml", "name: current-longhorn-version", "name: other-setting"}, {"cluster/core.yaml", "longhorn-manager:v1.5.1", "longhorn-manager@sha256:0"}, {"cluster/apps.yaml", "longhorn-manager:v1.5.1", "longhorn-manager@sha256:0"}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: api/longhorn.io/settings, reason: Forbidden}"}}, "likely node-removed Node lh-old-4"},
	{featuresCase, "the image does not exist", []edit{
		{"cluster/events.yaml", "RBD image feature set mismatch.", ""}, {"cluster/events.yaml", "You can disable features unsupported by the kernel with", ""}, {"nodes/c7-2.txtar", ": image uses unsupported features: 0x38", ": error -2"},
	}, ""},
	{featuresCase, "only the kernel says it", []edit{{"cluster/events.yaml", "", cut}}, "certain rbd-feature-unsupported PersistentVolume pvc-6ef757b7-e717-5bb8-9363-b4ba6806730f"},
	{featuresCase, "the text is an hour old", []edit{{"nodes/c7-2.txtar", ": image uses unsupported features: 0x38", ": something else"}, {"cluster/events.yaml", "lastTimestamp: '2026-02-18T14:24:22Z'", "lastTimestamp: '2026-02-18T13:24:22Z'"}, {"cluster/events.yaml", "14:10:14Z", "13:10:14Z"}}, ""},
}
