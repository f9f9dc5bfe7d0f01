package remedy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// EndHolder makes a process let a device, a mount or a directory go, through its owner: the pod, the service,
// or whoever started it.
func EndHolder(node string, who snapshot.Who) Step {
	p := who.Process
	switch {
	case mattersToOwner(who):
		return Words(titled("%s on node %s is the holder, and is a database or a virtual machine: let its owner stop or move it, in his own time. Neither end it by hand nor restart what runs it.", named(who), node))
	case who.Pod != nil:
		s := DeletePod(who.Pod)
		s.Name = "restart-holder"
		return s.Note("Its process %d (%s) is the holder.", p.PID, p.Comm)
	case servesAll(who.Unit):
		return Words("Unit " + who.Unit + " on node " + node + " serves every pod there: drain the node, then restart the unit.")
	case servesStorage(who.Unit):
		return Words("Unit " + who.Unit + " on node " + node + " carries more storage than this device, its own or that of other machines: end who uses it first, then restart the unit; or let only this device go with its own tools.")
	case strings.HasSuffix(who.Unit, ".service") && !strings.HasPrefix(who.Unit, "user@"):
		return restartUnit(node, who)
	}
	s := Check(titled("Let the owner of process %d (%s) on node %s end or restart it: it is the holder.", p.PID, p.Comm, node),
		OnNode(node, "ps", "-o", "pid,ppid,user,lstart,args", "-p", strconv.Itoa(p.PID)))
	s.Name = "restart-holder"
	return s
}

// databases and machines are the programs, as the kernel cuts their names, that nobody ends to free a device
// without the word of their owner; dbUnits are the units in which such databases run.
var (
	databases = []string{"postgres", "mysqld", "mariadbd", "mongod", "redis-server", "valkey-server", "sqlservr", "ora_", "oracle", "db2sysc", "clickhouse", "influxd", "etcd", "cockroach", "beam.smp"}
	machines  = []string{"qemu", "kvm", "CPU 0/KVM", "VBoxHeadless", "firecracker", "cloud-hyper", "crosvm"}
	dbUnits   = []string{"postgresql", "mysql", "mariadb", "mongod", "redis", "valkey", "mssql", "oracle", "db2", "clickhouse", "influxdb", "cassandra", "scylla", "elasticsearch", "opensearch", "neo4j", "couchdb", "rabbitmq", "cockroach"}
)

// mattersToOwner tells whether a process is a database or a virtual machine.
func mattersToOwner(who snapshot.Who) bool {
	return beginsWith(who.Process.Comm, databases...) || beginsWith(who.Process.Comm, machines...) || who.Unit != "" && beginsWith(who.Unit, dbUnits...)
}

// named is a process with its pod or unit.
func named(who snapshot.Who) string {
	out := titled("Process %d (%s)", who.Process.PID, who.Process.Comm)
	switch {
	case who.Pod != nil:
		return out + " of pod " + pods.Name(who.Pod)
	case who.Unit != "":
		return out + " of unit " + who.Unit
	}
	return out
}

// servesAll names units whose restart touches every pod of the node.
func servesAll(unit string) bool {
	return beginsWith(unit, "kubelet", "kube-proxy", "containerd", "docker", "crio", "cri-", "k3s", "rke2", "k0s", "snap.microk8s", "calico", "flanneld", "openvswitch", "ovs", "dbus", "NetworkManager", "systemd-networkd", "networking", "wicked", "etcd")
}

// servesStorage names units whose restart ends sessions, exports, pools or machines: open-iscsi logs out
// every target, blk-availability unmounts what lies on maps, a target drops its initiators, autofs unmounts, a
// cluster's daemons (sanlock, corosync) have the whole machine fenced.
func servesStorage(unit string) bool {
	return beginsWith(unit, "open-iscsi", "iscsi", "blk-availability", "lvm", "zfs", "drbd", "nfs-", "rpc-", "rpcbind", "smb", "target", "tgt", "scst", "ceph", "gluster", "libvirt", "virt", "qemu", "machine-",
		"autofs", "sanlock", "wdmd", "corosync", "pacemaker", "dlm", "o2cb", "ocfs2", "gfs2", "gpfs", "mmfs", "beegfs", "lustre", "moosefs", "lizardfs", "weka", "portworx", "px-", "scini", "vdo", "stratisd", "nvmf", "nvmefc", "nvmet",
		"lxc", "lxd", "incus", "snap.lxd", "snap.docker", "podman", "vmware-vsan", "pve")
}

