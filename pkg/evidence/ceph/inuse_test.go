package ceph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/device"
)

// image is an RBD image that a pod on n1 waits for, which the driver has called still
// being used from a moment until noon.
func image(since string) *sketch.Sketch {
	node := func(name string) string {
		return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", uid: " + name + "}\nstatus: {conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
	}
	csi := func(name string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + name + "}\nspec: {drivers: [{name: rbd.csi.ceph.com, nodeID: " + name + "}]}\n"
	}
	return sketch.New(node("n1"), node("n2"), csi("n1"), csi("n2"), `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: v1}
spec:
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: shop, name: data, uid: c1}
  csi: {driver: rbd.csi.ceph.com, volumeHandle: h, volumeAttributes: {pool: k8s, imageName: csi-vol-1}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-data, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec:
  nodeName: n1
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: app, image: i}]
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
`, `
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: e}
involvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}
reason: FailedMount
type: Warning
source: {component: kubelet, host: n1}
firstTimestamp: '`+since+`'
lastTimestamp: '2026-01-02T11:59:50Z'
message: 'MountVolume.MountDevice failed for volume "pv-data" : rpc error: code = Internal desc = rbd image k8s/csi-vol-1 is still being used'
`).Node("n1").Node("n2")
}

// TestInUse: the sentence is about watches, and a dead client's watch ends.
func TestInUse(t *testing.T) {
	t.Parallel()
	const long, short = "2026-01-02T11:10:00Z", "2026-01-02T11:58:50Z"
	const outside, stale = "possible PersistentVolume pv-data", "likely PersistentVolume pv-data waiting"
	down := func(since string) string {
		return "status: {conditions: [{type: Ready, status: Unknown, lastTransitionTime: '" + since + "'}]}\n"
	}
	const up = "status: {conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
	lost := func(s *sketch.Sketch, since string) *sketch.Sketch {
		return s.Edit("metadata: {name: n2, uid: n2}\n"+up, "metadata: {name: n2, uid: n2}\n"+down(since)).Add(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-old, uid: p0, creationTimestamp: '2026-01-01T11:00:00Z'}
spec:
  nodeName: n2
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: app, image: i}]
status: {phase: Running}
`)
	}
	mirror := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: ceph, name: m, uid: m}\nspec: {nodeName: n2, containers: [{name: d, image: i, command: [/usr/bin/rbd-mirror, --foreground]}]}\nstatus: {phase: Running}\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"for long, nobody went": {image(long), []string{outside}},
		"for long, the driver's log says it, too": {image(long).Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: ceph, name: plugin, uid: g}\nspec: {nodeName: n1, volumes: [{name: s, hostPath: {path: /var/lib/kubelet/plugins/rbd.csi.ceph.com}}], containers: [{name: rbd, image: i}]}\nstatus: {phase: Running}\n").File("logs/ceph/plugin/rbd.log",
			"E0102 11:59:55.114233 4410 utils.go:240] ID: 311 Req-ID: h GRPC error: rpc error: code = Internal desc = rbd image k8s/csi-vol-1 is still being used\n"), []string{outside}},
		"for a minute, nobody went":             {image(short), []string{}},
		"for long, a mirror daemon":             {image(long).Add(mirror), []string{}},
		"for long, pods were not read":          {image(long).Gap("api//pods", "Forbidden"), []string{outside}},
		"an owner's node went a moment ago":     {lost(image(short), "2026-01-02T11:58:30Z"), []string{stale}},
		"an owner's node went long ago":         {lost(image(long), "2026-01-02T11:05:00Z"), []string{outside}},
		"an owner's node went, a mirror daemon": {lost(image(short), "2026-01-02T11:58:30Z").Add(mirror), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", attach.VolumeMappedOutsideCluster, device.RBDLockOrWatcherStale)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
