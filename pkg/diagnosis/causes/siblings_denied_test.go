package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

const containerLabel = "system_u:system_r:container_t:s0:c12,c27"

// refusedUse has SELinux deny a process of a container of web-0 something.
func refusedUse(w *world, what string) *world {
	return w.Entries("n1", "sys/fs/selinux/enforce", "1", "proc/5000/attr/current", containerLabel).
		Kernel("n1", "62|audit: type=1400 audit(1767355138.000:77): avc:  denied  "+what+" permissive=0")
}

// seesIn gives the container of web-0 mounts of its own.
func seesIn(w *world, lines ...string) *world {
	table := "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 0:171 / /dev rw,nosuid - tmpfs tmpfs rw,mode=755\n" + strings.Join(lines, "\n")
	return w.Without("n1", "proc/5000/mountinfo").Entries("n1", "proc/5000/mountinfo", table)
}

// TestDeniedInUse: nobody complains of a mount; the container is denied what it does in the volume, and the kernel names
// most filesystems without a device by their type alone.
func TestDeniedInUse(t *testing.T) {
	t.Parallel()
	const (
		cifs     = "902 900 0:61 / /data rw,relatime - cifs //10.9.0.6/data rw,vers=3.0"
		root     = `{ read } for  pid=5077 comm="ls" name="/" dev="cifs" ino=5 scontext=` + containerLabel + ` tcontext=system_u:object_r:cifs_t:s0 tclass=dir`
		pod      = " security-module-denies Pod shop/web-0"
		nfsRoot  = `{ read } for  pid=5077 comm="ls" name="/" dev="0:60" ino=5 scontext=` + containerLabel + ` tcontext=system_u:object_r:nfs_t:s0 tclass=dir`
		elses    = `902 900 0:99 / /other rw,relatime - cifs //10.9.0.7/other rw,vers=3.0`
		template = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
	)
	share := func() *world { return smbMounted(smb().Runs(0), "n1", 0).Answers("n1", smb().Publish(0)) }
	file := strings.NewReplacer(`name="/"`, `name="app.db"`, "tclass=dir", "tclass=file").Replace(root)
	fuse := sketch.NewWorld("csi.juicefs.com", "jfs-1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: jfs-1}").Runs(0)
	fuse = fuse.Mounts("n1", "0:63 / "+fuse.Publish(0)+" rw,relatime shared:63 - fuse.juicefs JuiceFS:data rw,user_id=0").Answers("n1", fuse.Publish(0))
	notReady := func(w *world) *world {
		return w.Edit("{type: Ready, status: 'True', lastTransitionTime: '2025-12-31T12:00:00Z'}", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:50:00Z'}")
	}
	showEach(t, map[string]shown{
		"the root of a share":                               {refusedUse(seesIn(share(), cifs), root), "broken: likely" + pod},
		"a file, and another pod's mount fails":             {second(refusedUse(seesIn(share(), cifs), file), "web-x", "n1", "", "Pending", "").Event("Pod", "web-x", "", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount error(115): Operation now in progress"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the root of a share, it is on by now":              {refusedUse(seesIn(share(), cifs), root).Entries("n1", "sys/fs/selinux/booleans/virt_use_samba", "1 1"), "unknown"},
		"the root of a share, it is off by a boolean":       {refusedUse(seesIn(share(), cifs), root).Entries("n1", "sys/fs/selinux/booleans/virt_use_samba", "0 0"), "broken: certain" + pod},
		"the root of a share of FUSE":                       {refusedUse(seesIn(fuse, "902 900 0:63 / /data rw - fuse.juicefs JuiceFS:data rw"), strings.NewReplacer("cifs_t", "fusefs_t", "cifs", "fuse").Replace(root)), "broken: likely" + pod},
		"the root of a share of NFS, by its number":         {refusedUse(nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)), nfsRoot), "broken: likely" + pod},
		"another share of NFS":                              {refusedUse(nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)), strings.Replace(nfsRoot, "0:60", "0:66", 1)), "healthy"},
		"the container has two shares":                      {refusedUse(seesIn(share(), cifs, elses), root), "broken: likely" + pod},
		"what the container sees was not read":              {refusedUse(share(), root), "broken: likely" + pod},
		"another container's process":                       {refusedUse(seesIn(share(), cifs), strings.Replace(root, "c12,c27", "c1,c2", 1)), "healthy"},
		"it is permissive":                                  {refusedUse(seesIn(share(), cifs), root).Without("n1", "sys/fs/selinux/enforce").Entries("n1", "sys/fs/selinux/enforce", "0"), "healthy"},
		"attributes alone":                                  {refusedUse(seesIn(share(), cifs), strings.Replace(root, "{ read }", "{ getattr }", 1)), "healthy"},
		"a file, the pod is not Ready":                      {notReady(refusedUse(seesIn(share(), cifs), file)), "broken: likely" + pod},
		"a file, the pod serves":                            {refusedUse(seesIn(share(), cifs), file), "unknown"},
		"another type":                                      {refusedUse(seesIn(share(), cifs), strings.Replace(root, `dev="cifs"`, `dev="ceph"`, 1)), "healthy"},
		"memory, made for the container":                    {notReady(refusedUse(seesIn(socketDir()), strings.Replace(socketOf, "TARGET", "container_file_t:s0:c12,c27", 1))), "healthy"},
		"a socket of the node in a volume":                  {notReady(refusedUse(seesIn(socketDir()), strings.Replace(socketOf, "TARGET", "container_var_run_t:s0", 1))), "broken: likely" + pod},
		"a socket of the node, and the pod has its /run":    {notReady(refusedUse(seesIn(socketDir().Edit(template, strings.TrimSuffix(template, "]")+", {name: run, hostPath: {path: /run}}]")), strings.Replace(socketOf, "TARGET", "container_var_run_t:s0", 1))), "healthy"},
		"a socket of the node, and a directory on its disk": {notReady(refusedUse(seesIn(socketDir().Edit(template, strings.TrimSuffix(template, "]")+", {name: run, hostPath: {path: /opt}}]")), strings.Replace(socketOf, "TARGET", "container_var_run_t:s0", 1))), "broken: likely" + pod},
	})
}

const socketOf = `{ write } for  pid=5000 comm="app" name="agent.sock" dev="tmpfs" ino=5 scontext=` + containerLabel + ` tcontext=system_u:object_r:TARGET tclass=sock_file`

// socketDir is a volume that is a directory of the node's memory.
func socketDir() *world {
	w := sketch.NewWorld("csi.spiffe.io", "spiffe", "accessModes: [ReadOnlyMany]\ncsi: {driver: csi.spiffe.io, volumeHandle: spiffe}").Runs(0)
	return w.Mounts("n1", "0:26 /agent-sockets "+w.Publish(0)+" ro,relatime shared:63 - tmpfs tmpfs rw,mode=755").Answers("n1", w.Publish(0))
}