func beginsWith(unit string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(unit, w) })
}

// restartUnit restarts the systemd unit that holds a device.
func restartUnit(node string, who snapshot.Who) Step {
	return Step{
		Name: "restart-holder", Title: titled("Restart unit %s on node %s, whose process %d (%s) holds the device.", who.Unit, node, who.Process.PID, who.Process.Comm),
		Commands: []Command{OnNode(node, "systemctl", "restart", operand(who.Unit))},
		Risk:     Disruptive,
		Guards: []Guard{{
			Question: "process-of-unit", Fact: titled("process %d of node %s belongs to unit %s", who.Process.PID, node, who.Unit),
			Ask:  func(x *snapshot.Index) evidence.Answer { return pods.OfUnit(x, node, who.Process.PID, who.Unit) },
			Look: []Command{OnNode(node, "systemctl", "status", strconv.Itoa(who.Process.PID))}, On: Target{Node: node},
		}},
		Verify: []Command{OnNode(node, "systemctl", "status", operand(who.Unit))},
	}
}

// UnmountLazy takes a mount away whose device or server is gone for good. What a
// process still holds open stays behind, invisible, and unwritten data is lost.
func UnmountLazy(node string, v *snapshot.Volume, m snapshot.VolumeMount, force bool) Step {
	point := m.Mount.Point
	script := []string{
		titled("grep -qF %s /proc/self/mountinfo", quote(place(m.Mount))),
		titled("! grep -F %s /proc/self/mountinfo | grep -qvF %s", quote(" "+shown(m.Mount)+" "), quote(place(m.Mount))), // umount takes what lies on top
	}
	if force {
		script = append(script, "{ "+Quote("umount", "-f", operand(point))+" || "+Quote("umount", "-l", operand(point))+"; }")
	} else {
		script = append(script, Quote("umount", "-l", operand(point)))
	}
	s := Step{
		Name: "unmount-lazy", Title: titled("Unmount %s on node %s lazily, only if a plain unmount fails.", point, node),
		Commands: []Command{guarded(node, nil, script...)},
		Risk:     DataLoss,
		Guards: []Guard{{
			Question: "mount-dead", Fact: titled("what is mounted at %s on node %s is gone for good", point, node),
			Ask:  func(x *snapshot.Index) evidence.Answer { return mounts.Dead(x, node, m.Mount) },
			Look: []Command{OnNode(node, "timeout", "5", "stat", "-f", point)}, On: Target{Node: node, Volume: v, Path: point},
		}},
		Verify: []Command{OnNode(node, "grep", "-F", point, "/proc/1/mountinfo")},
	}
	if m.Path.PodUID != "" {
		s = s.If(Over(node, m.Path.PodUID))
	} else {
		s = s.If(NoneUses(v, node))
	}
	if v != nil {
		s = s.If(Everywhere(v))
	}
	return s
}

// shown is the mount point as the kernel writes it.
func shown(m probes.Mount) string {
	if f := strings.Fields(m.Raw); len(f) >= 5 {
		return f[4]
	}
	return m.Point
}

// place is the part of a line of mountinfo that names the device and the mount point,
// as the kernel writes it (proc_pid_mountinfo(5)).
func place(m probes.Mount) string {
	f := strings.Fields(m.Raw)
	if len(f) < 5 {
		return " " + m.Dev.String() + " " + m.Root + " " + m.Point + " "
	}
	return " " + strings.Join(f[2:5], " ") + " "
}

