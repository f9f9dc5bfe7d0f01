package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestTheNumberIsNotTheDisk: a LUN that was given to another volume leaves the disk of the former one
// under the same target and number on the node that had it (mounted, as nobody unmounted it there). The
// WWIDs of the two nodes tell them apart.
func TestTheNumberIsNotTheDisk(t *testing.T) {
	t.Parallel()
	const iqn, old, now = "iqn.2010-06.org.lunastor:pool", "naa.6001405a1b2c3d4e5f60718293a4b5c6", "naa.6001405bbbbbbbbbbbbbbbbbbbbbbbbb"
	pool := func(first, second string) *world {
		w := sketch.NewWorld("csi.lunastor.net", "vol-77", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.lunastor.net, fsType: ext4, volumeHandle: vol-77, volumeAttributes: {targetPortal: '10.0.0.9:3260', iqn: '"+iqn+"', lun: '3'}}")
		for node, wwid := range map[string]string{"n1": first, "n2": second} {
			s := "sys/class/iscsi_session/session1/"
			w = w.Disk(node, "sdc", "8:32", "device/wwid", wwid).LiveExt4(node, "sdc").
				Entries(node, s+"targetname", iqn, s+"state", "LOGGED_IN", s+"device/target2:0:0/2:0:0:3/block/sdc", "@dir")
		}
		w = w.Runs(0).Attached("n1").Mounts("n1", "8:32 / "+w.Stage()+" rw,relatime shared:9 - ext4 /dev/sdc rw", "8:32 / "+w.Publish(0)+" rw,relatime shared:9 - ext4 /dev/sdc rw").Answers("n1", w.Stage(), w.Publish(0))
		return w.Mounts("n2", "8:32 / /var/lib/kubelet/plugins/kubernetes.io/csi/csi.lunastor.net/0f0e0d0c0b0a09080706050403020100ffeeddccbbaa99887766554433221100/globalmount rw,relatime shared:9 - ext4 /dev/sdc rw")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"the same disk":            {pool(now, now), "broken: certain device-mapped-on-other-node Device n2/8:32"},
		"no WWID was read":         {pool(now, ""), "unknown: likely device-mapped-on-other-node Device n2/8:32"},
		"the disk of a former one": {pool(now, old), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}
