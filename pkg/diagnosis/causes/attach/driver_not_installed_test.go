package attach_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

func TestDriverNotInstalled(t *testing.T) {
	t.Parallel()
	wanted := func() *sketch.Sketch {
		return sketch.New(`
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: c1}, spec: {volumeName: pv-1, accessModes: [ReadWriteOnce]}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: gone.example.com, volumeHandle: h-1}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, containers: [{name: app, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: disk.example.com, nodeID: n1}]}}
`)
	}
	mounted := func() *sketch.Sketch {
		return wanted().Edit("phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]", "phase: Running, containerStatuses: [{name: app, state: {terminated: {exitCode: 0}}}]").Add(`
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: csi-1, uid: va1}, spec: {attacher: gone.example.com, nodeName: n1, source: {persistentVolumeName: pv-1}}, status: {attached: true}}
`)
	}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"mounted before it was removed":   {mounted(), []string{}},
		"a pod cannot end without it":     {mounted().Edit("uid: p1,", "uid: p1, deletionTimestamp: '2026-01-02T11:40:00Z',"), []string{"certain CSIDriver gone.example.com"}},
		"a pod still runs":                {mounted().Edit("uid: p1,", "uid: p1, deletionTimestamp: '2026-01-02T11:40:00Z',").Edit("terminated: {exitCode: 0}", "running: {}"), []string{}},
		"its finalizer keeps the pod":     {mounted().Edit("uid: p1,", "uid: p1, finalizers: [example.com/f], deletionTimestamp: '2026-01-02T11:40:00Z',"), []string{}},
		"an attachment is to go":          {mounted().Edit("uid: va1", "uid: va1, deletionTimestamp: '2026-01-02T11:40:00Z'"), []string{"certain CSIDriver gone.example.com"}},
		"nothing of it":                   {wanted(), []string{"certain CSIDriver gone.example.com"}},
		"pods of a namespace were unread": {wanted().Gap("api//pods/kube-system", "Forbidden"), []string{"likely CSIDriver gone.example.com"}},
		"drivers were unread":             {wanted().Gap("api/storage.k8s.io/csidrivers", "Forbidden"), []string{}},
		"a node has it":                   {wanted().Edit("disk.example.com", "gone.example.com"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sketch.Causes(c.sketch.Ask(t, "pvc shop/data", attach.DriverNotInstalled))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDriverOfAPodsOwnVolume: who needs the driver is named, also where it is no PersistentVolume.
func TestDriverOfAPodsOwnVolume(t *testing.T) {
	t.Parallel()
	r := sketch.New(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: api-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, containers: [{name: app, image: i}], volumes: [{name: keys, csi: {driver: gone.example.com}}]}
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: disk.example.com, nodeID: n1}]}}
`).Ask(t, "pod shop/api-0", attach.DriverNotInstalled)
	if len(r.RootCauses) != 1 || !strings.Contains(r.RootCauses[0].Message, "serves it. Volume keys of pod shop/api-0 needs it.") {
		t.Errorf("says %+v", r.RootCauses)
	}
}
