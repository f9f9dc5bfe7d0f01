package device_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/device"
)

const sanObjects = `
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: array.example.com, volumeHandle: h-1}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: c1}, spec: {volumeName: pv-1}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-2}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: more, uid: c2}, csi: {driver: array.example.com, volumeHandle: h-2}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: more, uid: c2}, spec: {volumeName: pv-2}, status: {phase: Bound}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: csi-1, creationTimestamp: '2026-01-02T11:30:00Z'}, spec: {attacher: array.example.com, nodeName: n1, source: {persistentVolumeName: pv-1}}, status: {attached: true, attachmentMetadata: {serialNumber: 600c0ff000aa0001}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: w1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, containers: [{name: app}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: ok-0, uid: 22222222-2222-4222-8222-222222222222, creationTimestamp: '2026-01-01T11:30:00Z'}
spec: {nodeName: n2, containers: [{name: app}], volumes: [{name: d, persistentVolumeClaim: {claimName: more}}]}
status: {phase: Running, containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-01T11:30:00Z'}}}]}
`

// TestMultipathOff: that a driver needs a map is known from its words or from its other
// volumes, and why there is none from the node.
func TestMultipathOff(t *testing.T) {
	t.Parallel()
	event := func(text string) string {
		return `{apiVersion: v1, kind: Event, metadata: {namespace: shop, name: e1}, involvedObject: {kind: Pod, namespace: shop, name: db-0, uid: w1}, reason: FailedMount, type: Warning, count: 3, lastTimestamp: '2026-01-02T11:59:00Z', source: {component: kubelet, host: n1}, message: 'MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Internal desc = ` + text + `'}`
	}
	disk := func(name, dev string) []string {
		d := "sys/class/block/" + name + "/"
		return []string{d + "dev", dev, d + "size", "20971520", d + "device/wwid", "naa.600c0ff000aa0001", d + "device/vendor", "ARRAY", d + "device/model", "LUN", d + "device/state", "running"}
	}
	join := func(lists ...[]string) []string {
		var out []string
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	off := []string{"@multipathd/show maps json", "ENOENT"}
	daemon := func(conf string) []string {
		return []string{"@multipathd/show maps json", `{"major_version":0,"minor_version":1,"maps":[]}`, "etc/multipath.conf", conf, "etc/multipath/wwids", "# none"}
	}
	mapped := []string{"sys/class/block/dm-0/dev", "253:0", "sys/class/block/dm-0/size", "20971520", "sys/class/block/dm-0/dm/uuid", "mpath-3600c0ff000aa0002", "sys/class/block/dm-0/dm/name", "mpatha",
		"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 253:0 / /var/lib/kubelet/pods/22222222-2222-4222-8222-222222222222/volumes/kubernetes.io~csi/pv-2/mount rw - xfs /dev/mapper/mpatha rw"}
	const sought = "device not found with serial 3600c0ff000aa0001 or target " // hpe-storage/csi-driver#372
	const anyWords, asking = "device not found", "could not find multipath device for wwn 3600c0ff000aa0001"
	world := func(text string, n1 []string, others bool) *sketch.Sketch {
		s := sketch.New(sanObjects)
		if text != "" {
			s.Add(event(text))
		}
		if n1 != nil {
			s.Node("n1", n1...)
		}
		if others {
			s.Node("n2", mapped...)
		}
		return s
	}
	certain, likely := []string{"certain Node n1"}, []string{"likely Node n1"}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"any words, its other volume has a map": {world(anyWords, join(disk("sdb", "8:16"), off), true), certain},
		"any words, a driver of single paths":   {world(anyWords, join(disk("sdb", "8:16"), off), false), []string{}},
		"it asks for a map":                     {world(asking, join(disk("sdb", "8:16"), off), false), certain},
		"excluded":                              {world(asking, join(disk("sdb", "8:16"), daemon("blacklist {\n devnode \"^sd\"\n}")), false), certain},
		"one path, and two are wanted":          {world(anyWords, join(disk("sdb", "8:16"), daemon("defaults {\n find_multipaths strict\n}")), true), certain},
		"it asks, why was not seen":             {world(asking, join(disk("sdb", "8:16"), daemon("defaults {\n}")), false), likely},
		"it asks, the node was not looked at":   {world(asking, nil, false), likely},
		"any words, the node was not looked at": {world(anyWords, nil, true), []string{}},
		"HPE's finds no map, and the disk":      {world(sought, join(disk("sdb", "8:16"), off), false), certain},
		"HPE's finds no map of one path":        {world(sought, join(disk("sdb", "8:16"), daemon("defaults {\n user_friendly_names yes\n}")), false), likely},
		"the same, and nothing is configured":   {world(sought, join(disk("sdb", "8:16"), daemon("")[:2]), false), likely},
		"it asks for a map of one path":         {world(asking, join(disk("sdb", "8:16"), daemon("")), true), likely},
		"a single path is taken":                {world(sought, join(disk("sdb", "8:16"), daemon("defaults {\n find_multipaths no\n}")), false), []string{}},
		"its identity is known":                 {world(sought, join(disk("sdb", "8:16"), daemon(""), []string{"etc/multipath/wwids", "/3600c0ff000aa0001/"}), false), []string{}},
		"it has two paths":                      {world(sought, join(disk("sdb", "8:16"), disk("sdc", "8:32"), daemon("")), false), []string{}},
		"one path, and the driver says no such": {world(anyWords, join(disk("sdb", "8:16"), daemon("")), true), []string{}},
		"its configuration was not read":        {world(sought, join(disk("sdb", "8:16"), daemon("")[:2], []string{"etc/multipath.conf", "@error EACCES"}), false), []string{}},
		"HPE's finds none, nobody looked":       {world(sought, nil, false), []string{}},
		"it asks, and no disk is there":         {world(asking, off, false), []string{}},
		"nothing fails":                         {world("", join(disk("sdb", "8:16"), off), true), []string{}},
		"a map is there by now": {world(asking, join(disk("sdb", "8:16"), off, []string{"sys/class/block/dm-1/dev", "253:1", "sys/class/block/dm-1/size", "20971520",
			"sys/class/block/dm-1/dm/uuid", "mpath-3600c0ff000aa0001", "sys/class/block/dm-1/dm/name", "mpathb", "sys/class/block/dm-1/slaves/sdb", "@link ../../sdb", "sys/class/block/sdb/holders/dm-1", "@link ../../dm-1"}), false), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sketch.Causes(c.sketch.Ask(t, "pvc shop/data", device.MultipathOffForSAN))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
