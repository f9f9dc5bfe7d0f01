package attach_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

const (
	podsOfN1  = "/data/kubelet/pods/w/volumes/kubernetes.io~csi/pv-1/mount"
	initTable = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n22 21 8:16 / /data rw shared:2 - xfs /dev/sdb rw"
)

// plugged is a pod that waits for a share of a driver whose plugin's container has the
// kubelet's directory at a path of its own choice; kubelet works below /data/kubelet.
func plugged(mountPath, phase string) *sketch.Sketch {
	return sketch.New(`
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: share.example.com}, spec: {attachRequired: false}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: share.example.com, nodeID: n1}]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: c1}, spec: {volumeName: pv-1, accessModes: [ReadWriteMany]}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {accessModes: [ReadWriteMany], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: share.example.com, volumeHandle: h-1}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-0, uid: w, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, containers: [{name: app, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: ` + phase + `}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: share-node, uid: ds}
spec: {selector: {matchLabels: {app: share}}, template: {metadata: {labels: {app: share}}, spec: {containers: [{name: reg, args: [--kubelet-registration-path=` + mountPath + `/plugins/share.example.com/csi.sock]}]}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: share-node-1, uid: b30107b1-71de-574e-b7c8-d066624f460f, creationTimestamp: '2026-01-01T11:30:00Z', labels: {app: share}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: share-node, uid: ds, controller: true}]}
spec:
  nodeName: n1
  containers:
  - {name: reg, args: [--kubelet-registration-path=` + mountPath + `/plugins/share.example.com/csi.sock], volumeMounts: [{name: k, mountPath: ` + mountPath + `}]}
  volumes: [{name: k, hostPath: {path: ` + mountPath + `}}]
status: {phase: Running, containerStatuses: [{name: reg, ready: true, state: {running: {startedAt: '2026-01-01T11:30:00Z'}}}]}
`)
}

func failedMount(text string) string {
	return `{apiVersion: v1, kind: Event, metadata: {namespace: shop, name: e1, creationTimestamp: '2026-01-02T11:59:00Z'}, involvedObject: {kind: Pod, namespace: shop, name: web-0, uid: w}, reason: FailedMount, type: Warning, count: 3, firstTimestamp: '2026-01-02T11:31:00Z', lastTimestamp: '2026-01-02T11:59:00Z', source: {component: kubelet, host: n1}, message: '` + text + `'}`
}

// onNode is the node with the plugin's own mount table beside that of the machine, and a
// socket in the kubelet's registry.
func onNode(s *sketch.Sketch, socket, plugin string, more ...string) *sketch.Sketch {
	return s.Node("n1", append([]string{
		"proc/1/mountinfo", initTable,
		"proc/9/comm", "kubelet", "proc/9/cmdline", "/usr/bin/kubelet\u2400--root-dir=/data/kubelet\u2400", "proc/9/cgroup", "0::/system.slice/kubelet.service",
		"proc/9/ns/mnt", "@link mnt:[4026531841]", "proc/9/stat", "9 (kubelet) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0", "proc/9/status", "Name:\tkubelet\nUid:\t0\t0\t0\t0",
		"proc/40/comm", "share", "proc/40/cgroup", "0::/kubepods.slice/kubepods-podb30107b1_71de_574e_b7c8_d066624f460f.slice/cri-containerd-aa.scope", "proc/40/ns/mnt", "@link mnt:[4026532000]", "proc/40/mountinfo", plugin,
		"data/kubelet/pods/w/volumes/kubernetes.io~csi/pv-1/vol_data.json", "{}",
		"data/kubelet/plugins_registry/" + socket + "-reg.sock", "@socket",
	}, more...)...)
}

func TestKubeletRootDirWrong(t *testing.T) {
	t.Parallel()
	const (
		mine    = "share.example.com"
		overlay = "28 1 0:170 / / rw - overlay overlay rw"
		theirs  = overlay + "\n29 28 8:2 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/sda2 rw"
		one     = overlay + "\n29 28 8:16 /kubelet /data/kubelet rw shared:2 - xfs /dev/sdb rw"
		other   = overlay + "\n29 28 8:2 /srv/kubelet /data/kubelet rw - ext4 /dev/sda2 rw"
		at      = "\n30 29 0:50 / " + podsOfN1 + " rw - nfs4 s:/p rw"
		missed  = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = lstat ` + podsOfN1 + `: no such file or directory`
		refused = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = share is full`
		silence = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`
	)
	wrong := []string{"certain DaemonSet share-node"}
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		want  []string
	}{
		"the names differ, a link makes the sockets meet": {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount(missed)), mine, theirs, "var/lib/kubelet", "@link ../../data/kubelet"), wrong},
		"the same, refused for another reason":            {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount(refused)), mine, theirs, "var/lib/kubelet", "@link ../../data/kubelet"), []string{}},
		"mounted in another directory of that name":       {onNode(plugged("/data/kubelet", "Running"), mine, other+at), wrong},
		"mounted into the container's own root":           {onNode(plugged("/data/kubelet", "Running"), mine, overlay+"\n30 28 0:50 / "+podsOfN1+" rw - nfs4 s:/p rw"), wrong},
		"another directory, and its mounts fail":          {onNode(plugged("/data/kubelet", "Pending").Add(failedMount(refused)), mine, other), wrong},
		"another directory, and nobody suffers":           {onNode(plugged("/data/kubelet", "Running"), mine, other), []string{}},
		"one directory, mounts fail":                      {onNode(plugged("/data/kubelet", "Pending").Add(failedMount(refused)), mine, one), []string{}},
		"one directory, a private host":                   {onNode(plugged("/data/kubelet", "Running"), mine, one+at), []string{}},
		"registered nowhere, the copy still lists it":     {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount("driver name share.example.com not found in the list of registered CSI drivers")), mine, theirs), wrong},
		"another socket in the registry":                  {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount(silence)), "disk.example.com", theirs), wrong},
		"another socket, and the driver answers":          {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount(refused)), "disk.example.com", theirs), []string{}},
		"its socket is in the registry":                   {onNode(plugged("/var/lib/kubelet", "Pending").Add(failedMount(refused)), mine, theirs), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.scene.Ask(t, "pod shop/web-0", attach.KubeletRootDirWrong)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