// Fsck checks, reading only, and then repairs a filesystem that nobody mounts. What a
// repair throws away is gone: it wants a backup that was made for it. The checker of one filesystem is
// never let at another: what is left of an older ext4 below it would be "repaired".
func Fsck(d snapshot.VolumeDevice, v *snapshot.Volume, b *probes.BlockDevice, at, fstype string) Step {
	node := d.Node
	at = operand(at)
	var look, repair []string
	switch fstype {
	case "ext2", "ext3", "ext4":
		look, repair = []string{"e2fsck", "-fn", at}, []string{"e2fsck", "-f", at}
	case "xfs":
		look, repair = []string{"xfs_repair", "-n", at}, []string{"xfs_repair", at}
	case "btrfs": // btrfs-check(8) wants a developer's word for --repair
		return Words("Look at the filesystem on " + at + " of node " + node + " with btrfs check, reading only, while nothing mounts it. Do not let it repair anything: bring the backup back, or copy off what can be read.")
	default:
		return Words("Find out which filesystem is on " + at + " of node " + node + ", and look at it with its own checker, reading only, while nothing mounts it. No other checker may repair it.")
	}
	s := Step{
		Name: "fsck", Title: titled("Look at the filesystem on %s of node %s first, then repair it.", at, node),
		Commands: []Command{OnNode(node, look...), guarded(node, disk.Marks(d.View, b), Quote(repair...))},
		Risk:     DataLoss,
		Guards: append(free(node, b), NoneUses(v, ""), Known(node, b),
			Guard{
				Question: "claimable", Fact: titled("an exclusive open of %s on node %s succeeds", b.Name, node),
				Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Claimable(x, node, b.Dev) },
				Look: []Command{OnNode(node, "lsblk", "/dev/"+b.Name)}, On: Target{Node: node, Device: b.Name},
			},
			Guard{
				Question: "is-volume", Fact: titled("%s on node %s is volume %s", b.Name, node, nameOf(v)),
				Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Holds(x, v, node, b.Dev) },
				Look: []Command{OnNode(node, "ls", "-l", "/dev/disk/by-id/")}, On: Target{Node: node, Device: b.Name, Volume: v},
			},
			Guard{
				Question: "unmounted-everywhere", Fact: titled("no node that may have volume %s mounts it, and each was looked at", nameOf(v)),
				Ask:  func(x *snapshot.Index) evidence.Answer { return volume.UnmountedEverywhere(x, v) },
				Look: []Command{Kubectl("get", "volumeattachments", "-o", "wide")}, On: Target{Volume: v},
			},
			Guard{
				Question: "backed-up", Fact: titled("a backup of volume %s was made for this, within the last hour", nameOf(v)),
				Ask:  func(x *snapshot.Index) evidence.Answer { return longhorn.BackedUp(x, v) },
				Look: []Command{OnNode(node, look...)}, On: Target{Volume: v},
			}),
		Verify: []Command{OnNode(node, look...)},
	}
	return s
}

// DeleteOrphanDirectory removes the empty leftovers of a pod that is gone. It
// uses rmdir only: a mount or a file below makes it fail instead of being lost.
func DeleteOrphanDirectory(node, root, podUID, pv string) Step {
	dir := operand(path.Join(root, "pods", within(podUID), "volumes", "kubernetes.io~csi", within(pv)))
	return Step{
		Name: "delete-orphan-directory", Title: titled("Remove the empty directory of pod %s for volume %s on node %s.", podUID, pv, node),
		Commands: []Command{
			OnNode(node, "rm", "-f", dir+"/vol_data.json"),
			OnNode(node, "rmdir", dir+"/mount", dir),
		},
		Risk: DataLoss,
		Guards: []Guard{Gone(node, podUID), {
			Question: "nothing-below", Fact: titled("nothing is mounted below %s on node %s, in any mount namespace", path.Join(root, "pods", podUID), node),
			Ask: func(x *snapshot.Index) evidence.Answer {
				return mounts.NothingBelow(x, node, path.Join(root, "pods", podUID))
			},
			Look: []Command{OnNode(node, "sh", "-c", "grep -sF "+quote(operand(podUID))+" /proc/[0-9]*/mountinfo")}, On: Target{Node: node, Pod: podUID},
		}},
		Verify: []Command{OnNode(node, "ls", path.Join(root, "pods"))},
	}
}
