package causes

import "testing"

// TestOneFilesystemOnTwoNodes: what one machine may mount works on two of them until it is destroyed.
func TestOneFilesystemOnTwoNodes(t *testing.T) {
	t.Parallel()
	both := func(w *world, mounted func(*world, string, int) *world) *world {
		for i, n := range []string{"n1", "n2"} {
			mounted(w.Runs(i), n, i).Answers(n, w.Publish(i), w.Stage())
		}
		return w
	}
	disks := func(list string) *world { return both(modes(ebs(), list).Attached("n1").Attached("n2"), ebsMounted) }
	const line = "259:1 / "
	readers := func(super string) *world { // the second pod has it to read
		w := ebsMounted(modes(ebs(), "ReadWriteMany").Attached("n1").Attached("n2").Runs(0).Runs(1), "n1", 0).Answers("n1", ebs().Publish(0)).
			EditIn("name: web-1, uid", "{claimName: data}", "{claimName: data, readOnly: true}")
		return ebsDisk(w, "n2").Mounts("n2", line+w.Stage()+" "+super+",relatime shared:64 - ext4 /dev/nvme1n1 "+super, line+w.Publish(1)+" ro,relatime shared:64 - ext4 /dev/nvme1n1 "+super).LiveExt4("n2", "nvme1n1").Answers("n2", w.Publish(1), w.Stage())
	}
	turned := func(of string) *world { // the filesystem of a node may not be written to any more, and one pod only reads
		w := ebsDisk(modes(ebs(), "ReadWriteMany").Attached("n1").Runs(0), "n1").Mounts("n1", line+ebs().Stage()+" rw,relatime shared:64 - ext4 /dev/nvme1n1 ro", line+ebs().Publish(0)+" rw,relatime shared:64 - ext4 /dev/nvme1n1 ro").LiveExt4("n1", "nvme1n1").Answers("n1", ebs().Publish(0), ebs().Stage())
		return second(w, "reader", of, "", "Pending", "").EditIn("name: reader, uid", "{claimName: data}", "{claimName: data, readOnly: true}").EditIn("name: reader, uid", "2026-01-02T11:30:00Z", "2026-01-02T11:59:30Z")
	}
	unlike := disks("ReadWriteMany").Without("n2", "@content/259:1").Entries("n2", "@content/259:1", "TYPE=ext4\nUUID=2f2f2f2f-0000-4000-8000-000000000002\nSTATE=dirty")
	const shared = "filesystem-checked-while-mounted Device n1/259:1"
	showEach(t, map[string]shown{
		"ReadWriteMany, and a file system of one machine": {disks("ReadWriteMany"), "degraded: certain " + shared},
		"ReadWriteOnce, and nobody kept the second away":  {disks("ReadWriteOnce"), "degraded: certain " + shared},
		"what the disks hold was not read":                {disks("ReadWriteMany").Without("n1", "@content/259:1"), "unknown"},
		"another disk on the second node":                 {unlike, "healthy"},
		"the second pod only reads":                       {readers("rw"), "healthy"},
		"the second node only reads":                      {readers("ro"), "healthy"},
		"the writer's node only reads":                    {turned("n2"), "broken: unexplained volume-readonly"},
		"the writer's node only reads, as one pod there":  {turned("n1"), "broken: unexplained volume-readonly"},
		"the second node was not looked at":               {disks("ReadWriteMany").Unprobed("n2", "PodRejected"), "unknown"},
		"a share":                                         {both(nfs(), nfsMounted), "healthy"},
		"a file system of a cluster":                      {both(cephfs(), cephfsMounted), "healthy"},
	})
}
