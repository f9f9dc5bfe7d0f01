package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestOtherNamespaces: the same path, or the same disk, in the table of somebody else: a service
// with mounts of its own, a shim, a nested kubelet, another root of the kubelet, the driver's plugin.
func TestOtherNamespaces(t *testing.T) {
	t.Parallel()
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	left := func() *world { return ebsDisk(moved(ebs()), "n1").LiveExt4("n1", "nvme1n1") }
	at := func(dev, path, follows string) string {
		return "901 900 " + dev + " / " + path + " rw,relatime" + follows + " - ext4 /dev/nvme1n1 rw"
	}
	pub, stage := ebs().Publish(0), ebs().Stage()
	old := strings.Replace(stage, "/var/lib/kubelet", "/var/snap/microk8s/common/var/lib/kubelet", 1)
	kind := func(w *world, table string) *world {
		return unit(w, "n1", 7700, "kubelet", table).Entries("n1", "proc/7700/cgroup", "0::/docker/9d3ebc7eb9b3d6f1e205da9cfab437c89d3760d0765a29a6bcbccf4ad51a2cb1", "proc/7700/cmdline", "/usr/bin/kubelet␀--config=/var/lib/kubelet/config.yaml␀")
	}
	plugin := func(w *world, lines string) *world {
		return w.Process("n1", 4100, "5000c0de-0000-4000-8000-000000000001", "driver", 4026532500, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n"+lines)
	}
	shim := func(w *world, table string) *world {
		return unit(w, "n1", 8800, "containerd-shim", table).Entries("n1", "proc/8800/cgroup", "0::/system.slice/containerd.service")
	}
	showEach(t, map[string]shown{
		"PrivateMounts, it follows":                {unit(runs(), "n1", 1888, "snmpd", at("259:1", pub, " master:64")), "healthy"},
		"PrivateTmp, from before the mount":        {unit(runs(), "n1", 1888, "snmpd", ""), "healthy"},
		"a private copy, the pod runs":             {unit(runs(), "n1", 1888, "snmpd", at("259:1", pub, "")), "healthy"},
		"a nested kubelet, its own disk":           {kind(runs(), at("8:2", pub, "")), "healthy"},
		"a nested kubelet's own disk, moved":       {kind(left(), at("8:2", pub, "")), "broken: likely mount-lazily-detached Device n1/259:1"},
		"a nested kubelet has the disk, moved":     {kind(left(), at("259:1", pub, "")), "broken: certain mount-pinned-in-namespace Process n1/7700"},
		"the plugin shares it":                     {plugin(runs(), at("259:1", stage, " shared:64")), "healthy"},
		"the plugin keeps it":                      {plugin(left(), at("259:1", stage, "")), "broken: certain mount-pinned-in-namespace Pod kube-system/plugin-1"},
		"a shim keeps it":                          {shim(left(), at("259:1", pub, "")), "broken: certain mount-pinned-in-namespace Process n1/8800"},
		"an old root of the kubelet has it":        {left().Mounts("n1", "259:1 / "+old+" rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"), "broken: certain device-mapped-on-other-node Device n1/259:1; unexplained unmount-blocked"},
		"an old root, and the plugin shares it":    {plugin(left().Mounts("n1", "259:1 / "+old+" rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"), at("259:1", old, " shared:64")), "broken: certain device-mapped-on-other-node Device n1/259:1; unexplained unmount-blocked"},
		"an old root of the kubelet, the pod runs": {runs().Mounts("n1", "259:1 / "+old+" rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"), "healthy"},
		"a chroot keeps it":                        {unit(left(), "n1", 1888, "backupd", at("259:1", "/mnt/x", "")).Entries("n1", "proc/1888/root", "@link /srv/chroot"), "broken: likely mount-pinned-in-namespace Process n1/1888"},
		"a chroot, the pod runs":                   {unit(runs(), "n1", 1888, "backupd", "").Entries("n1", "proc/1888/root", "@link /srv/chroot"), "unknown"},
		"a chroot that shows nothing":              {unit(left(), "n1", 1888, "backupd", "").Entries("n1", "proc/1888/root", "@link /srv/chroot"), "broken: possible mount-lazily-detached Device n1/259:1; possible mount-pinned-in-namespace Device n1/259:1; unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
	})
}

// TestOneThingUnread: what would show the look-alike is exactly what nobody could read.
func TestOneThingUnread(t *testing.T) {
	t.Parallel()
	const busy = "mount failed: exit status 32\nOutput: mount: /g: /dev/sdc already mounted or mount point busy."
	const denied = "mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.0.5:/export/data /x\nOutput: mount.nfs: access denied by server while mounting 10.9.0.5:/export/data"
	waits := func() *world {
		return sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").FailedMount(stageFails(busy))
	}
	twin := func() *world {
		return twinned(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)), "n1", "259:1", "nvme1n1", "ext4")
	}
	showEach(t, map[string]shown{
		"the named disk":                   {waits().Entries("n1", "sys/class/block/sdc/dev", "@error EACCES"), "broken: unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the PV of what is mounted beside": {twin().Drop("name: pv-twin").Gap("api//persistentvolumes", "Forbidden"), "broken: likely mount-of-dead-device Device n1/259:1"},
		"the kernel log":                   {nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms", "sys/module/apparmor/parameters/enabled", "Y", "@kmsg", "@error EPERM").FailedMount(stageFails(denied)), "broken: likely nfs-access-denied Node n1"},
		"no module could deny":             {nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms", "@kmsg", "@error EPERM").FailedMount(stageFails(denied)), "broken: certain nfs-access-denied Node n1"},
		"the kernel log is there":          {nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms", "sys/module/apparmor/parameters/enabled", "Y").FailedMount(stageFails(denied)), "broken: certain nfs-access-denied Node n1"},
		"whether a module is loaded":       {cephfs().Waits().Without("n1", "proc/modules").Entries("n1", "proc/modules", "@error EACCES").FailedMount(stageFails("mount failed: the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestBusyDirectoryOfASecret: what a pod mounts besides claims keeps it, too, where the kubelet calls the directory busy;
// a copy of it alone does not. (rancher/rancher#19850, kubernetes/kubernetes#65110)
func TestBusyDirectoryOfASecret(t *testing.T) {
	t.Parallel()
	const uid, dir = sketch.UID + "00", "/var/lib/kubelet/pods/" + sketch.UID + "00/volumes/kubernetes.io~secret/cred"
	const tmpfs, unexplained = " rw,relatime - tmpfs tmpfs rw,size=8k", "broken: unexplained pod-stuck-terminating"
	ended := func(copies string) *world {
		w := ebs().Runs(0).EditIn("name: web-0,", "persistentVolumeClaim: {claimName: data}", "secret: {secretName: cred}").EditIn("name: web-0,", ", labels", deleted+", labels").Without("n1", "proc/5000/").
			EditIn("name: web-0,", "state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:31:10Z'}}")
		return agent(w, "n1", copies)
	}
	busy := func(w *world) *world {
		return w.Event("Pod", "web-0", uid, "FailedUnMount", "kubelet", "n1", "2026-01-02T11:59:00Z", "UnmountVolume.TearDown failed for volume \"cred\" : remove "+dir+": device or resource busy")
	}
	const copied = "905 900 0:318 / /host" + dir + tmpfs
	for name, c := range map[string]shown{
		"a monitor has it mounted":        {busy(ended(copied)), "broken: certain mount-pinned-in-namespace Pod monitoring/agent-1"},
		"and nobody calls it busy":        {ended(copied), unexplained},
		"it has that of another pod":      {busy(ended(strings.Replace(copied, uid, sketch.UID+"77", 1))), unexplained},
		"the host has it mounted as well": {busy(ended(copied)).Mounts("n1", "0:318 / "+dir+" rw,relatime shared:318 - tmpfs tmpfs rw,size=8k"), unexplained},
		"nobody has it mounted any more":  {busy(ended("")), unexplained},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "pod shop/web-0", c.want)
		})
	}
}
