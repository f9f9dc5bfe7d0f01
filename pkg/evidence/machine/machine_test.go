package machine_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const release = "6.1.0"

// TestQuestions asks one machine after another, each with the entries of its recording.
func TestQuestions(t *testing.T) {
	t.Parallel()
	program := func(x *snapshot.Index) evidence.Answer { return machine.Program(x, "n", "iscsiadm") }
	module := func(x *snapshot.Index) evidence.Answer { return machine.Module(x, "n", "iscsi-tcp") }
	loaded := func(x *snapshot.Index) evidence.Answer { return machine.Loaded(x, "n", "vfio_pci") }
	nfs := func(x *snapshot.Index) evidence.Answer { return machine.NFS(x, "n") }
	daemon := func(x *snapshot.Index) evidence.Answer { return machine.ISCSIDaemon(x, "n") }
	initiator := func(x *snapshot.Index) evidence.Answer { return machine.Initiator(x, "n") }
	pages := func(x *snapshot.Index) evidence.Answer { return machine.HugePages(x, "n", 2048) }
	flag := func(x *snapshot.Index) evidence.Answer { return machine.Flag(x, "n", "sse4_2") }
	shared := func(x *snapshot.Index) evidence.Answer { a, _ := machine.Shared(x, "n"); return a }
	denied := func(x *snapshot.Index) evidence.Answer { a, _ := machine.ISCSIDenied(x, "n"); return a }
	dep, mods := "lib/modules/"+release+"/modules.dep", "proc/modules"
	huge, enforce, audit := "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "sys/fs/selinux/enforce", "var/log/audit/audit.log"
	for _, c := range []struct {
		name    string
		ask     func(*snapshot.Index) evidence.Answer
		entries []string
		want    string
	}{
		{"a program", program, []string{"usr/local/sbin/iscsiadm", ""}, "yes"},
		{"a program elsewhere", program, []string{"run/current-system/sw/bin/iscsiadm", ""}, "no"},
		{"no program was seen", program, nil, "unseen"},
		{"a directory was refused", program, []string{"usr/bin/mount", "", "usr/sbin", "@error EACCES"}, "unseen"},
		{"on disk", module, []string{dep, "kernel/drivers/scsi/iscsi_tcp.ko.zst: x.ko", mods, "loop 1 0 - Live 0x0"}, "yes"},
		{"built in", module, []string{"boot/config-" + release, "CONFIG_ISCSI_TCP=y"}, "yes"},
		{"in no list", module, []string{dep, "kernel/fs/ext4/ext4.ko:", mods, "loop 1 0 - Live 0x0"}, "no"},
		{"no list", module, []string{mods, "loop 1 0 - Live 0x0"}, "unseen"},
		{"on disk is not loaded", loaded, []string{dep, "kernel/drivers/vfio/pci/vfio-pci.ko:", mods, "loop 1 0 - Live 0x0"}, "no"},
		{"loaded", loaded, []string{dep, "kernel/drivers/vfio/pci/vfio-pci.ko:", mods, "vfio_pci 1 0 - Live 0x0"}, "yes"},
		{"a known filesystem", nfs, []string{"proc/filesystems", "nodev\tnfs4"}, "yes"},
		{"no filesystem", nfs, []string{"proc/filesystems", "nodev\tproc", dep, "kernel/fs/ext4/ext4.ko:", mods, "loop 1 0 - Live 0x0"}, "no"},
		{"a socket of systemd", daemon, []string{"proc/1/net/unix", "Num\n0: 2 0 10000 1 1 1 @ISCSIADM_ABSTRACT_NAMESPACE"}, "yes"},
		{"no socket", daemon, []string{"proc/1/net/unix", "Num"}, "no"},
		{"sockets unread", daemon, nil, "unseen"},
		{"a name", initiator, []string{"etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.2004-10.x:y"}, "yes"},
		{"a bad name", initiator, []string{"etc/iscsi/initiatorname.iscsi", "InitiatorName=host"}, "no"},
		{"an empty name", initiator, []string{"etc/iscsi/iscsid.conf", "node.startup = manual"}, "no"},
		{"nothing of open-iscsi", initiator, nil, "unseen"},
		{"enough pages", pages, []string{huge, "1024"}, "yes"},
		{"too few pages", pages, []string{huge, "512"}, "no"},
		{"pages unread", pages, nil, "unseen"},
		{"an instruction set", flag, []string{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse4_2 avx\n\nprocessor\t: 1\nflags\t\t: fpu"}, "yes"},
		{"another", flag, []string{"proc/cpuinfo", "flags\t\t: fpu sse4_1"}, "no"},
		{"another machine", flag, []string{"proc/cpuinfo", "Features\t: fp asimd"}, "unseen"},
		{"a shared root", shared, nil, "yes"},
		{"a private root", shared, []string{"proc/1/mountinfo", "21 1 8:2 / / rw - ext4 /dev/sda2 rw"}, "no"},
		{"a private disk of the kubelet", shared, []string{"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n22 21 8:3 / /var/lib/kubelet rw - ext4 /dev/sda3 rw"}, "no"},
		{"no SELinux", denied, nil, "no"},
		{"permissive", denied, []string{enforce, "0", audit, `avc:  denied  { x } for pid=1 comm="iscsiadm"`}, "no"},
		{"a denial", denied, []string{enforce, "1", audit, `avc:  denied  { x } for pid=1 comm="iscsiadm" permissive=0`}, "yes"},
		{"of somebody else", denied, []string{enforce, "1", "@kmsg", "", audit, `avc:  denied  { x } for pid=1 comm="nginx" permissive=0`}, "no"},
		{"the log was refused", denied, []string{enforce, "1", "@kmsg", "", audit, "@error EACCES"}, "unseen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New().Node("n", append([]string{"proc/sys/kernel/osrelease", release}, c.entries...)...).Index(t)
			if got := c.ask(x).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := c.ask(sketch.New().Index(t)).String(); got != "unseen" {
				t.Errorf("a node that was not looked at: %s", got)
			}
		})
	}
}
