package causes

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestLooksSuit: where nothing explains a failure, the looks that come next ask who acted at that step, and on the node what a
// volume of its kind rests on: no program of another kind, of a volume without a CSI driver nothing of one, and of a refusal to
// attach the controller's words before the node plugin's.
func TestLooksSuit(t *testing.T) {
	t.Parallel()
	const disks, ofCSI = "lsblk", "kubernetes.io.csi"
	csi := func(driver string) func() *world { return func() *world { return vol(driver, "id-1", "") } }
	tree := func(source string) func() *world {
		return func() *world { return sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\n"+source) }
	}
	attached := func(driver string) func() *world {
		return func() *world { return csi(driver)().Edit("attachRequired: false", "attachRequired: true") }
	}
	for name, c := range map[string]struct {
		world func() *world
		shows string // what the look at the node asks for
	}{
		"a disk of Amazon's":                       {ebs, disks},
		"a disk of Azure's":                        {csi("disk.csi.azure.com"), disks},
		"a disk of vSphere's":                      {csi("csi.vsphere.vmware.com"), disks},
		"an image of Ceph":                         {rbd, "/sys/bus/rbd"},
		"a share of CephFS":                        {cephfs, "debug/ceph"},
		"a share over NFS":                         {nfs, "nfsstat"},
		"a share of EFS":                           {csi("efs.csi.aws.com"), "nfsstat"},
		"a share over SMB":                         {smb, "cifs"},
		"a bucket":                                 {csi("s3.csi.aws.com"), "' fuse'"},
		"a parallel filesystem":                    {csi("lustre.csi.storage.gke.io"), ofCSI},
		"a parallel filesystem, which is attached": {attached("spectrumscale.csi.ibm.com"), ofCSI},
		"an array, whose network nothing tells":    {attached("csi-powerstore.dellemc.com"), disks},
		"an unknown driver without attachments":    {csi("storage.example.com"), ofCSI},
		"in-tree: NFS":                             {tree("nfs: {server: 10.9.0.5, path: /e}"), "nfsstat"},
		"in-tree: Fibre Channel":                   {tree("fc: {targetWWNs: ['500a0981891b8dc5'], lun: 2, fsType: ext4}"), "multipath"},
		"in-tree: CephFS":                          {tree("cephfs: {monitors: ['10.9.1.1:6789'], path: /, user: admin}"), "debug/ceph"},
		"in-tree: Azure Files":                     {tree("azureFile: {shareName: s, secretName: x}"), "cifs"},
		"in-tree: Gluster":                         {tree("glusterfs: {endpoints: e, path: v}"), "' fuse'"},
		"in-tree: a local disk":                    {func() *world { return localDir("/mnt/disks/vol1") }, disks},
		"in-tree: a directory":                     {tree("hostPath: {path: /srv/x}"), disks},
	} {
		for step, words := range map[string]string{
			"attach":  "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed",
			"stage":   stageFails("the operation did not succeed"),
			"publish": "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed",
		} {
			t.Run(name+"/"+step, func(t *testing.T) {
				t.Parallel()
				w, of := c.world().Waits(), "csi"
				if strings.HasPrefix(name, "in-tree") {
					of = "kubelet"
				}
				switch {
				case step != "attach":
					w.FailedMount(words)
				case w.Attaches() || strings.Contains(name, "attached") || strings.Contains(name, "array"):
					w.Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", words)
				default:
					return // nobody attaches it
				}
				looksSuit(t, w, of, step, c.shows)
			})
		}
	}
}

// looksSuit compares the looks of a volume's first unexplained failure.
func looksSuit(t *testing.T, w *world, of, step, shows string) {
	t.Helper()
	got, r := w.Verdict(t, Catalog(), "pvc shop/data")
	if len(r.Unexplained) == 0 {
		t.Fatalf("explained: %s", got)
	}
	var logs, nodes []string
	for _, n := range r.Unexplained[0].Next {
		for _, command := range n.Commands {
			if _, on, ok := strings.Cut(command, " -m -- "); !ok {
				logs = append(logs, command)
			} else if !strings.HasPrefix(on, "journalctl -u kubelet") {
				nodes = append(nodes, on)
			}
		}
	}
	spoken := func(who string) int {
		return slices.IndexFunc(logs, func(l string) bool { return strings.Contains(l, " "+who) })
	}
	switch {
	case of == "kubelet" && len(logs) > 0:
		t.Errorf("the looks ask a CSI driver: %q", logs)
	case of == "csi" && step == "attach" && (spoken("controller-0") < 0 || spoken("plugin-1") >= 0):
		t.Errorf("the controller refused, and the looks are %q", logs)
	case of == "csi" && step != "attach" && spoken("plugin-1") != 0:
		t.Errorf("the plugin refused, and the looks are %q", logs)
	}
	for _, n := range nodes {
		if !strings.Contains(n, shows) {
			t.Errorf("on the node is asked %q, not %s", n, shows)
		}
	}
	if step != "attach" && len(nodes) == 0 {
		t.Error("the node is not asked")
	}
}
