package launch

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestMayBeAnywhere: a disk that nobody attaches is looked for on every node whatever it is called,
// and a share on none.
func TestMayBeAnywhere(t *testing.T) {
	t.Parallel()
	const waits = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}, spec: {volumeName: pv}}\n---\n" +
		"{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, uid: u1}, spec: {nodeName: n1, containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}, status: {phase: Pending}}\n---\n" +
		"{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.org}, spec: {attachRequired: false}}"
	const once, many = "accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteMany]"
	for name, c := range map[string]struct {
		spec string
		want bool
	}{
		"an image of the kubelet, once":   {once + ", rbd: {monitors: [m], image: i}", true},
		"an image of the kubelet, shared": {many + ", rbd: {monitors: [m], image: i}", true},
		"a LUN, shared":                   {many + ", iscsi: {targetPortal: 'p:3260', iqn: i, lun: 0}", true},
		"what nobody knows, once":         {once + ", csi: {driver: d.example.org, volumeHandle: h}", true},
		"what nobody knows, shared":       {many + ", csi: {driver: d.example.org, volumeHandle: h}", false},
		"a share, once":                   {once + ", csi: {driver: d.example.org, volumeHandle: h, volumeAttributes: {server: s, share: /p}}", false},
		"what is attached, once":          {once + ", csi: {driver: other.example.org, volumeHandle: h}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New(waits, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {claimRef: {namespace: a, name: c, uid: c1}, "+c.spec+"}}").Index(t)
			if got := mayBeAnywhere(x, x.VolumeOfPV("pv")); got != c.want {
				t.Errorf("mayBeAnywhere = %t, want %t", got, c.want)
			}
		})
	}
}
