package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestMountsThatTheKernelRefuses: each filesystem has words of its own for what it does not know, and for a journal
// that it cannot load; the device's failed requests come before both.
func TestMountsThatTheKernelRefuses(t *testing.T) {
	t.Parallel()
	fs := func(typ string, lines ...string) *world {
		w := attachedEBS().Moved("fsType: ext4", "fsType: "+typ, "TYPE=ext4", "TYPE="+typ).Kernel("n1", lines...)
		return w.FailedMount(strings.ReplaceAll(devFailed("mount: /g/globalmount: wrong fs type, bad option, bad superblock on /dev/nvme1n1, missing codepage or helper program, or other error."), "-t ext4", "-t "+typ))
	}
	const (
		unknown = "broken: certain filesystem-feature-unsupported Device n1/259:1"
		damaged = "broken: likely filesystem-needs-fsck Device n1/259:1"
		why     = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	)
	showEach(t, map[string]shown{
		"btrfs with a feature of a newer kernel": {fs("btrfs", "61|BTRFS error (device nvme1n1): cannot mount because of unknown incompat features (0x5b41)", "61|BTRFS error (device nvme1n1): open_ctree failed"), unknown},
		"btrfs with sectors above the page":      {fs("btrfs", "61|BTRFS error (device nvme1n1): sectorsize 16384 not yet supported for page size 4096", "61|BTRFS error (device nvme1n1): superblock contains fatal errors"), unknown},
		"XFS with blocks above the page":         {fs("xfs", "61|XFS (nvme1n1): File system with blocksize 65536 bytes. Only pagesize (4096) or less will currently work.", "61|XFS (nvme1n1): SB validate failed with error -38."), unknown},
		"ext4 with blocks above the page":        {fs("ext4", "61|EXT4-fs (nvme1n1): bad block size 65536"), unknown},
		"of another disk":                        {fs("ext4", "61|EXT4-fs (nvme9n1): bad block size 65536"), why},
		"a journal that ext4 cannot load":        {fs("ext4", "61|JBD2: journal recovery failed", "61|EXT4-fs (nvme1n1): error loading journal"), damaged},
		"a superblock of XFS that is damaged":    {fs("xfs", "61|XFS (nvme1n1): SB validate failed with error -117."), damaged},
		"a superblock of XFS that is another's":  {fs("xfs", "61|XFS (nvme1n1): Invalid superblock magic number", "61|XFS (nvme1n1): SB validate failed with error -22."), why},
		"a copy of Btrfs":                        {fs("btrfs", "61|BTRFS warning: duplicate device /dev/nvme1n1 devid 1 generation 10 scanned by mount (4242)"), "broken: likely xfs-uuid-duplicate Device n1/259:1"},
		"Btrfs without one of its devices":       {fs("btrfs", "61|BTRFS error (device nvme1n1): devid 2 uuid 228e4f85-b72a-40e1-baf1-cbf66570330e is missing", "61|BTRFS error (device nvme1n1): failed to read the system array: -2", "61|BTRFS error (device nvme1n1): open_ctree failed"), why},
		"a log that XFS cannot replay":           {fs("xfs", "61|XFS (nvme1n1): Starting recovery (logdev: internal)", "61|XFS (nvme1n1): log mount/recovery failed: error -117", "61|XFS (nvme1n1): log mount failed"), damaged},
		"the disk fails under the log":           {fs("xfs", "61|XFS (nvme1n1): log recovery read I/O error at daddr 0x0 len 8 error -5", "61|XFS (nvme1n1): log mount/recovery failed: error -5", "61|XFS (nvme1n1): log mount failed"), why},
		"the disk fails under the journal":       {fs("ext4", "61|I/O error, dev nvme1n1, sector 8388608 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2", "61|EXT4-fs (nvme1n1): error loading journal"), why},
	})
	const beyond, short = "61|mount: attempt to access beyond end of device\\x0anvme1n1: rw=4096, sector=20971616, nr_sectors = 1 limit=20971520", "is smaller than its filesystem"
	sayEach(t, map[string]said{
		"XFS beyond its device":                  {fs("xfs", beyond, "61|XFS (nvme1n1): last sector read failed"), []string{short}, nil},
		"XFS beyond its device, an older kernel": {fs("xfs", "61|attempt to access beyond end of device", "61|nvme1n1: rw=4096, want=20971616, limit=20971520", "61|XFS (nvme1n1): last sector read failed"), []string{short}, nil},
		"XFS on a device that fails":             {fs("xfs", "61|XFS (nvme1n1): last sector read failed"), nil, []string{short}},
		"Btrfs beyond its device":                {fs("btrfs", "61|BTRFS error (device nvme1n1): device total_bytes should be at most 5423104 but found 10737418240", "61|BTRFS error (device nvme1n1): failed to read chunk tree: -22"), []string{short}, nil},
		"Btrfs without one of its devices":       {fs("btrfs", "61|BTRFS error (device nvme1n1): devid 2 uuid 228e4f85-b72a-40e1-baf1-cbf66570330e is missing", "61|BTRFS error (device nvme1n1): failed to read the system array: -2", "61|BTRFS error (device nvme1n1): open_ctree failed"), []string{"is missing"}, []string{"open_ctree"}},
		"a copy of Btrfs":                        {fs("btrfs", "61|BTRFS warning: duplicate device /dev/nvme1n1 devid 1 generation 10 scanned by mount (4242)"), []string{"is a Btrfs filesystem"}, []string{"nouuid", "XFS"}},
	})
}

