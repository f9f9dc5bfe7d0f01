package kmsg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParse(t *testing.T) {
	boot := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	const log = "3,410,1500000,-;EXT4-fs error (device sda1): ext4_find_entry:1531: inode #2: comm touch: reading directory lblock 0\n" +
		" SUBSYSTEM=block\n DEVICE=b8:1\n" +
		"12,411,2000000,-,caller=T1;ls: attempt to access beyond end of device\\x0asda: rw=0, limit=0\n" +
		"no record\n\n30,x,5,-;bad sequence\n"
	lines, bad := Parse(log, boot)
	want := []probes.KernelLine{
		{Sequence: 410, Priority: 3, Micros: 1500000, At: boot.Add(1500 * time.Millisecond), Device: "b8:1", Names: []string{"sda1"}, Kind: Ext4Error,
			Text: "EXT4-fs error (device sda1): ext4_find_entry:1531: inode #2: comm touch: reading directory lblock 0"},
		{Sequence: 411, Priority: 4, Micros: 2000000, At: boot.Add(2 * time.Second), Names: []string{"sda"}, Kind: BeyondEnd,
			Text: "ls: attempt to access beyond end of device\nsda: rw=0, limit=0"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("records mismatch (-want +got):\n%s", diff)
	}
	if len(bad) != 2 || bad[0].Line != 5 || bad[1].Line != 7 {
		t.Errorf("bad lines: %v", bad)
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct{ text, kind, names string }{
		{"EXT4-fs error (device sdc): ext4_journal_check_start:83: comm postgres: Detected aborted journal", Ext4Aborted, "sdc"},
		{"Aborting journal on device sdc-8.", Ext4Aborted, "sdc"},
		{"EXT4-fs (sdc): error count since last fsck: 4", Ext4Remembered, "sdc"},
		{"EXT4-fs (sdc): last error at time 1690000000: ext4_lookup:1855: inode 131", Ext4Remembered, "sdc"},
		{"EXT4-fs (sdc): warning: mounting fs with errors, running e2fsck is recommended", Ext4Remembered, "sdc"},
		{"XFS (scinia): Filesystem has been shut down due to log error (0x2).", XFSShutdown, "scinia"},
		{"Buffer I/O error on dev pxd/pxd808123, logical block 0, lost sync page write", IOError, "pxd/pxd808123"},
		{"WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.", ZpoolSuspended, ""},
		{"device-mapper: thin: 253:5: switching pool to out-of-data-space (queue IO) mode", ThinPoolMode, "253:5"},
		{"EXT4-fs (sdc): Remounting filesystem read-only", RemountedReadOnly, "sdc"},
		{"BTRFS info (device sdc state EA): forced readonly", RemountedReadOnly, "sdc"},
		{"BTRFS: error (device sdc: state A) in btrfs_commit_transaction:2410: errno=-5 IO failure", BtrfsError, "sdc"},
		{"EXT4-fs (sda): re-mounted. Quota mode: none.", Remounted, "sda"},
		{"EXT4-fs (nvme1n1p2): mounted filesystem 5b r/w with ordered data mode. Quota mode: none.", Mounted, "nvme1n1p2"},
		{"EXT4-fs (sda): unmounting filesystem.", Unmounted, "sda"},
		{"EXT4-fs (sdb): couldn't mount RDWR because of unsupported optional features (400)", UnsupportedFeature, "sdb"},
		{"BTRFS error (device sdb): cannot mount because of unknown incompat features (0x5b41)", UnsupportedFeature, "sdb"},
		{"XFS (sdb): File system with blocksize 65536 bytes. Only pagesize (4096) or less will currently work.", UnsupportedFeature, "sdb"},
		{"EXT4-fs (sda): VFS: Can't find ext4 filesystem", BadSuperblock, "sda"},
		{"XFS (dm-3): Filesystem has duplicate UUID 552a897a - can't mount", XFSDuplicateUUID, "dm-3"},
		{"XFS (rbd2): Superblock has unknown read-only compatible features (0x4) enabled.", UnsupportedFeature, "rbd2"},
		{"XFS (sda): Filesystem has been shut down due to log error (0x2).", XFSShutdown, "sda"},
		{"XFS (sda): log I/O error -5", IOError, "sda"},
		{"blk_update_request: I/O error, dev sdb, sector 8 op 0x1:(WRITE)", IOError, "sdb"},
		{"critical medium error, dev sde, sector 2048 op 0x0:(READ)", MediumError, "sde"},
		{"critical target error, dev sde, sector 2048", IOError, "sde"},
		{"sd 2:0:0:1: rejecting I/O to offline device", OfflineDevice, "2:0:0:1"},
		{"sd 2:0:0:1: Device offlined - not ready after error recovery", OfflineDevice, "2:0:0:1"},
		{" connection4:0: detected conn error (1020)", ISCSIConnError, "connection4:0"},
		{" session2: session recovery timed out after 120 secs", ISCSIRecoveryEnd, "session2"},
		{"sd 2:0:0:1: [sdb] Attached SCSI disk", SCSIAttached, "2:0:0:1 sdb"},
		{"sd 2:0:0:1: [sdb] Synchronizing SCSI cache", SCSIDetached, "2:0:0:1 sdb"},
		{"device-mapper: multipath: 253:3: Failing path 8:16.", PathFailed, "8:16"},
		{"nvme nvme2: failed to connect socket: -111", NVMeError, "nvme2"},
		{`nvme nvme2: Removing ctrl: NQN "nqn.2023-01.io.longhorn.spdk:v-e-0"`, NVMeRemoved, "nvme2"},
		{"INFO: task jbd2/sdb-8:4242 blocked for more than 120 seconds.", BlockedTask, "sdb"},
		{"INFO: task jbd2/sdb-8:4242 blocked in I/O wait for more than 122 seconds.", BlockedTask, "sdb"},
		{"rbd: rbd0: breaking header lock owned by client4417", RBDLock, "rbd0"},
		{"rbd: image img: image uses unsupported features: 0x38", RBDFeature, ""},
		{"libceph: auth method 'x' error -1", CephAuth, ""},
		{"ceph: mds0 rejected session", CephSessionLost, ""},
		{`audit: type=1400 audit(1.2:3): apparmor="DENIED" operation="open" name="/dev/sda"`, AppArmorDenied, ""},
		{`audit: type=1400 audit(1.2:3): avc:  denied  { read } for  comm="iscsid" name="sda"`, SELinuxDenied, ""},
		{"Memory cgroup out of memory: Killed process 5", OOM, ""},
		{"systemd-journald: server is OK", "", ""},
		{"random: crng init done", "", ""},
	} {
		k := probes.KernelLine{Text: c.text}
		classify(&k)
		if k.Kind != c.kind || strings.Join(k.Names, " ") != c.names {
			t.Errorf("%s: got %q %v, want %q [%s]", c.text, k.Kind, k.Names, c.kind, c.names)
		}
	}
}

func TestServerOfNFSLines(t *testing.T) {
	for text, want := range map[string]string{
		"nfs: server 10.36.3.5 not responding, still trying": NFSNotResponding + " 10.36.3.5",
		"nfs: server 10.36.3.5 not responding, timed out":    NFSNotResponding + " 10.36.3.5",
		"nfs: server nas.lan OK":                             NFSOK + " nas.lan",
	} {
		k := probes.KernelLine{Text: text}
		classify(&k)
		if got := k.Kind + " " + k.Server; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/kernels/e-targetdeath/*.txtar")
	for _, p := range files {
		if b, err := os.ReadFile(p); err == nil {
			_, log, _ := strings.Cut(string(b), "-- @kmsg --\n")
			f.Add(log)
		}
	}
	f.Add("6,1,0,-;x\n DEVICE=+scsi:0:0:0:1\n")
	f.Add(`3,2,9,c;a\x0`)
	f.Fuzz(func(t *testing.T, log string) {
		lines, bad := Parse(log, time.Time{})
		if n := strings.Count(log, "\n") + 1; len(lines)+len(bad) > n {
			t.Fatalf("%d records of %d lines", len(lines)+len(bad), n)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var log strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&log, "6,%d,%d,-;sd 0:0:0:1: [sda] 20971520 512-byte logical blocks: (10.7 GB/10.0 GiB)\n", i, i*1000)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		Parse(log.String(), time.Time{})
	}
}
