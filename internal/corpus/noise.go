package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Noise is what else happens in a cluster and on its machines, by its kind: the trouble of
// other disks, servers, volumes and pods. It is about none of what a case asks.
var Noise = map[string]func(*snapshot.Snapshot) *snapshot.Snapshot{
	"kernel log": onNodes(kernelNoise),
	"processes":  onNodes(processNoise),
	"mounts":     onNodes(mountNoise),
	"logs":       logNoise,
	"events":     eventNoise,
}

// onNodes is a noise in the recordings of all nodes.
func onNodes(add func(recording string) string) func(*snapshot.Snapshot) *snapshot.Snapshot {
	return func(s *snapshot.Snapshot) *snapshot.Snapshot {
		l := copied(s)
		for name, r := range s.Nodes {
			h, err := host.ParseRecording([]byte(add(strings.TrimRight(string(r.Recording), "\n") + "\n")))
			if err != nil || len(r.Recording) == 0 {
				continue
			}
			record := *r
			record.Facts = gather(h, agent.Probes)
			l.Nodes[name] = &record
		}
		return l
	}
}

// inEntry adds lines to the end of an entry of a recording that has it.
func inEntry(recording, name string, lines func(body string) string) string {
	before, rest, found := strings.Cut(recording, "-- "+name+" --\n")
	if !found {
		return recording
	}
	body, after, more := strings.Cut(rest, "\n-- ")
	if body = strings.TrimRight(body, "\n") + "\n" + lines(body); more {
		body += "\n-- " + after
	}
	return before + "-- " + name + " --\n" + body
}

var uptime = regexp.MustCompile(`(?m)^-- proc/uptime --\n(\d+)\.`)

// kernelNoise are fresh lines about disks, sessions and servers that serve nothing here.
func kernelNoise(recording string) string {
	return inEntry(recording, "@kmsg", func(body string) string {
		var last, at int64
		for l := range strings.Lines(body) {
			var level, seq, stamp int64
			if n, _ := fmt.Sscanf(l, "%d,%d,%d", &level, &seq, &stamp); n == 3 {
				last, at = seq, stamp
			}
		}
		if m := uptime.FindStringSubmatch(recording); m != nil {
			if up, err := time.ParseDuration(m[1] + "s"); err == nil {
				at = max(at, (up - time.Minute).Microseconds())
			}
		}
		var out []string
		for i, l := range []string{
			"sd 99:0:0:7: [sdzz] tag#12 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s",
			"blk_update_request: I/O error, dev sdzz, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
			"EXT4-fs error (device sdzz): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0",
			"EXT4-fs (sdzz): Remounting filesystem read-only",
			"XFS (dm-99): Filesystem has duplicate UUID 11111111-2222-3333-4444-555555555555 - can't mount",
			"device-mapper: multipath: 253:99: Failing path 65:144.",
			" session99: session recovery timed out after 120 secs",
			" connection99:0: detected conn error (1022)",
			"nfs: server 203.0.113.9 not responding, still trying",
			"libceph: mon0 (1)203.0.113.10:6789 socket closed (con state OPEN)",
			"INFO: task tar:31337 blocked for more than 120 seconds.",
			"Memory cgroup out of memory: Killed process 31401 (node) total-vm:1kB, anon-rss:1kB",
			"nvme nvme99: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
			`CIFS: VFS: \\203.0.113.11 has not responded in 180 seconds. Reconnecting...`,
			"EXT4-fs (loop99): bad geometry: block count 2621440 exceeds size of device (1310720 blocks)",
		} {
			out = append(out, fmt.Sprintf("3,%d,%d,-;%s", last+int64(i)+1, at+int64(i)*1000, l))
		}
		return strings.Join(out, "\n")
	})
}

var initNamespace = regexp.MustCompile(`(?m)^-- proc/1/ns/mnt --\n(@link mnt:\[\d+\])`)

// processNoise are a backup that waits for a disk in the host's mount namespace and a
// container with one of its own that mounts nothing of anybody's.
func processNoise(recording string) string {
	ns := initNamespace.FindStringSubmatch(recording)
	if ns == nil {
		return recording
	}
	process := func(pid int, name, state, namespace string) string {
		at := fmt.Sprintf("-- proc/%d/", pid)
		return at + "cgroup --\n0::/system.slice/" + name + ".service\n" + at + "cmdline --\n/usr/bin/" + name + "␀\n" + at + "comm --\n" + name + "\n" + at + "ns/mnt --\n" + namespace + "\n" +
			at + fmt.Sprintf("stat --\n%d (%s) %s 1 %d %d 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615\n", pid, name, state, pid, pid) +
			at + fmt.Sprintf("status --\nName:\t%s\nState:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t0\t0\t0\t0\n", name, state, pid, pid)
	}
	return recording + process(31337, "tar", "D", ns[1]) + process(31338, "sidecar", "S", "@link mnt:[4026539999]") +
		"-- proc/31338/mountinfo --\n1021 1 0:990 / / rw,relatime - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c\n1022 1021 0:991 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n"
}