// TestTicketsOfMounts: who asks for Kerberos, and where, decides whether the export list is to blame.
func TestTicketsOfMounts(t *testing.T) {
	t.Parallel()
	const words = "mount.nfs: access denied by server while mounting 10.9.0.5:/export/data"
	refused := func(option string) *world {
		return nfs().Waits().FailedMount(strings.Replace(nfsFailed(words), "-o vers=4.2", "-o vers=4.2"+option, 1)).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms")
	}
	const likely = "broken: likely nfs-access-denied Node n1"
	showEach(t, map[string]shown{
		"without":                  {refused(""), "broken: certain nfs-access-denied Node n1"},
		"with sec=sys":             {refused(",sec=sys"), "broken: certain nfs-access-denied Node n1"},
		"in the mount that failed": {refused(",sec=krb5p"), likely},
		"in the volume":            {refused("").Edit("accessModes: [ReadWriteMany]\n  csi", "accessModes: [ReadWriteMany]\n  mountOptions: [sec=krb5i]\n  csi"), likely},
		"and others have it":       {nfsMounted(refused(",sec=krb5").Runs(1), "n2", 1), likely},
	})
	sayEach(t, map[string]said{
		"in the mount that failed": {refused(",sec=krb5p"), []string{"rpc.gssd", "with sec=krb5p"}, []string{"exportfs", "export list is what refuses"}},
	})
}

// TestPodThatWaitsForSomethingElse: the volume is well, and the answer says what keeps the pod.
func TestPodThatWaitsForSomethingElse(t *testing.T) {
	t.Parallel()
	run := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	sandbox := func(said string) *world { // made by others than the driver, whose sockets end calls in the same words
		return ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).Event("Pod", "web-0", sketch.UID+"00", "FailedCreatePodSandBox", "kubelet", "n1", "2026-01-02T11:59:00Z", said)
	}
	for name, c := range map[string]struct {
		world *world
		says  string
	}{
		"no node takes it": {ebs().Waits().EditIn("name: web-0, uid", "nodeName: n1, ", "").EditIn("name: web-0, uid", "PodScheduled, status: 'True'", "PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available: 3 node(s) were unschedulable.'"), "3 node(s) were unschedulable"},
		"its image":        {run().EditIn("name: web-0, uid", "phase: Running", "phase: Pending").EditIn("name: web-0, uid", "state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {waiting: {reason: ImagePullBackOff}}").Without("n1", "proc/5000/"), "ImagePullBackOff"},
		"its sandbox":      {sandbox("Failed to create pod sandbox: rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\""), "containerd.sock: connect: connection refused"},
		"its network":      {sandbox("Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \"0ab1\": plugin type=\"cilium-cni\" failed (add): unable to connect to Cilium agent: failed to create cilium agent client after 30.000000 seconds timeout: Get \"http://localhost/v1/config\": dial unix /var/run/cilium/cilium.sock: connect: no such file or directory"), "cilium.sock: connect: no such file"},
		"it runs":          {run(), "No cause and no symptom was found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, r := c.world.Verdict(t, Catalog(), "pvc shop/data")
			if got != "healthy" || !strings.Contains(r.Summary, c.says) {
				t.Errorf("got %s: %s; want healthy, and %q", got, r.Summary, c.says)
			}
		})
	}
}

