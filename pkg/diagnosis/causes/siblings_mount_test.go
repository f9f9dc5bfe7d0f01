package causes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// pureISCSI is a volume of an array: a disk of a session, known by its serial.
func pureISCSI() *world {
	return sketch.NewWorld("san.csi.example", "600a0980123456789012345678901234", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: san.csi.example, fsType: xfs, volumeHandle: 600a0980123456789012345678901234}")
}

func sanDisk(w *world, node, name, dev string) *world {
	return w.Disk(node, name, dev, "device/wwid", "naa.600a0980123456789012345678901234", "device/vendor", "NETAPP", "device/model", "LUN C-Mode", "device/state", "running")
}

// moved has the pod wait on n2 while n1 still holds the attachment.
func moved(w *world) *world {
	return w.Waits().Edit("nodeName: n1, restartPolicy", "nodeName: n2, restartPolicy").Attached("n1").
		Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another")
}

// unit adds a process of a service of the host with a mount namespace of its own.
func unit(w *world, node string, pid int, name, table string) *world {
	p := fmt.Sprintf("proc/%d/", pid)
	return w.Entries(node, p+"comm", name, p+"cgroup", "0::/system.slice/"+name+".service", p+"cmdline", "/usr/sbin/"+name+"␀", p+"ns/mnt", fmt.Sprintf("@link mnt:[%d]", 4026540000+pid),
		p+"mountinfo", "900 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n"+table,
		p+"status", fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t%d", name, pid, pid, pid))
}

const agentUID = "9000c0de-0000-4000-8000-000000000009"

// agent adds a pod of a DaemonSet that looks at the host's root.
func agent(w *world, node string, table string) *world {
	return w.Process(node, 9000, agentUID, "agent", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n"+table).
		Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: monitoring, name: agent-1, uid: '" + agentUID + "', creationTimestamp: '2025-12-24T12:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: '9000c0de-0000-4000-8000-000000000008', controller: true}]}\nspec: {nodeName: " + node + ", containers: [{name: agent, image: i, volumeMounts: [{name: root, mountPath: /host, readOnly: true}]}], volumes: [{name: root, hostPath: {path: /}}]}\nstatus: {phase: Running, startTime: '2025-12-24T12:00:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: agent, ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-24T12:00:00Z'}}}]}")
}

// cannotStart says that the container of web-0 does not come up again.
func cannotStart(w *world, message string) *world {
	return w.Edit("{name: app, ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://"+strings.Repeat("ab", 31)+"00', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}",
		"{name: app, ready: false, restartCount: 4, image: i, imageID: '', lastState: {terminated: {exitCode: 137, reason: Error, finishedAt: '2026-01-02T11:50:00Z'}}, state: {waiting: {reason: CreateContainerError, message: '"+message+"'}}}").
		Edit("{type: Ready, status: 'True', lastTransitionTime: '2025-12-31T12:00:00Z'}", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:50:00Z'}").
		Without("n1", "proc/5000/").
		Event("Pod", "web-0", sketch.UID+"00", "Failed", "kubelet", "n1", "2026-01-02T11:59:00Z", "Error: "+message)
}

const pods = "/var/lib/kubelet/pods/" + sketch.UID + "00/"

func TestSiblingsSubpath(t *testing.T) {
	t.Parallel()
	config := func(w *world) *world {
		return w.Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, configMap: {name: conf}}]").
			Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /etc/app/app.ini, subPath: app.ini}]").
			Add("\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: shop, name: conf, uid: 'cf000000-0000-4000-8000-000000000001'}")
	}
	running := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	const bind = pods + "volume-subpaths/conf/app/1"
	const gone = "8:2 " + pods + "volumes/kubernetes.io~configmap/conf/..2025_12_31_12_00_00.1/app.ini//deleted " + bind + " rw,relatime shared:1 - ext4 /dev/sda2 rw"
	const runc = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting \"" + bind + "\" to rootfs at \"/etc/app/app.ini\": mount " + bind + ":/etc/app/app.ini (via /proc/self/fd/6), flags: 0x5001: no such file or directory: unknown"
	const crun = "container create failed: mount `" + bind + "` to `etc/app/app.ini`: No such file or directory"
	const unable = "failed to prepare subPath for volumeMount \"data\" of container \"app\""
	sub := func(w *world) *world {
		return w.Edit("{name: data, mountPath: /data}", "{name: data, mountPath: /data, subPath: db}")
	}
	deleted := func(w *world) *world {
		return w.Mounts("n1", "0:60 /db//deleted "+pods+"volume-subpaths/pv-data/app/0 rw,relatime shared:60 - nfs4 10.9.0.5:/export/data/db rw,vers=4.2,hard,addr=10.9.0.5")
	}
	log := func(w *world) *world {
		return w.File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z open /data/x: Stale file handle\n")
	}
	nfsSub := func(w *world) *world {
		return nfsMounted(w.Runs(0).Edit("{name: data, mountPath: /data}", "{name: data, mountPath: /data, subPath: logs}"), "n1", 0).Answers("n1", w.Publish(0)).
			Mounts("n1", "0:60 /logs "+pods+"volume-subpaths/pv-data/app/0 rw,relatime shared:60 - nfs4 10.9.0.5:/export/data/logs rw,vers=4.2,hard,addr=10.9.0.5")
	}
	for name, c := range map[string]struct {
		w         *world
		ask, want string
	}{
		"runc, a ConfigMap":                         {cannotStart(config(running()), runc).Mounts("n1", gone), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
		"crun, a ConfigMap":                         {cannotStart(config(running()), crun).Mounts("n1", gone), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
		"no words":                                  {cannotStart(config(running()), "the operation did not succeed").Mounts("n1", gone), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
		"it backs off, and nobody looked":           {crashes(config(running())).Edit("exitCode: 1, reason: Error,", "exitCode: 128, reason: StartError, message: '"+runc+"',").Unprobed("n1", "PodRejected"), "pod shop/web-0", "broken: likely subpath-bind-stale Pod shop/web-0"},
		"no mount point in an image that is closed": {cannotStart(running(), "runc create failed: error mounting \""+ebs().Publish(0)+"\" to rootfs at \"/data\": mkdir /run/containerd/io.containerd.runtime.v2.task/k8s.io/a/rootfs/data: read-only file system: unknown"), "", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"no room for a directory":                   {cannotStart(ebsMounted(sub(ebs().Runs(0)), "n1", 0).Attached("n1").Entries("n1", "@statfs"+ebs().Publish(0), "2621440 0 0 655360 0 4096"), "failed to create subPath directory for volumeMount \"data\" of container \"app\""), "", "broken: certain filesystem-full PersistentVolumeClaim shop/data"},
		"the node was not looked at":                {cannotStart(config(running()), runc).Unprobed("n1", "PodRejected"), "pod shop/web-0", "broken: likely subpath-bind-stale Pod shop/web-0"},
		"deleted while it runs":                     {config(running()).Mounts("n1", gone), "", "healthy"},
		"a stale handle of one bind":                {nfsSub(nfs()).Entries("n1", "@statfs"+pods+"volume-subpaths/pv-data/app/0", "@error ESTALE"), "", "broken: certain nfs-handle-stale Pod shop/web-0"},
		"a stale handle of the whole":               {nfsSub(nfs()).Entries("n1", "@statfs"+pods+"volume-subpaths/pv-data/app/0", "@error ESTALE", "@statfs"+nfs().Publish(0), "@error ESTALE"), "", "broken: certain nfs-handle-stale Pod shop/web-0"},
		"a directory of the share was deleted, the application says so": {log(deleted(cannotStart(nfsMounted(sub(nfs().Runs(0)), "n1", 0).Answers("n1", nfs().Publish(0)), unable))), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
		"the same, and nobody asked the share":                          {log(deleted(cannotStart(nfsMounted(sub(nfs().Runs(0)), "n1", 0), unable))), "", "broken: certain subpath-bind-stale Pod shop/web-0; likely nfs-handle-stale Pod shop/web-0"},
		"a directory of the volume was deleted": {cannotStart(running().Edit("{name: data, mountPath: /data}", "{name: data, mountPath: /data, subPath: db}"), "failed to prepare subPath for volumeMount \"data\" of container \"app\"").
			Mounts("n1", "259:1 /db//deleted "+pods+"volume-subpaths/pv-data/app/0 rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
		"a pod that cannot end": {config(running()).Without("n1", "proc/5000/").Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:40:00Z', deletionGracePeriodSeconds: 30, uid").
			Edit("state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:40:05Z'}}").Edit("ready: true, restartCount: 0, image: i, imageID: ''", "ready: false, restartCount: 0, image: i, imageID: ''").Mounts("n1", gone), "", "broken: certain subpath-bind-stale Pod shop/web-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ask == "" {
				c.ask = "pod shop/web-0"
			}
			show(t, c.w, c.ask, c.want)
		})
	}
}

func TestSiblingsPinned(t *testing.T) {
	t.Parallel()
	ebsLeft := func() *world { return ebsDisk(moved(ebs()), "n1").LiveExt4("n1", "nvme1n1") }
	pub := "/host" + strings.Replace(ebs().Publish(0), sketch.UID+"00", "0ddc0de0-0000-4000-8000-000000000001", 1)
	const dm = "253:7"
	crypt := func() *world {
		w := sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Disk("n1", "dm-7", dm, "dm/name", "luks-data", "dm/uuid", "CRYPT-LUKS2-0123456789abcdef0123456789abcdef-luks-data", "slaves/sdc", "@link ../../../sdc", "slaves", "@dir").
			Without("n1", "sys/class/block/sdc/holders").Entries("n1", "sys/class/block/sdc/holders/dm-7", "@link ../../../dm-7", "@content/8:32", "TYPE=crypto_LUKS\nUUID=5f")
		return w.Edit("fsType: xfs", "fsType: ext4").LiveExt4("n1", "dm-7")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a pod with a private copy":     {agent(ebsLeft(), "n1", "901 900 259:1 / "+pub+" rw,relatime - ext4 /dev/nvme1n1 rw"), "broken: certain mount-pinned-in-namespace Pod monitoring/agent-1"},
		"a unit of the host":            {unit(ebsLeft(), "n1", 1888, "snmpd", "901 900 259:1 / "+pub[5:]+" rw,relatime - ext4 /dev/nvme1n1 rw"), "broken: certain mount-pinned-in-namespace Process n1/1888"},
		"the copy still follows":        {agent(ebsLeft(), "n1", "901 900 259:1 / "+pub+" rw,relatime master:64 - ext4 /dev/nvme1n1 rw"), "broken: likely mount-pinned-in-namespace Pod monitoring/agent-1"},
		"a mapper in another namespace": {unit(crypt(), "n1", 1888, "backupd", "901 900 "+dm+" / /mnt/x rw,relatime - ext4 /dev/mapper/luks-data rw"), "broken: certain mount-pinned-in-namespace Process n1/1888"},
		"a mapper, detached lazily":     {crypt().Entries("n1", "@claim/"+dm, "EBUSY"), "broken: certain mount-lazily-detached Device n1/253:7"},
		"a mapper that a process has open": {unit(crypt().Without("n1", "sys/fs/ext4/dm-7/").Without("n1", "proc/fs/jbd2/dm-7-8/"), "n1", 1888, "backupd", "").Entries("n1", "@content/"+dm, "TYPE=ext4\nUUID=1f", "proc/1888/fd/3", "@link /dev/mapper/luks-data", "@dev/proc/1888/fd/3", dm, "dev/mapper/luks-data", "@link ../dm-7"),
			"broken: certain device-held-by-process Process n1/1888"},
		"a mapper over what is no header": {crypt().Entries("n1", "@claim/"+dm, "EBUSY").Without("n1", "@content/8:32").Entries("n1", "@content/8:32", "TYPE=ext4\nUUID=1f"), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume"},
		"a mapper over a volume group":    {dmOver(crypt(), "n1", "dm-8", "253:8", "x", "CRYPT-LUKS2-0123456789abcdef0123456789abcde1-x", "dm-7"), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
		"xfs of an array": {agent(sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f", "sys/fs/xfs/sdc/stats/stats", "x"), "n1",
			"901 900 8:32 / /host/x rw,relatime - xfs /dev/sdc rw"), "broken: certain mount-pinned-in-namespace Pod monitoring/agent-1"},
		"the holder's namespace was not read":  {ebsLeft().Entries("n1", "proc/9000/comm", "agent", "proc/9000/ns/mnt", "@error EACCES", "@claim/259:1", "EBUSY"), "broken: possible mount-lazily-detached Device n1/259:1; possible mount-pinned-in-namespace Device n1/259:1; unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
		"another volume is pinned by an agent": {agent(ebsDisk(moved(ebs()), "n1").Disk("n1", "sdx", "65:0"), "n1", "901 900 65:0 / /host/x rw,relatime - ext4 /dev/sdx rw"), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume"},
		"nobody looked, an agent looks at the root": {agent(ebsLeft(), "n1", "").Unprobed("n1", "PodRejected").Edit("2025-12-24T12:00:00Z", "2026-01-01T12:00:00Z"),
			"broken: possible mount-pinned-in-namespace Pod monitoring/agent-1; unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsLeftMounts(t *testing.T) {
	t.Parallel()
	const goneDir = "/var/lib/kubelet/pods/deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99/volumes/"
	holder := func(w *world, dev string, entries ...string) *world {
		return w.Entries("n1", "proc/9100/comm", "tail", "proc/9100/cgroup", "0::/user.slice/user-0.slice/session-3.scope", "proc/9100/cmdline", "tail␀-f␀log␀", "proc/9100/ns/mnt", "@link mnt:[4026531841]",
			"proc/9100/status", "Name:\ttail\nState:\tS (sleeping)\nTgid:\t9100\nPid:\t9100\nPPid:\t1203\nUid:\t0\t0\t0\t0\nNSpid:\t9100").Entries("n1", entries...)
	}
	login := func(w *world, node string) *world {
		const session = "sys/class/iscsi_session/session9/"
		return w.Entries(node, session+"targetname", "iqn.1992-08.com.netapp:sn.1", session+"state", "LOGGED_IN", session+"device/target9:0:0/9:0:0:1/block/sdc", "@dir")
	}
	xfsLeft := func() *world {
		return sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f", "sys/fs/xfs/sdc/stats/stats", "x", "@claim/8:32", "EBUSY")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"orphan of an array's volume":                   {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"), "broken: certain pod-directory-orphaned Node n1"},
		"its pod was removed by force a moment ago":     {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f").Event("Pod", "web-1", "deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99", "Killing", "kubelet", "n1", "2026-01-02T11:59:40Z", "Stopping container app"), "waiting: possible pod-directory-orphaned Node n1 waiting"},
		"its pod was removed by force some minutes ago": {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f").Event("Pod", "web-1", "deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99", "Killing", "kubelet", "n1", "2026-01-02T11:55:40Z", "Stopping container app"), "broken: certain pod-directory-orphaned Node n1"},
		"another pod was removed a moment ago":          {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f").Event("Pod", "web-1", "other", "Killing", "kubelet", "n1", "2026-01-02T11:59:40Z", "Stopping container app"), "broken: certain pod-directory-orphaned Node n1"},
		"its successor was made a moment ago":           {sanDisk(moved(pureISCSI()).EditIn("name: web-0,", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:59:45Z', labels"), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"), "waiting: possible pod-directory-orphaned Node n1 waiting"},
		"its successor was made here a moment ago":      {sanDisk(moved(pureISCSI()).EditIn("name: web-0,", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:59:45Z', labels").EditIn("name: web-0,", "nodeName: n2", "nodeName: n1"), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"), "waiting: possible pod-directory-orphaned Node n1 waiting"},
		"its successor was made here long ago":          {sanDisk(moved(pureISCSI()).EditIn("name: web-0,", "nodeName: n2", "nodeName: n1"), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"), "broken: certain pod-directory-orphaned Node n1"},
		"orphan of a subPath": {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 /db /var/lib/kubelet/pods/deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99/volume-subpaths/pv-data/app/0 rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"),
			"broken: certain pod-directory-orphaned Node n1"},
		"the pods of one namespace were not read": {sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Mounts("n1", "8:32 / "+goneDir+"kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - xfs /dev/sdc rw").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f").Gap("api//pods/other", "Forbidden"),
			"broken: likely pod-directory-orphaned Node n1"},
		"detached lazily: a file is open":                           {holder(xfsLeft(), "8:32", "proc/9100/fd/3", "@link /data/log (deleted)", "@dev/proc/9100/fd/3", "8:32"), "broken: certain mount-lazily-detached Device n1/8:32"},
		"detached lazily: nobody seen":                              {xfsLeft(), "broken: certain mount-lazily-detached Device n1/8:32"},
		"or mounted by a node of its kernel that was not looked at": {xfsLeft().Entries("n1", "proc/sys/kernel/random/boot_id", "b0000000-0000-4000-8000-000000000003").Unprobed("n3", "PodRejected"), "broken: possible mount-lazily-detached Device n1/8:32; possible mount-pinned-in-namespace Device n1/8:32; unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
		"a table was not read, a file is open": {holder(xfsLeft(), "8:32", "proc/9100/fd/3", "@link /data/log", "@dev/proc/9100/fd/3", "8:32", "proc/9200/comm", "x", "proc/9200/ns/mnt", "@error EACCES"),
			"broken: likely mount-lazily-detached Device n1/8:32; possible mount-pinned-in-namespace Device n1/8:32"},
		"another node logged in to a volume that works": {login(sanDisk(sanMounted(pureISCSI()), "n2", "sdc", "8:32"), "n2"), "healthy: certain device-mapped-on-other-node Device n2/8:32"},
		"two nodes of one kernel, and a pod waits":      {login(sanDisk(sanWaits("xfs"), "n2", "sdc", "8:32"), "n2").Entries("n1", "proc/sys/kernel/random/boot_id", "k").Entries("n2", "proc/sys/kernel/random/boot_id", "k"), "broken: unexplained pod-waiting-for-volume"},
		"another node logged in, and a pod waits":       {login(sanDisk(sanWaits("xfs"), "n2", "sdc", "8:32"), "n2"), "broken: certain device-mapped-on-other-node Device n2/8:32"},
		"a process has the device open": {holder(sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f"), "8:32", "proc/9100/fd/3", "@link /dev/sdc"),
			"broken: certain device-held-by-process Process n1/9100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
	unread := func() *world {
		return xfsLeft().Entries("n1", "proc/9000/comm", "agent", "proc/9000/ns/mnt", "@error EACCES")
	}
	sayEach(t, map[string]said{
		"nobody keeps it":            {xfsLeft(), []string{"Drain node n1 and reboot it"}, []string{"could not be read"}},
		"who keeps it may be unread": {unread(), []string{"First read on node n1 what could not be read"}, []string{"reboot"}},
	})
}

func TestSiblingsMissing(t *testing.T) {
	t.Parallel()
	inline := func(volume string) *world {
		return ebs().Runs(0).Edit("persistentVolumeClaim: {claimName: data}", volume)
	}
	later := func(w *world) *world {
		return w.Entries("n1", "@clock", "2026-01-02T12:00:00Z\n3600.00", "proc/uptime", "3600.00 3000.00")
	}
	covered := func(table string) *world {
		w := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
		return w.Mounts("n1", "0:202 / "+w.Publish(0)+" rw,relatime shared:70 - tmpfs tmpfs rw").Without("n1", "proc/5000/").
			Process("n1", 5001, sketch.UID+"00", "app", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 "+table)
	}
	apart := func(table string) *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).Without("n1", "proc/5000/").
			Process("n1", 5001, sketch.UID+"00", "app", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n"+table)
	}
	localWith := func(line, root string) *world {
		w := sketch.NewWorld("", "", localPV).Runs(0).Without("n1", "proc/5000/")
		if line != "" {
			w.Disk("n1", "sdb", "8:16").LiveExt4("n1", "sdb").Mounts("n1", line)
		}
		return w.Process("n1", 5001, sketch.UID+"00", "app", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n"+
			"901 900 8:2 /etc/hostname /etc/hostname rw,relatime - ext4 /dev/sda2 rw\n902 900 8:2 "+root+" /data rw,relatime - ext4 /dev/sda2 rw")
	}
	const at = pods + "volumes/kubernetes.io~csi/pvc-11aa/mount"
	const beneath = "901 900 8:2 " + pods + "volumes/kubernetes.io~csi/pv-data/mount /data rw,relatime - ext4 /dev/sda2 rw"
	for name, c := range map[string]struct {
		w         *world
		ask, want string
	}{
		"a runtime with mounts of its own": {apart(beneath), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"such a runtime, and a subPath":    {apart("901 900 8:2 " + pods + "volume-subpaths/pv-data/app/0 /data rw,relatime - ext4 /dev/sda2 rw"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"only the kubelet's own table has it, and a container has not": {nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Without("n1", "proc/911/ns/mnt").Without("n1", "proc/911/mountinfo").Without("n1", "proc/5000/").
			Entries("n1", "proc/911/ns/mnt", "@link mnt:[4026533911]", "proc/911/mountinfo", "900 1 8:2 / / rw,relatime master:1 - ext4 /dev/sda2 rw\n902 900 0:60 / "+nfs().Publish(0)+" rw,relatime - nfs4 10.9.0.5:/export/data rw,vers=4.2").
			Process("n1", 5000, sketch.UID+"00", "app", 4026532700, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n"+beneath), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"the mount reached the container later":         {apart(beneath + "\n902 901 259:1 / /data rw,relatime master:64 - ext4 /dev/nvme1n1 rw"), "", "healthy"},
		"such a runtime, and a share of another volume": {apart(beneath + "\n902 900 0:60 / /nas rw,relatime - nfs4 10.9.0.5:/nas rw"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"such a runtime, and a container before it":     {apart(beneath).Process("n1", 5002, sketch.UID+"00", "side", 4026532998, "900 1 0:171 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 259:1 / /data rw,relatime - ext4 /dev/nvme1n1 rw"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"another directory of the pod's":                {apart("901 900 8:2 " + pods + "volumes/kubernetes.io~empty-dir/tmp /tmp rw,relatime - ext4 /dev/sda2 rw\n902 900 259:1 / /data rw,relatime - ext4 /dev/nvme1n1 rw"), "", "healthy"},
		"something over it that the container has":      {covered("0:202 / /data rw,relatime - tmpfs tmpfs rw"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"something over it, the container is older":     {covered("259:1 / /data rw,relatime - ext4 /dev/nvme1n1 rw"), "", "healthy"},
		"NFS":                        {nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"CephFS":                     {cephfs().Runs(0), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"after a reboot":             {later(sanDisk(pureISCSI().Runs(0).Attached("n1"), "n1", "sdc", "8:32")), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"an inline NFS":              {inline("nfs: {server: 10.9.0.5, path: /export}").Edit("volumes: [{name: data, nfs", "volumes: [{name: pv-data, nfs").Edit("volumeMounts: [{name: data", "volumeMounts: [{name: pv-data"), "pod shop/web-0", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"a local disk":               {localWith("8:16 / /mnt/disks/vol1 rw,relatime - ext4 /dev/sdb rw", pods+"volumes/kubernetes.io~local-volume/pv-data"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"a local disk, a subPath":    {localWith("8:16 / /mnt/disks/vol1 rw,relatime - ext4 /dev/sdb rw", pods+"volumes/kubernetes.io~local-volume/pv-data/sub"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"a local directory":          {localWith("", pods+"volumes/kubernetes.io~local-volume/pv-data"), "", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"the local directory itself": {localWith("", "/mnt/disks/vol1").Mounts("n1", "8:2 /mnt/disks/vol1 "+pods+"volumes/kubernetes.io~local-volume/pv-data rw,relatime - ext4 /dev/sda2 rw"), "", "healthy"},
		"a directory of the host":    {localWith("", "/mnt/disks/vol1").Edit("local: {path: /mnt/disks/vol1}", "hostPath: {path: /mnt/disks/vol1}"), "", "healthy"},
		"an emptyDir":                {inline("emptyDir: {}"), "pod shop/web-0", "healthy"},
		"a pod that just starts":     {sanWaits("xfs"), "", "broken: unexplained pod-waiting-for-volume"},
		"nobody looked":              {nfs().Runs(0).Unprobed("n1", "PodRejected"), "", "unknown"},
		"the plugin mounted it where kubelet does not see it": {nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Process("n1", 4100, "5000c0de-0000-4000-8000-000000000001", "driver", 4026532500, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 0:60 / "+nfs().Publish(0)+" rw,relatime - nfs4 10.9.0.5:/export/data rw,vers=4.2,hard,addr=10.9.0.5"),
			"", "broken: certain kubelet-root-dir-wrong DaemonSet kube-system/plugin"},
		"and its disk looks as if the host had let go of it": {lvmLocal().Waits().FailedMount("MountVolume.SetUp failed for volume \"pvc-11aa\" : applyFSGroup failed for vol pvc-11aa: lstat "+at+": no such file or directory").
			Disk("n1", "dm-3", "253:3", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:3").LiveExt4("n1", "dm-3").
			Process("n1", 4100, "5000c0de-0000-4000-8000-000000000001", "driver", 4026532500, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 253:3 / "+at+" rw,relatime - ext4 /dev/mapper/datavg-pvc--11aa rw"),
			"", "broken: certain kubelet-root-dir-wrong DaemonSet kube-system/plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ask == "" {
				c.ask = "pvc shop/data"
			}
			show(t, c.w, c.ask, c.want)
		})
	}
}

func TestSiblingsPropagation(t *testing.T) {
	t.Parallel()
	said := func(w *world, words string) *world {
		return w.Waits().Event("Pod", "web-0", sketch.UID+"00", "Failed", "kubelet", "n1", "2026-01-02T11:59:00Z", words)
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"CRI-O":                  {said(nfs(), "Error: container create failed: path \"/var/lib/kubelet\" is mounted on \"/\" but it is not a shared or slave mount").Unprobed("n1", "PodRejected"), "broken: certain mount-propagation-off Node n1"},
		"docker":                 {said(nfs(), "Error: failed to start container \"driver\": Error response from daemon: path /var/lib/kubelet is mounted on / but it is not a shared mount").Unprobed("n1", "PodRejected"), "broken: certain mount-propagation-off Node n1"},
		"the state alone":        {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed").Mounts("n1", "8:3 / /var/lib/kubelet rw,relatime - ext4 /dev/sda3 rw"), "broken: certain mount-propagation-off Node n1"},
		"private somewhere else": {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed").Mounts("n1", "8:3 / /opt rw,relatime - ext4 /dev/sda3 rw"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsDeadDevice(t *testing.T) {
	t.Parallel()
	localDisk := func() *world {
		return localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:17", "/").Mounts("n1", "8:17 / /mnt/disks/vol1 rw,relatime shared:70 - ext4 /dev/sdb1 rw")
	}
	const localPub = pods + "volumes/kubernetes.io~local-volume/pv-data"
	san := func() *world {
		w := pureISCSI().Runs(0).Attached("n1")
		const line = " rw,relatime shared:65 - xfs /dev/sdc rw"
		return w.Mounts("n1", "8:32 / "+w.Stage()+line, "8:32 / "+w.Publish(0)+line)
	}
	const lvm = "253:4"
	lv := func() *world {
		w := lvmLocal().Runs(0)
		return w.Mounts("n1", lvm+" / "+pods+"volumes/kubernetes.io~csi/pvc-11aa/mount rw,relatime shared:70 - ext4 /dev/mapper/datavg-pvc--11aa rw").
			Disk("n1", "dm-4", lvm, "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abc", "slaves", "@dir").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:4")
	}
	const lvPub = pods + "volumes/kubernetes.io~csi/pvc-11aa/mount"
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a local disk was pulled":           {localDisk().Entries("n1", "@statfs/mnt/disks/vol1", "@error EIO", "@statfs"+localPub, "@error EIO"), "broken: certain mount-of-dead-device Device n1/8:17"},
		"a new number for the array's disk": {sanDisk(san(), "n1", "sdf", "8:80").Entries("n1", "@statfs"+pureISCSI().Publish(0), "@error EIO", "@content/8:80", "TYPE=xfs\nUUID=2f"), "broken: certain mount-of-dead-device Device n1/8:32"},
		"the array's disk is offline":       {sanDisk(san(), "n1", "sdc", "8:32").Entries("n1", "sys/class/block/sdc/device/state", "offline", "@statfs"+pureISCSI().Publish(0), "@error EIO", "@content/8:32", "@error EIO"), "broken: certain mount-of-dead-device Device n1/8:32"},
		"the disk below an LV is gone":      {lv().Entries("n1", "@statfs"+lvPub, "@error EIO"), "broken: certain mount-of-dead-device Device n1/253:4"},
		"no number, statfs works":           {san().Answers("n1", pureISCSI().Publish(0)), "broken: certain mount-of-dead-device Device n1/8:32"},
		"the disk below an LV is there":     {lv().Disk("n1", "sdb", "8:16", "holders/dm-4", "@link ../../../dm-4").Entries("n1", "sys/class/block/dm-4/slaves/sdb", "@link ../../../sdb", "@content/8:16", "TYPE=LVM2_member").LiveExt4("n1", "dm-4").Answers("n1", lvPub), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsBlock(t *testing.T) {
	t.Parallel()
	const dir = "var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/"
	san := func() *world {
		w := sketch.NewWorld("san.csi.example", "600a0980123456789012345678901234", "accessModes: [ReadWriteOnce]\nvolumeMode: Block\ncsi: {driver: san.csi.example, volumeHandle: 600a0980123456789012345678901234}")
		return sanDisk(w.Attached("n1"), "n1", "sdc", "8:32")
	}
	gone := func(w *world) *world {
		return w.Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:40:00Z', deletionGracePeriodSeconds: 30, uid").Without("n1", "proc/5000/").
			Edit("state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:40:05Z'}}").Edit("ready: true, restartCount: 0, image: i, imageID: ''", "ready: false, restartCount: 0, image: i, imageID: ''")
	}
	loop := []string{"dev/loop4", "@device block 7:4", "sys/class/block/loop4/dev", "7:4", "sys/class/block/loop4/size", "20971520", "sys/class/block/loop4/holders", "@dir", "sys/class/block/loop4/loop/backing_file", "/" + dir + "pv-data/dev/" + sketch.UID + "00 (deleted)"}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"published as a plain file": {san().Waits().Entries("n1", dir+"publish/pv-data/"+sketch.UID+"00", "", dir+"staging/pv-data/dev", "@device block 8:32").FailedMount("MapVolume.MapPodDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed"), "broken: certain block-volume-staging-lost PersistentVolume pv-data"},
		"a loop is left":            {gone(san().Runs(0)).Entries("n1", loop...), "broken: certain block-volume-unmap-stuck Device n1/7:4"},
		"a loop is left, LVM lies on it": {gone(san().Runs(0)).Entries("n1", loop...).Without("n1", "sys/class/block/loop4/holders").Entries("n1", "sys/class/block/loop4/holders/dm-9", "@link ../../../dm-9", "sys/class/block/dm-9/dev", "253:9", "sys/class/block/dm-9/dm/name", "vg-root", "sys/class/block/dm-9/dm/uuid", "LVM-xyz", "sys/class/block/dm-9/slaves/loop4", "@link ../../../loop4"),
			"broken: certain lvm-claims-device Device n1/7:4"},
		"a loop of a pod that runs": {san().Runs(0).Entries("n1", loop...).Mounts("n1", "0:5 /sdc /"+dir+"publish/pv-data/"+sketch.UID+"00 rw shared:2 - devtmpfs udev rw", "0:5 /sdc /"+dir+"pv-data/dev/"+sketch.UID+"00 rw shared:2 - devtmpfs udev rw"), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsKubeletInContainer(t *testing.T) {
	t.Parallel()
	const docker = "0::/docker/9d3ebc7eb9b3d6f1e205da9cfab437c89d3760d0765a29a6bcbccf4ad51a2cb1"
	contained := func(w *world, root ...string) *world {
		w.Without("n1", "proc/911/")
		w.Entries("n1", "proc/911/comm", "kubelet", "proc/911/cgroup", docker, "proc/911/cmdline", "kubelet␀--config=/var/lib/kubelet/config.yaml␀", "proc/911/ns/mnt", "@link mnt:[4026532330]",
			"proc/911/mountinfo", "28 1 0:50 / / rw - overlay overlay rw\n29 28 8:2 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/sda2 rw", "proc/911/status", "Name:\tkubelet\nState:\tS (sleeping)\nTgid:\t911\nPid:\t911\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t911", "proc/911/stat", "911 (kubelet) S 1 911 911 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615")
		return w.Entries("n1", root...)
	}
	const missing = "MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/disks/vol1\" does not exist"
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a local PV's path":       {contained(localDir("/mnt/disks/vol1").Waits(), "proc/911/root/mnt", "@dir", "mnt/disks/vol1/PG_VERSION", "15").FailedMount(missing), "broken: certain kubelet-in-container Node n1"},
		"a hostPath PV":           {contained(sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\nhostPath: {path: /mnt/disks/vol1, type: Directory}").Waits(), "proc/911/root/mnt", "@dir", "mnt/disks/vol1", "@dir").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : hostPath type check failed: /mnt/disks/vol1 is not a directory"), "broken: certain kubelet-in-container Node n1"},
		"absent for the host too": {contained(localDir("/mnt/disks/vol1").Waits(), "proc/911/root/mnt", "@dir", "mnt", "@dir").FailedMount(missing), "broken: certain hostpath-type-mismatch PersistentVolume pv-data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// TestMountInsideAClosedOne: no cause of the catalog, and the pod itself tells what does not go together.
func TestMountInsideAClosedOne(t *testing.T) {
	t.Parallel()
	w := cannotStart(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)),
		"failed to create containerd task: OCI runtime create failed: runc create failed: error mounting \"/x\" to rootfs at \"/data/conf\": make mountpoint \"/data/conf\": mkdirat /run/rootfs/data/conf: read-only file system: unknown").
		Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data, readOnly: true}}, {name: conf, configMap: {name: conf}}]").
		Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /data/conf}]").
		Add("\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: shop, name: conf, uid: 'cf000000-0000-4000-8000-000000000001'}")
	got, r := w.Verdict(t, Catalog(), "pod shop/web-0")
	if want := "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"; got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	if !strings.Contains(r.Unexplained[0].Answer, "inside volume data, which it has read-only") {
		t.Errorf("the answer is %q", r.Unexplained[0].Answer)
	}
}
