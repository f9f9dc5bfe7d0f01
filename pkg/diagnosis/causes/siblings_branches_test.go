package causes

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestBranchesOfAttachments: branches of a cause's document that no incident shows.
func TestBranchesOfAttachments(t *testing.T) {
	t.Parallel()
	silent := func() *world {
		return va(ebs().Waits(), "csi-a", "n1", "", "attached: false").Edit("spec: {nodeName: n3, containers: [{name: csi-provisioner", "spec: {nodeName: n3, serviceAccountName: ebs-csi, containers: [{name: csi-provisioner")
	}
	roles := func(w *world, verbs string) *world {
		return w.Add(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ebs-attacher}
rules: [{apiGroups: [storage.k8s.io], resources: [volumeattachments], verbs: [get, list, watch, update, patch]}`+verbs+`]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ebs-attacher}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ebs-attacher}
subjects: [{kind: ServiceAccount, namespace: kube-system, name: ebs-csi}]
`)
	}
	const log = "logs/kube-system/controller-0/csi-attacher.log"
	const forbidden = "E0102 11:58:40.000000       1 reflector.go:147] k8s.io/client-go/informers/factory.go:150: Failed to watch *v1.VolumeAttachment: failed to list *v1.VolumeAttachment: volumeattachments.storage.k8s.io is forbidden: User \"system:serviceaccount:kube-system:ebs-csi\" cannot list resource \"volumeattachments\" in API group \"storage.k8s.io\" at the cluster scope\n"
	rejected := func(fsid string) *world {
		return cephfs().Waits().Edit("clusterID: rook-ceph, fsName", "clusterID: 7b1c1f3e-0000-4000-8000-00000000beef, fsName").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = DeadlineExceeded desc = context deadline exceeded").
			Entries("n1", "@dial/10.9.1.1:6789", "ok 1ms").
			Kernel("n1", "70|libceph: mon0 (1)10.9.1.1:6789 session established", "69|libceph: client4567 fsid "+fsid, "68|libceph: auth method 'x' error -13")
	}
	rolling := "{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"
	two := func(strategy string) *world {
		return second(second(deployment(azure(), strategy).Edit("spec: {replicas: 1, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: app, image: i}]}}, strategy", "spec: {replicas: 2, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: app, image: i}]}}, strategy").
			Attached("n2"), "api-1-a", "n2", rs("api-1"), "Running", ""), "api-1-b", "n1", rs("api-1"), "Pending", "")
	}
	job := "{apiVersion: batch/v1, kind: Job, name: import, uid: 'e3000000-0000-4000-8000-000000000001', controller: true}"
	apart := func() *world {
		w := deployment(lvmLocal(), rolling).Disk("n1", "dm-0", "253:0", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:0").LiveExt4("n1", "dm-0")
		second(w, "import-xyz", "n1", job, "Running", "")
		second(w, "other-1", "n1", rs("api-1"), "Pending", "")
		return w.Mounts("n1", "253:0 / /var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-696d706f7274/volumes/kubernetes.io~csi/pvc-11aa/mount rw,relatime shared:71 - ext4 /dev/mapper/datavg-pvc--11aa rw").
			Event("Pod", "other-1", "dd0c5a7e-0f3d-4a6b-9a55-6f746865722d", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z",
				mountFails("pvc-11aa", "verifyMount: device already mounted at [/var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-696d706f7274/volumes/kubernetes.io~csi/pvc-11aa/mount]"))
	}
	showEach(t, map[string]shown{
		"the attacher may not write what it did":  {roles(silent(), ""), "broken: certain attacher-not-working Pod kube-system/controller-0"},
		"the attacher may write":                  {roles(silent(), ", {apiGroups: [storage.k8s.io], resources: [volumeattachments/status], verbs: [patch]}"), "broken: possible attacher-not-working Pod kube-system/controller-0; unexplained attach-failed; unexplained pod-waiting-for-volume"},
		"the attacher may not list":               {silent().File(log, forbidden), "broken: certain attacher-not-working Pod kube-system/controller-0"},
		"the kernel's words, of the same cluster": {rejected("7b1c1f3e-0000-4000-8000-00000000beef"), "broken: certain csi-credentials-wrong Secret rook-ceph/rook-csi-cephfs-node"},
		"the kernel's words, cluster not named":   {rejected("11111111-0000-4000-8000-00000000beef"), "broken: likely csi-credentials-wrong Secret rook-ceph/rook-csi-cephfs-node"},
		"two replicas of one claim":               {two(rolling), "broken: likely rwo-rolling-update Deployment shop/api"},
		"two workloads, a driver that gives once": {apart(), "broken: certain rwo-shared-by-workloads PersistentVolumeClaim shop/data"},
	})
}

// TestBranchesOfClaims: the same of claims and their drivers.
func TestBranchesOfClaims(t *testing.T) {
	t.Parallel()
	noPlugin := func(w *world) *world {
		return w.Edit("'70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: "+w.Driver+", nodeID: n1, topologyKeys: null}]}", "'70000000-0000-4000-8000-000000000001'}\nspec: {drivers: []}").
			Without("n1", "var/lib/kubelet/plugins").Without("n1", "proc/4100/").Drop("name: plugin-1, uid")
	}
	refused := noPlugin(ebs().Waits()).Add(`