// TestPluginThatMissesAnObject: a plugin's pod that is not started for want of a Secret or ConfigMap says which.
func TestPluginThatMissesAnObject(t *testing.T) {
	t.Parallel()
	const plugin, began, runs = "name: plugin-1,", "2026-01-02T11:20:00Z", "{name: node-driver-registrar, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: driver, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}"
	waits := func(why, words string) *world {
		w := attachFailed(ebs().Waits(), "AttachVolume.Attach failed for volume \"pv-data\" : CSINode n1 does not contain driver ebs.csi.aws.com").
			Edit("uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: ebs.csi.aws.com, nodeID: n1, topologyKeys: null}]}", "uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: []}").
			Without("n1", "var/lib/kubelet/plugins").Without("n1", "proc/4100/").
			EditIn(plugin, runs, "{name: node-driver-registrar, ready: false, restartCount: 0, state: {waiting: {reason: ContainerCreating}}}, {name: driver, ready: false, restartCount: 0, state: {waiting: {"+why+"}}}").
			EditIn(plugin, "phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}]", "phase: Pending, startTime: '"+began+"', conditions: [{type: Ready, status: 'False'}]").
			EditIn(plugin, "creationTimestamp: '2025-11-07T13:25:00Z'", "creationTimestamp: '"+began+"'")
		if words == "" {
			return w
		}
		return w.Event("Pod", "plugin-1", "5000c0de-0000-4000-8000-000000000001", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", words).
			EditIn("name: plugin-1, uid: \"5000c0de", "namespace: shop", "namespace: kube-system")
	}
	const creating, unmade = "reason: ContainerCreating", "reason: CreateContainerConfigError, message: "
	sayEach(t, map[string]said{
		"a Secret that it mounts":           {waits(creating, "MountVolume.SetUp failed for volume \"cloud\" : secret \"cloud-config\" not found"), []string{"certain · csi-plugin-not-registered", "as Secret kube-system/cloud-config is not there"}, nil},
		"a ConfigMap that it mounts":        {waits(creating, "MountVolume.SetUp failed for volume \"cfg\" : configmap \"ceph-csi-config\" not found"), []string{"as ConfigMap kube-system/ceph-csi-config is not there"}, nil},
		"a Secret of its environment":       {waits(unmade+"'secret \"aws-secret\" not found'", ""), []string{"as Secret kube-system/aws-secret is not there"}, nil},
		"a key of it":                       {waits(unmade+"'couldn''t find key key_id in Secret kube-system/aws-secret'", ""), []string{"as a key of Secret kube-system/aws-secret is not there"}, nil},
		"nobody says why it is not started": {waits(creating, ""), []string{"certain · csi-plugin-not-registered"}, []string{"is not there"}},
	})
}

// TestUnmountThatDoesNotComeBack: who was called for the volume's path and waits inside the kernel is named; who was
// called for another's is not.
func TestUnmountThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	called := func(path string) *world {
		w := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").EditIn("name: web-0,", ", labels", deleted+", labels").Without("n1", "proc/5000/").
			EditIn("name: web-0,", "state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:31:10Z'}}")
		return w.Entries("n1", "proc/2400/comm", "umount", "proc/2400/cgroup", "0::/system.slice/kubelet.service", "proc/2400/cmdline", "umount␀"+path+"␀", "proc/2400/ns/mnt", "@link mnt:[4026531841]", "proc/2400/wchan", "percpu_down_write",
			"proc/2400/stat", "2400 (umount) D 911 2400 2400 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", "proc/2400/status", "Name:\tumount\nState:\tD (disk sleep)\nTgid:\t2400\nPid:\t2400\nPPid:\t911\nUid:\t0\t0\t0\t0\nNSpid:\t2400")
	}
	const waits = "process 2400 (umount) waits for that inside the kernel (percpu_down_write)"
	sayEach(t, map[string]said{
		"of the volume": {called(ebs().Publish(0)), []string{waits}, []string{"nobody says why"}},
		"of another":    {called("/var/lib/kubelet/pods/x/volumes/kubernetes.io~nfs/y"), []string{"nobody says why"}, []string{waits}},
	})
}
