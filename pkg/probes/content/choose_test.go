package content

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func dev(minor uint32) probes.Dev { return probes.Dev{Major: 8, Minor: minor} }

// sick is a node with a root disk and one iSCSI disk in each state of interest.
func sick() *probes.Facts {
	f := &probes.Facts{
		Block: []probes.BlockDevice{
			{Name: "dm-0", Dev: probes.Dev{Major: 253}, Sectors: 8, Slaves: []string{"sdd"}, DM: &probes.DM{Suspended: true}},
			{Name: "sda", Dev: dev(0), Sectors: 8, State: "running"},
			{Name: "sda1", Dev: dev(1), Sectors: 8, Partition: 1, Parent: "sda"},
			{Name: "sdb", Dev: dev(16), Sectors: 8, State: "running"},
			{Name: "sdc", Dev: dev(32), Sectors: 8, State: "running"},
			{Name: "sdd", Dev: dev(48), Sectors: 8, State: "running", Holders: []string{"dm-0"}},
			{Name: "sde", Dev: dev(64), Sectors: 8, State: "blocked"},
			{Name: "sdf", Dev: dev(80), Sectors: 8, State: "running"},
			{Name: "sdg", Dev: dev(96), Sectors: 8, State: "running"},
			{Name: "sdh", Dev: dev(112), Sectors: 8, State: "running"},
			{Name: "sdi", Dev: dev(128), Sectors: 8, State: "running"},
		},
		Namespaces: []probes.MountNamespace{{ID: 1, Mounts: []probes.Mount{
			{Point: "/", Dev: dev(1), FSType: "ext4"},
			{Point: "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/p/mount", Dev: dev(16), FSType: "ext4"},
			{Point: "/var/lib/kubelet/plugins/x/globalmount", Dev: dev(16), FSType: "ext4"},
			{Point: "/var/lib/kubelet/pods/v/volumes/kubernetes.io~csi/q/mount", Dev: dev(64), FSType: "ext4"},
			{Point: "/var/lib/kubelet/pods/v/volumes/kubernetes.io~nfs/n", Dev: probes.Dev{Minor: 50}, FSType: "nfs4"},
			{Point: "/var/lib/kubelet/pods/v/volumes/kubernetes.io~empty-dir/e", Dev: dev(1), FSType: "ext4"},
			{Point: "/var/lib/kubelet/pods/v/volumes/kubernetes.io~csi/f", Dev: probes.Dev{Minor: 51}, FSType: "fuse.x"}}}},
		Superblocks: []probes.Superblock{{KName: "sdf", FSType: "ext4"}},
	}
	f.Processes = []probes.Process{
		{PID: 8, ServesFUSE: true},
		{PID: 9, Open: []probes.Descriptor{{Path: "proc/9/cwd", Dev: dev(80)}}},
		{PID: 10, Comm: "agent", Open: []probes.Descriptor{{Path: "proc/10/fd/3", Dev: dev(112), Device: true}}},
		{PID: 11, Comm: "mkfs.ext4", Open: []probes.Descriptor{{Path: "proc/11/fd/3", Dev: dev(128), Device: true}}},
	}
	f.Identity.InitMntNS = 1
	f.ISCSI.Sessions = []probes.ISCSISession{
		{State: "LOGGED_IN", Disks: []string{"sdb", "sdc", "sdd", "sde", "sdf", "sdh", "sdi"}}, {State: "FAILED", Disks: []string{"sdg"}}}
	return f
}

func TestChooseAsksNothingHarmful(t *testing.T) {
	t.Parallel()
	q := choose(sick())
	want := map[string][]probes.Dev{
		// Neither the machine's own disk, nor a suspended map, nor disks that do not answer.
		"content": {dev(16), dev(32), dev(48), dev(80), dev(112), dev(128)},
		// Only the disks that nothing explains: sdb is mounted, sdd held, sdi about to
		// be mounted; sdf is alive without a mount, and sdh is open, perhaps with O_EXCL.
		"claim": {dev(32), dev(80), dev(112)},
	}
	if diff := cmp.Diff(want, map[string][]probes.Dev{"content": q.content, "claim": q.claim}); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	points := []place{
		{"var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/p/mount", dev(16)}, {"var/lib/kubelet/plugins/x/globalmount", dev(16)},
		{"var/lib/kubelet/pods/v/volumes/kubernetes.io~nfs/n", probes.Dev{Minor: 50}},
		{"var/lib/kubelet", dev(1)},
	}
	if diff := cmp.Diff(points, q.statfs, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("statfs mismatch (-want +got):\n%s", diff)
	}
}