var rootMount = regexp.MustCompile(`(?m)^(\d+) \d+ \S+ / / `)

// mountNoise are mounts of the machine's own: a snap, a share of another server, a FUSE filesystem.
func mountNoise(recording string) string {
	return inEntry(recording, "proc/1/mountinfo", func(body string) string {
		root := rootMount.FindStringSubmatch(body)
		if root == nil {
			return ""
		}
		return strings.ReplaceAll("9902 ROOT 7:99 / /snap/core20/99 ro,nodev,relatime - squashfs /dev/loop99 ro,errors=continue\n"+
			"9903 ROOT 0:994 / /mnt/backup rw,relatime - nfs4 203.0.113.9:/export/backup rw,vers=4.1,hard,proto=tcp,timeo=600,retrans=2,addr=203.0.113.9\n"+
			"9904 ROOT 0:995 / /mnt/s3 rw,nosuid,nodev,relatime - fuse.s3fs s3fs rw,user_id=0,group_id=0", "ROOT", root[1])
	})
}

// elsewhere is a volume that no case has.
const elsewhere = "pvc-ffffffff-ffff-4fff-8fff-ffffffffffff"

// logNoise are fresh lines about another volume in the log of each component. A share-manager
// serves one volume alone.
func logNoise(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(s)
	at := s.TakenAt.Add(-90*time.Second).UTC().Format("0102 15:04:05.000000") + "       1 "
	for i := range l.Logs {
		if len(l.Logs[i].Lines) == 0 || strings.HasPrefix(l.Logs[i].Pod, "share-manager-") {
			continue
		}
		l.Logs[i].Lines = append(slices.Clone(l.Logs[i].Lines),
			"W"+at+"reflector.go:470] watch of *v1.VolumeAttachment ended with: very short watch: Unexpected watch close",
			"E"+at+"utils.go:110] GRPC error: rpc error: code = NotFound desc = volume "+elsewhere+" not found",
			"E"+at+`controller.go:957] error syncing volume "`+elsewhere+`": rpc error: code = ResourceExhausted desc = not enough space left on pool`,
			"E"+at+"nodeserver.go:200] NodeStageVolume failed for "+elsewhere+": mount failed: exit status 32, /dev/sdzz already mounted or mount point busy",
			"E"+at+`csi_handler.go:230] Error processing "csi-`+strings.Repeat("f", 64)+`": failed to attach: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
			"E"+at+"iscsi.go:99] iscsiadm: could not log in to [iface: default, target: iqn.2019-10.io.longhorn:"+elsewhere+", portal: 203.0.113.7,3260]. iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)")
	}
	return l
}

// eventNoise are warnings about other pods and claims, and about the nodes.
func eventNoise(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(s)
	l.Cluster.Events = slices.Clone(s.Cluster.Events)
	add := func(kind, namespace, name, reason, from, message string) {
		l.Cluster.Events = append(l.Cluster.Events, &snapshot.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "." + reason}, Kind: kind, ObjNamespace: namespace, ObjName: name,
			Reason: reason, Type: "Warning", Component: from, Count: 3, Message: message, First: s.TakenAt.Add(-10 * time.Minute), Last: s.TakenAt.Add(-time.Minute)})
	}
	add("Pod", "noise", "other-0", "FailedMount", "kubelet", `MountVolume.SetUp failed for volume "`+elsewhere+`" : mount failed: exit status 32 Output: mount: /x: wrong fs type, bad option, bad superblock on /dev/sdzz`)
	add("Pod", "noise", "other-1", "FailedAttachVolume", "attachdetach-controller", `Multi-Attach error for volume "`+elsewhere+`" Volume is already exclusively attached to one node and can't be attached to another`)
	add("Pod", "noise", "other-2", "FailedScheduling", "default-scheduler", "0/3 nodes are available: 3 node(s) had volume node affinity conflict.")
	add("PersistentVolumeClaim", "noise", "other", "ProvisioningFailed", "external-provisioner", `failed to provision volume with StorageClass "gold": rpc error: code = Unavailable desc = connection refused`)
	for _, n := range s.Cluster.Nodes {
		add("Node", "default", n.Name, "CheckLimitsForResolvConf", "kubelet", "Resolv.conf file '/run/systemd/resolve/resolv.conf' contains search line consisting of more than 3 domains!")
	}
	return l
}
