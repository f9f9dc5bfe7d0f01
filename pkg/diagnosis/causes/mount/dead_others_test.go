package mount

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// The disk of a volume was another one's when something was mounted from it: seen from
// the volume that has it now.
func TestMountOfAnotherOnDisk(t *testing.T) {
	t.Parallel()
	const (
		pv = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: NAME}\nspec:\n  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n" +
			"  claimRef: {namespace: shop, name: NAME}\n  csi: {driver: san.example.com, volumeHandle: 'NAME', volumeAttributes: {wwid: naa.WWID}}\n"
		claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: stage}\nspec: {volumeName: stage}\nstatus: {phase: Bound}\n"
		va    = "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-1, creationTimestamp: '2026-01-02T11:20:00Z'}\nspec: {attacher: san.example.com, nodeName: n1, source: {persistentVolumeName: stage}}\nstatus: {attached: true}\n"
		pod   = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: web, uid: u1, creationTimestamp: '2026-01-02T11:20:00Z'}\n" +
			"spec: {nodeName: n1, volumes: [{name: data, persistentVolumeClaim: {claimName: stage}}], containers: [{name: app, image: i}]}\n" +
			"status: {phase: Pending, containerStatuses: [{name: app, image: i, imageID: '', ready: false, restartCount: 0, state: {waiting: {reason: ContainerCreating}}}]}\n"
		wwid     = "60014380a1b2c3d40000700002220000"
		mounted  = "6,1,78000000000,-;EXT4-fs (sdh): mounted filesystem with ordered data mode.\n"
		xfs      = "5,1,78000000000,-;XFS (sdh): Mounting V5 Filesystem\n6,2,78000100000,-;XFS (sdh): Ending clean mount\n"
		attached = "5,3,70000000000,-;sd 2:0:0:9: [sdh] Attached SCSI disk\n"
		inquiry  = "4,4,82000000000,-;sd 2:0:0:9: Inquiry data has changed\n"
		nearby   = "4,4,82000000000,-;sd 2:0:0:7: Inquiry data has changed\n"
		later    = "6,5,83000000000,-;EXT4-fs (sdh): unmounting filesystem.\n6,6,84000000000,-;EXT4-fs (sdh): mounted filesystem with ordered data mode.\n"
	)
	other := "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/old/globalmount"
	for _, tt := range []struct {
		name, point, kernel string
		want                []string
	}{
		{"the LUN became another disk after the mount", other, attached + mounted + inquiry, []string{"certain Device 8:112"}},
		{"an XFS", other, attached + xfs + inquiry, []string{"certain Device 8:112"}},
		{"a path of no volume that the API knows", "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/deleted/globalmount", attached + mounted + inquiry, []string{"certain Device 8:112"}},
		{"the mount was made after the change", other, attached + mounted + inquiry + later, []string{}},
		{"another LUN of the target changed", other, attached + mounted + nearby, []string{}},
		{"a mount of the node itself", "/srv/disk", attached + mounted + inquiry, []string{}},
		{"the volume's own mount", "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/stage/globalmount", attached + mounted, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := sketch.New(sketchPV(pv, "stage", wwid), sketchPV(pv, "old", "60014380a1b2c3d40000700001110000"), claim, va, pod)
			s.Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n29 21 8:112 / "+tt.point+" rw shared:3 - ext4 /dev/sdh rw",
				"sys/class/block/sdh/dev", "8:112", "sys/class/block/sdh/device/wwid", "naa."+wwid, "sys/class/block/sdh/device/state", "running",
				"sys/class/scsi_device/2:0:0:9/device/block/sdh/dev", "8:112", "@kmsg", tt.kernel)
			if diff := cmp.Diff(tt.want, sketch.Causes(s.Ask(t, "pvc shop/stage", MountOfDeadDevice))); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func sketchPV(form, name, wwid string) string {
	return strings.NewReplacer("NAME", name, "WWID", wwid).Replace(form)
}
