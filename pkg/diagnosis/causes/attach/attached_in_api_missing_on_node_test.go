package attach_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// sanVolume is a volume of 10 GiB that the API calls attached to n1, where a pod waits and
// the driver says something, beside the disks of n1.
func sanVolume(says string, disks ...string) *sketch.Sketch {
	va := snapshot.AttachmentName("lun--17", "san.example.com", "n1")
	return sketch.New(`
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: v1}
spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: san.example.com, volumeHandle: lun--17}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-data, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
`, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: `+va+`, uid: a1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {attacher: san.example.com, nodeName: n1, source: {persistentVolumeName: pv-data}}
status: {attached: true}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
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
lastTimestamp: '2026-01-02T11:59:00Z'
message: 'MountVolume.MountDevice failed for volume "pv-data" : rpc error: code = Internal desc = `+says+`'
`).Node("n1", disks...)
}

// disk is one of a node: name, number, size in GiB, serial, WWID.
func disk(name, number, sectors, serial, wwid string) []string {
	at := "sys/class/block/" + name
	out := []string{at + "/dev", number, at + "/size", sectors, at + "/holders", "@dir"}
	if serial != "" {
		out = append(out, at+"/device/serial", serial)
	}
	if wwid != "" {
		out = append(out, at+"/device/wwid", wwid)
	}
	return out
}

const (
	tenGiB  = "20971520"
	fiveGiB = "10485760"
	wwn     = "60060e8021c6a5005060c6a500000b41"
)

// secondVolume is another volume of the driver on n1, whose serial is its handle.
const secondVolume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-other, uid: v2}
spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce], csi: {driver: san.example.com, volumeHandle: lun-0badcafe18}}
status: {phase: Bound}
`

func TestAttachedInAPIMissingOnNode(t *testing.T) {
	t.Parallel()
	other := disk("sdb", "8:16", fiveGiB, "lun-0badcafe18", "")
	va := snapshot.AttachmentName("lun--17", "san.example.com", "n1")
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"the driver's word alone":        {sanVolume("disk for lun--17 not found", other...), []string{"likely VolumeAttachment " + va}},
		"its other disks are recognised": {sanVolume("context deadline exceeded", other...).Add(secondVolume), []string{"certain VolumeAttachment " + va}},
		"its own PV was not read": {sanVolume("context deadline exceeded", other...).Add(secondVolume).Gap("api//persistentvolumes", "Truncated").
			Add("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: san}\nprovisioner: san.example.com\n").Edit("{volumeName: pv-data,", "{volumeName: pv-data, storageClassName: san,").
			Edit("name: pv-data, uid: v1}\nspec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: san.example.com, volumeHandle: lun--17}}",
				"name: pv-third, uid: v1}\nspec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], csi: {driver: san.example.com, volumeHandle: lun-3}}"), []string{}},
		"other words, and nothing to compare":        {sanVolume("context deadline exceeded", other...), []string{}},
		"it names a WWN that is not there":           {sanVolume("no such device: wwn "+wwn, other...), []string{"certain VolumeAttachment " + va}},
		"it names a path that is not there":          {sanVolume("device /dev/disk/by-id/virtio-0a1b2c is not on the node", other...), []string{"certain VolumeAttachment " + va}},
		"it names a WWN that is there":               {sanVolume("no such device: wwn "+wwn, disk("sdc", "8:32", tenGiB, "", "naa."+wwn)...), []string{}},
		"its WWN is there under another prefix":      {sanVolume("device with serial 3"+wwn+" not found", disk("sdc", "8:32", tenGiB, "", "naa."+wwn)...), []string{}},
		"it names a path that is there":              {sanVolume("timed out waiting for disk /dev/sdc", disk("sdc", "8:32", tenGiB, "x7781234", "")...), []string{}},
		"an unused disk of its size has no identity": {sanVolume("disk not found", disk("sdc", "8:32", tenGiB, "", "")...), []string{}},
		"an unused disk of its size has another one": {sanVolume("disk not found", disk("sdc", "8:32", tenGiB, "x7781234", "")...), []string{"possible VolumeAttachment " + va}},
		"a disk cannot be told apart":                {sanVolume("disk not found", append(disk("sdc", "8:32", fiveGiB, "", ""), other...)...), []string{"possible VolumeAttachment " + va}},
		"a map is missing, not a disk":               {sanVolume("no multipath device found", other...), []string{}},
		"attached this moment":                       {sanVolume("disk not found", other...).Edit("uid: a1, creationTimestamp: '2026-01-02T11:30:00Z'", "uid: a1, creationTimestamp: '2026-01-02T11:59:30Z'"), []string{}},
		"it is being detached":                       {sanVolume("disk not found", other...).Edit("uid: a1,", "uid: a1, deletionTimestamp: '2026-01-02T11:40:00Z', finalizers: [external-attacher/san-example-com],"), []string{}},
		"the list of disks was cut":                  {sanVolume("disk not found", other...).Gap("node/n1", "Truncated"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", attach.AttachedInAPIMissingOnNode)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttachedInAPIUndone: Longhorn has the volume detached under an attachment that the API
// calls attached, and nothing asks Longhorn for another. No node needs to be looked at.
func TestAttachedInAPIUndone(t *testing.T) {
	t.Parallel()
	const lh = "apiVersion: longhorn.io/v1beta2\nkind: "
	va := snapshot.AttachmentName("lun--17", "san.example.com", "n1")
	undone := func(spec, status, tickets string) *sketch.Sketch {
		s := sanVolume("volume lun--17 is not attached").Edit("csi: {driver: san.example.com", "csi: {driver: driver.longhorn.io").Edit("attacher: san.example.com", "attacher: driver.longhorn.io")
		return s.Add(lh+"Volume\nmetadata: {name: lun--17, namespace: longhorn-system}\nspec: {size: '10737418240', "+spec+"}\nstatus: {"+status+"}\n",
			lh+"VolumeAttachment\nmetadata: {name: lun--17, namespace: longhorn-system}\nspec: {volume: lun--17, attachmentTickets: {"+tickets+"}}\n")
	}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"detached, and no ticket":      {undone("nodeID: ''", "state: detached, robustness: unknown", ""), []string{"certain VolumeAttachment " + va}},
		"a ticket asks for the node":   {undone("nodeID: ''", "state: detached, robustness: unknown", "csi-1: {type: csi-attacher, nodeID: n1}"), []string{}},
		"it is still detaching":        {undone("nodeID: ''", "state: detaching, robustness: unknown", ""), []string{}},
		"it shall be on the node":      {undone("nodeID: n1", "state: detached, robustness: unknown", ""), []string{}},
		"no replica of it can be used": {undone("nodeID: ''", "state: detached, robustness: faulted", ""), []string{}},
		"it is being restored":         {undone("nodeID: ''", "state: detached, robustness: unknown, restoreRequired: true", ""), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", attach.AttachedInAPIMissingOnNode)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