apiVersion: v1
kind: Event
metadata: {namespace: kube-system, name: e-refused, creationTimestamp: '2026-01-02T11:50:00Z'}
involvedObject: {kind: DaemonSet, namespace: kube-system, name: plugin, uid: '40000000-0000-4000-8000-000000000001'}
type: Warning
reason: FailedCreate
message: 'Error creating: pods "plugin-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPath volumes'
count: 12
firstTimestamp: '2026-01-02T10:50:00Z'
lastTimestamp: '2026-01-02T11:50:00Z'
source: {component: daemonset-controller}
`)
	va(refused, "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'CSINode n1 does not contain driver ebs.csi.aws.com'}")
	hangs := func() *world {
		return rbd().Waits().Attached("n1").Unprobed("n1", "PodRejected").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Aborted desc = an operation with the given Volume ID 0001-0009-rook-ceph-0000000000000002-bbbb already exists")
	}
	limited := func(count, attached, disks int) *world {
		w := va(ebs().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'}")
		w.Edit("{name: ebs.csi.aws.com, nodeID: n1, topologyKeys: null}", "{name: ebs.csi.aws.com, nodeID: n1, topologyKeys: null, allocatable: {count: "+strconv.Itoa(count)+"}}")
		for i := range attached {
			id := "other" + strconv.Itoa(i)
			w.Add("apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-" + id + ", creationTimestamp: '2026-01-01T11:30:05Z'}\nspec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {persistentVolumeName: pv-" + id + "}}\nstatus: {attached: true}\n")
		}
		for i := range disks {
			otherEBS(w, "n1", "nvme"+strconv.Itoa(i+2)+"n1", "259:"+strconv.Itoa(i+5), "other"+strconv.Itoa(i))
		}
		return w
	}
	grows := func() *world {
		return ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).Answers("n1", ebs().Publish(0)).Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}")
	}
	begun := func() *world {
		return grows().EditIn("kind: PersistentVolumeClaim\n", "status: {phase: Bound", "status: {conditions: [{type: Resizing, status: 'True', lastTransitionTime: '2026-01-02T10:00:00Z'}], phase: Bound")
	}
	closed := grows().EditIn("kind: PersistentVolume\n", "capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}").
		EditIn("kind: PersistentVolumeClaim\n", "status: {phase: Bound", "status: {conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}], phase: Bound").
		EditIn("name: web-0, uid", "claimName: data", "claimName: data, readOnly: true").
		Event("Pod", "web-0", sketch.UID+"00", "FileSystemResizeFailed", "kubelet", "n1", "2026-01-02T11:59:00Z", "MountVolume.NodeExpandVolume failed for volume \"pv-data\" requested read-only file system")
	wrongMode := ebsDisk(ebs().Waits().Attached("n1"), "n1").EditIn("name: web-0, uid", "volumeMounts: [{name: data, mountPath: /data}]", "volumeDevices: [{name: data, devicePath: /dev/xvda}]").
		FailedMount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: volume data has volumeMode Filesystem, but is specified in volumeDevices")
	unclassed := pendingClaim(ebs(), "Immediate", "").Edit("storageClassName: fast, resources", "resources").Waits()
	pvcEvent(unclassed, "Normal", "FailedBinding", "persistentvolume-controller", "no persistent volumes available for this claim and no storage class is set")
	timeout := pendingClaim(vol("rancher.io/local-path", "x", ""), "Immediate", anno("rancher.io/local-path")).Waits()
	pvcEvent(timeout, "Warning", "ProvisioningFailed", "rancher.io/local-path_controller-0_6d", "failed to provision volume with StorageClass \"fast\": failed to create volume pvc-c0000000-0000-4000-8000-000000000001: create process timeout after 120 seconds")
	showEach(t, map[string]shown{
		"plugin pods that are not let in":     {refused, "broken: certain csi-plugin-not-on-node Node n1"},
		"a map that hangs, node not probed":   {hangs(), "broken: possible csi-plugin-host-path-missing DaemonSet kube-system/plugin; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"as many attachments as published":    {limited(2, 2, 0), "broken: certain attach-limit-exceeded Node n1"},
		"as many disks as published":          {limited(3, 1, 3).Add(pvOf("ebs.csi.aws.com", "vol-other0")).Edit("name: pv-other,", "name: pv-other0,"), "broken: likely attach-limit-exceeded Node n1"},
		"nobody who enlarges":                 {grows().EditIn("name: controller-0", ", {name: csi-resizer, image: 'registry.k8s.io/sig-storage/csi-resizer:v1.11.1', args: [--csi-address=/csi/csi.sock]}", ""), "degraded: likely resizer-not-working PersistentVolumeClaim shop/data"},
		"nobody who enlarges any more":        {begun().EditIn("name: controller-0", ", {name: csi-resizer, image: 'registry.k8s.io/sig-storage/csi-resizer:v1.11.1', args: [--csi-address=/csi/csi.sock]}", ""), "degraded: likely resizer-not-working PersistentVolumeClaim shop/data"},
		"it enlarges for long":                {begun(), "degraded: unexplained expansion-pending"},
		"its only pod mounts it to read":      {closed, "degraded: certain expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"a controller that is nowhere":        {grows().Drop("name: controller-0"), "degraded: unexplained expansion-pending"},
		"a device of a claim for files":       {wrongMode, "broken: certain volume-mode-mismatch PersistentVolumeClaim shop/data"},
		"no class, and none is the default":   {unclassed, "broken: certain storageclass-missing PersistentVolumeClaim shop/data"},
		"a helper that nobody saw, timed out": {timeout, "broken: likely helper-pod-failed PersistentVolumeClaim shop/data"},
	})
}

// TestPodWithoutANode: nothing is wrong with its volume, and the report says what keeps it.
func TestPodWithoutANode(t *testing.T) {
	t.Parallel()
	const message = "0/3 nodes are available: 3 Insufficient cpu."
	for words, want := range map[string]string{message: "it is not scheduled (" + message + ")", "": "it has no node, and no scheduler says why (it asks for default-scheduler)."} {
		w := unscheduled(ebs(), message)
		if words == "" {
			w.Drop("reason: FailedScheduling").EditIn("name: web-0, uid", "{type: PodScheduled, status: 'False', reason: Unschedulable, message: \""+message+"\", lastTransitionTime: '2026-01-02T11:30:00Z'}", "")
		}
		got, r := w.Verdict(t, Catalog(), "pvc shop/data")
		if got != "healthy" || !strings.Contains(r.Summary, want) {
			t.Errorf("%s: %s", got, r.Summary)
		}
	}
}

// TestWhoRefuses: what the kubelet fails at by itself is not said to be the driver's word.
func TestWhoRefuses(t *testing.T) {
	t.Parallel()
	for words, driver := range map[string]bool{
		"mkdir /var/lib/kubelet/pods/x/volumes/kubernetes.io~csi/pv-data: not a directory": false,
		"rpc error: code = Internal desc = the operation did not succeed":                  true,
	} {
		said := ""
		_, r := attachedEBS().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : "+words).Verdict(t, Catalog(), "pvc shop/data")
		for _, u := range r.Unexplained {
			said += u.Message + u.Answer + "\n"
		}
		if strings.Contains(said, "The driver ebs.csi.aws.com on node n1 refuses") != driver {
			t.Errorf("%s: %s", words, said)
		}
	}
}
