package transport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
)

const (
	bucketPod = "/var/lib/kubelet/pods/w/volumes/kubernetes.io~csi/pv-1/mount"
	bucketPV  = "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pv-1/globalmount"
)

// bucket is a claim whose pod is in a phase, and the plugin of its driver, (re)started at a
// time of the day.
func bucket(phase, plugin string) *sketch.Sketch {
	return sketch.New(`
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: bucket.example.com}, spec: {attachRequired: false}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: bucket.example.com, nodeID: n1}]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: c1}, spec: {volumeName: pv-1, accessModes: [ReadWriteMany]}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {accessModes: [ReadWriteMany], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: bucket.example.com, volumeHandle: h-1}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-0, uid: w, creationTimestamp: '2026-01-02T10:00:00Z'}
spec: {nodeName: n1, containers: [{name: app, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: ` + phase + `, startTime: '2026-01-02T10:00:00Z'}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: kube-system, name: bucket, uid: ds}, spec: {selector: {matchLabels: {app: b}}, template: {spec: {containers: [{name: reg, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/bucket.example.com/csi.sock]}]}}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: bucket-1, uid: b, creationTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: bucket, uid: ds, controller: true}]}
spec: {nodeName: n1, containers: [{name: reg, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/bucket.example.com/csi.sock]}]}
status: {phase: Running, containerStatuses: [{name: reg, ready: true, state: {running: {startedAt: '2026-01-02T` + plugin + `:00Z'}}}]}
`)
}

func complains(s *sketch.Sketch, text string) *sketch.Sketch {
	return s.Add(`{apiVersion: v1, kind: Event, metadata: {namespace: shop, name: e1, creationTimestamp: '2026-01-02T11:59:00Z'}, involvedObject: {kind: Pod, namespace: shop, name: web-0, uid: w}, reason: FailedMount, type: Warning, lastTimestamp: '2026-01-02T11:59:00Z', source: {component: kubelet, host: n1}, message: '` + text + `'}`)
}

// answers is the node with mounts of a type, each with what statfs says of it.
func answers(s *sketch.Sketch, fstype string, says ...string) *sketch.Sketch {
	table, entries := "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw", []string{}
	for i := 0; i < len(says); i += 2 {
		table += "\n3" + string(rune('0'+i)) + " 21 0:57 / " + says[i] + " rw shared:9 - " + fstype + " bucket rw"
		if says[i+1] != "" {
			entries = append(entries, "@statfs"+says[i], "@error "+says[i+1])
		}
	}
	return s.Node("n1", append(entries, "proc/1/mountinfo", table)...)
}

func TestFUSEProcessDead(t *testing.T) {
	t.Parallel()
	const (
		setup = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = stat ` + bucketPV + `: transport endpoint is not connected`
		short = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = transport endpoint is not connected`
	)
	gone := `{apiVersion: v1, kind: Node, metadata: {name: n2}}`
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		ask   string
		want  []string
	}{
		"a running pod":                       {answers(bucket("Running", "11:00"), "fuse.s3fs", bucketPod, "ENOTCONN"), "", []string{"certain Pod web-0"}},
		"a plugin that was not started anew":  {answers(bucket("Running", "09:00"), "fuse", bucketPod, "ENOTCONN"), "", []string{"certain Pod web-0"}},
		"only the staged mount, a pod waits":  {answers(bucket("Pending", "11:00"), "fuse.juicefs", bucketPV, "ENOTCONN"), "", []string{"certain Pod web-0"}},
		"a dead mount of nobody":              {answers(bucket("Running", "11:00").Edit("nodeName: n1, containers: [{name: app", "nodeName: n2, containers: [{name: app").Add(gone), "fuse.s3fs", bucketPV, "ENOTCONN"), "node n1", []string{"certain Node n1"}},
		"another error":                       {answers(bucket("Running", "11:00"), "fuse.s3fs", bucketPod, "EIO"), "", []string{}},
		"the kernel's client":                 {answers(bucket("Running", "11:00"), "ceph", bucketPod, "ENOTCONN"), "", []string{}},
		"nobody asked the mount":              {complains(answers(bucket("Running", "11:00"), "fuse.s3fs", bucketPod, ""), short), "", []string{"likely Pod web-0"}},
		"node not seen, plugin started later": {complains(bucket("Running", "11:00"), short), "", []string{"likely Pod web-0"}},
		"node not seen, a path of the volume": {complains(bucket("Pending", "09:00"), setup), "", []string{"possible Pod web-0"}},
		"node not seen, words alone":          {complains(bucket("Running", "09:00"), short), "", []string{}},
		"the words of another socket":         {complains(answers(bucket("Running", "11:00"), "ext4"), short), "", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := c.ask
			if ask == "" {
				ask = "pvc shop/data"
			}
			if diff := cmp.Diff(c.want, sketch.Causes(c.scene.Ask(t, ask, transport.FUSEDaemonDead))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFUSEMountKept: the node's mount was made anew and answers, the container has what it got at its start.
func TestFUSEMountKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inside string // what the container's own table has at the volume's place
		want   []string
	}{
		"the present one":               {"0:57 / /data rw - fuse.juicefs bucket rw", []string{}},
		"the one of before":             {"0:44 / /data rw - fuse.juicefs bucket rw", []string{"likely Pod web-0"}},
		"both, the present one on top":  {"0:44 / /data rw - fuse.juicefs bucket rw\n92 90 0:57 / /data rw - fuse.juicefs bucket rw", []string{}},
		"another volume's at its place": {"0:44 / /cache rw - fuse.juicefs bucket rw", []string{}},
		"no FUSE mount":                 {"8:2 /x /data rw - ext4 /dev/sda2 rw", []string{}},
		"another container's volume":    {"0:60 / /data rw - fuse.juicefs other rw", []string{}},
		"the container's own over it":   {"0:57 / /data rw - fuse.juicefs bucket rw\n92 91 0:70 / /data rw - fuse.gocryptfs /data rw", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const uid = "11111111-2222-4333-8444-555555555555"
			at := strings.Replace(bucketPod, "/w/", "/"+uid+"/", 1)
			s := bucket("Running", "11:00").Edit("name: web-0, uid: w", "name: web-0, uid: "+uid).Edit("containers: [{name: app, image: i}]", "containers: [{name: app, image: i, volumeMounts: [{name: d, mountPath: /data}]}]").
				Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 0:57 / "+at+" rw shared:9 - fuse.juicefs bucket rw\n31 21 0:60 / "+strings.Replace(at, "pv-1", "pv-2", 1)+" rw shared:9 - fuse.juicefs other rw", "@statfs"+at, "1000 900 900 1000 900 4096",
					"proc/7/comm", "app", "proc/7/cgroup", "0::/kubepods.slice/kubepods-pod"+strings.ReplaceAll(uid, "-", "_")+".slice/cri-containerd-1.scope", "proc/7/ns/mnt", "@link mnt:[4026532777]",
					"proc/7/mountinfo", "90 1 0:170 / / rw - overlay overlay rw\n91 90 "+c.inside)
			if diff := cmp.Diff(c.want, sketch.Causes(s.Ask(t, "pvc shop/data", transport.FUSEDaemonDead))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
