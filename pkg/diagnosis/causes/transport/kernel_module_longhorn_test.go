package transport

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// v2Volume is a Longhorn volume of data engine v2 that has been attaching to n1 for half
// an hour; Longhorn says that modules are missing there.
func v2Volume() *sketch.Sketch {
	const lh = "apiVersion: longhorn.io/v1beta2\nkind: "
	return sketch.New(
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data, uid: c}\nspec: {volumeName: pvc-1a2b3c4d, accessModes: [ReadWriteOnce]}\nstatus: {phase: Bound}\n",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pvc-1a2b3c4d}\nspec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c}, csi: {driver: driver.longhorn.io, volumeHandle: pvc-1a2b3c4d}}\nstatus: {phase: Bound}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-0, uid: u, creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: n1, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}\nstatus: {phase: Pending}\n",
		lh+"Volume\nmetadata: {name: pvc-1a2b3c4d, namespace: longhorn-system}\nspec: {dataEngine: v2, frontend: blockdev, nodeID: n1}\nstatus: {state: attaching}\n",
		lh+"Node\nmetadata: {name: n1, namespace: longhorn-system}\nspec: {allowScheduling: true}\nstatus: {conditions: [{type: KernelModulesLoaded, status: 'False', reason: KernelModulesNotLoaded, message: 'Kernel modules [nvme_tcp vfio_pci] are not loaded on node n1'}]}\n",
	)
}

func TestModulesOfLonghornV2(t *testing.T) {
	t.Parallel()
	const dep, builtin = "lib/modules/6.1.0/modules.dep", "lib/modules/6.1.0/modules.builtin"
	node := func(s *sketch.Sketch, loaded, onDisk string) *sketch.Sketch {
		return s.Node("n1", "proc/sys/kernel/osrelease", "6.1.0", "proc/modules", "overlay 28672 0 - Live 0x0\n"+loaded, dep, "kernel/fs/xfs/xfs.ko:\n"+onDisk, builtin, "kernel/fs/ext4/ext4.ko\n")
	}
	all := "nvme_tcp 4096 0 - Live 0x0\nvfio_pci 4096 0 - Live 0x0\n"
	disk := "kernel/drivers/nvme/host/nvme-tcp.ko:\nkernel/drivers/vfio/pci/vfio-pci.ko:\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"not in this kernel":                  {node(v2Volume(), "", ""), []string{"certain Node n1"}},
		"on the disk, nobody loads them":      {node(v2Volume(), "", disk), []string{"certain Node n1"}},
		"loaded meanwhile":                    {node(v2Volume(), all, disk), []string{}},
		"the node was not looked at":          {v2Volume(), []string{"possible Node n1"}},
		"Longhorn finds them, the node not":   {node(v2Volume().Edit("status: 'False', reason: KernelModulesNotLoaded", "status: 'True', reason: ''"), "", ""), []string{"certain Node n1"}},
		"Longhorn finds them, on the disk":    {node(v2Volume().Edit("status: 'False', reason: KernelModulesNotLoaded", "status: 'True', reason: ''"), "", disk), []string{}},
		"the v1 engine needs none of them":    {node(v2Volume().Edit("dataEngine: v2", "dataEngine: v1"), "", ""), []string{}},
		"a module of another frontend":        {v2Volume().Edit("[nvme_tcp vfio_pci]", "[ublk_drv]"), []string{}},
		"it has been attaching for a minute":  {node(v2Volume().Edit("11:30:00Z", "11:59:00Z"), "", ""), []string{}},
		"it is attached and works":            {node(v2Volume().Edit("state: attaching", "state: attached"), "", ""), []string{}},
		"a module of the v1 engine is listed": {v2Volume().Edit("[nvme_tcp vfio_pci]", "[iscsi_tcp dm_crypt]"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sketch.Causes(c.sketch.Ask(t, "pvc shop/data", KernelModuleMissing))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