// TestHostPlaces asks only for filesystems on disks that answer.
func TestHostPlaces(t *testing.T) {
	t.Parallel()
	with := func(mounts ...probes.Mount) []place {
		f := sick()
		f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts[:1:1], mounts...)
		return newNode(f).hostPlaces()
	}
	for name, c := range map[string]struct{ got, want []place }{
		"on the root":                {with(), []place{{"var/lib/kubelet", dev(1)}}},
		"on a disk of its own":       {with(probes.Mount{Point: "/var/lib/kubelet", Dev: dev(16)}), []place{{"var/lib/kubelet", dev(16)}}},
		"on a disk that is away":     {with(probes.Mount{Point: "/var/lib", Dev: dev(64)}), nil},
		"on no block device":         {with(probes.Mount{Point: "/var/lib/kubelet", Dev: probes.Dev{Minor: 40}}), nil},
		"a name that only begins so": {with(probes.Mount{Point: "/var/lib/kube", Dev: dev(64)}), []place{{"var/lib/kubelet", dev(1)}}},
		"Longhorn's own disk":        {with(probes.Mount{Point: "/var/lib/longhorn", Dev: dev(16)}), []place{{"var/lib/kubelet", dev(1)}, {"var/lib/longhorn", dev(16)}}},
	} {
		if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	got := devices([]string{"8:16", "@content/8:32", "nonsense"})
	if diff := cmp.Diff([]probes.Dev{dev(16), dev(32)}, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func FuzzDevices(f *testing.F) {
	f.Add("8:16")
	f.Add("@claim/8:")
	f.Fuzz(func(t *testing.T, in string) {
		if len(devices([]string{in})) > 1 {
			t.Error("two devices out of one answer")
		}
	})
}

// Of a FUSE mount nothing is asked while a process is left that may serve it.
func TestFUSEIsAskedOnlyWithoutServer(t *testing.T) {
	t.Parallel()
	const point = "var/lib/kubelet/pods/v/volumes/kubernetes.io~csi/f"
	for name, test := range map[string]struct {
		change func(*probes.Facts)
		asked  bool
	}{
		"somebody serves FUSE": {func(*probes.Facts) {}, false},
		"nobody does":          {func(f *probes.Facts) { f.Processes = f.Processes[1:] }, true},
		"a process whose descriptors were not read": {func(f *probes.Facts) {
			f.Processes = f.Processes[1:]
			f.Problems = []probes.Problem{{Probe: "openfiles", Path: "proc/77/fd", PID: 77, Text: "EACCES"}}
		}, false},
		"the descriptors were not read to the end": {func(f *probes.Facts) {
			f.Processes = f.Processes[1:]
			f.Status = map[string]probes.ProbeState{"process": {State: "ok"}, "mountns": {State: "ok"}, "superblock": {State: "ok"}, "openfiles": {State: "timeout"}}
		}, false},
	} {
		f := sick()
		test.change(f)
		asked := slices.ContainsFunc(choose(f).statfs, func(p place) bool { return p.path == point })
		if asked != test.asked {
			t.Errorf("%s: asked %t", name, asked)
		}
	}
}

func TestNetworkFilesystemsAreAsked(t *testing.T) {
	t.Parallel()
	for fstype, want := range map[string]bool{"nfs4": true, "cifs": true, "smb3": true, "ceph": true, "fuse.x": false, "9p": false, "virtiofs": false} {
		f := sick()
		f.Namespaces[0].Mounts[6].FSType = fstype
		asked := slices.ContainsFunc(choose(f).statfs, func(p place) bool { return p.dev == probes.Dev{Minor: 51} })
		if asked != want {
			t.Errorf("%s: asked %t", fstype, asked)
		}
	}
}

// TestCandidates reads what an idle disk of a cloud holds, which nobody mounts yet, and claims
// none of them; where a mount waits for a disk, nothing is read.
func TestCandidates(t *testing.T) {
	t.Parallel()
	const ebs = "Amazon Elastic Block Store              "
	at := func(minor uint32) probes.Dev { return probes.Dev{Major: 259, Minor: minor} }
	f := &probes.Facts{Block: []probes.BlockDevice{
		{Name: "nvme0n1", Dev: at(0), Sectors: 8}, {Name: "nvme0n1p1", Dev: at(1), Sectors: 8, Partition: 1, Parent: "nvme0n1"}, // the machine
		{Name: "nvme1n1", Dev: at(2), Sectors: 8, Transport: "pcie", State: "live", Model: ebs},                                         // a volume that nobody mounts yet
		{Name: "nvme2n1", Dev: at(3), Sectors: 8, Transport: "pcie", Model: ebs}, {Name: "nvme3n1", Dev: at(4), Sectors: 8, Model: ebs}, // in use; pinned in a container
		{Name: "vdb", Dev: at(5), Sectors: 8}, {Name: "sdb", Dev: at(6), Sectors: 8, Vendor: "ATA     "}, // a disk of the hypervisor; one that may sleep
		{Name: "loop0", Dev: at(7), Sectors: 8, LoopFile: "/srv/a"},
		{Name: "vdc", Dev: at(8), Sectors: 8, Holders: []string{"dm-0"}}, {Name: "dm-0", Dev: at(9), Sectors: 8, Slaves: []string{"vdc"}, DM: &probes.DM{UUID: "LVM-x"}},
		{Name: "dm-1", Dev: at(12), Sectors: 8, DM: &probes.DM{UUID: "mpath-3600"}}, // a map whose paths are gone: it queues
		{Name: "sdc", Dev: at(13), Sectors: 8, Vendor: "Google  ", Holders: []string{"dm-2"}}, {Name: "dm-2", Dev: at(14), Sectors: 8, Slaves: []string{"sdc"}, DM: &probes.DM{UUID: "mpath-3601"}},
		{Name: "sdd", Dev: at(15), Sectors: 8, Vendor: "SEAGATE ", Holders: []string{"dm-3"}}, {Name: "dm-3", Dev: at(16), Sectors: 8, Slaves: []string{"sdd"}, DM: &probes.DM{UUID: "LVM-y"}}, // on a local disk
		{Name: "nvme4n1", Dev: at(17), Sectors: 8, Transport: "pcie", Model: "Amazon EC2 NVMe Instance Storage"}, {Name: "sde", Dev: at(18), Sectors: 8, Vendor: "Msft    "},
		{Name: "vdd", Dev: at(10), Sectors: 8}, {Name: "vdd1", Dev: at(11), Sectors: 8, Partition: 1, Parent: "vdd"},
	}}
	f.Identity.InitMntNS = 1
	f.Namespaces = []probes.MountNamespace{
		{ID: 1, Mounts: []probes.Mount{{Point: "/", Dev: at(1)}, {Point: "/var/lib/kubelet/plugins/x/globalmount", Dev: at(3)}}},
		{ID: 2, Mounts: []probes.Mount{{Point: "/x", Dev: at(4)}}},
	}
	q := choose(f)
	if diff := cmp.Diff([]probes.Dev{at(2), at(5), at(9), at(18)}, q.content); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if len(q.claim) > 0 {
		t.Errorf("claimed: %v", q.claim)
	}
	for _, comm := range []string{"mount", "(udev-worker)"} {
		f.Processes = []probes.Process{{PID: 7, Comm: comm, State: "D"}}
		if q := choose(f); len(q.content) > 0 {
			t.Errorf("%s waits for a disk, and read are %v", comm, q.content)
		}
	}
}
