package report

import (
	"strings"
	"testing"
)

// TestGist: of what drivers and tools wrote, the decisive words stay, and stand at an end.
func TestGist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, begins, ends string }{
		"mount(8)": {"mount failed: exit status 32\nOutput: mount: /g: wrong fs type, bad option, bad superblock on /dev/sdb, missing codepage or helper program, or other error.\n       dmesg(1) may have more information after failed mount system call.",
			"mount failed: exit status 32 Output:", "missing codepage or helper program, or other error."},
		"mount(8) of 2.31": {"mount: wrong fs type, bad option, bad superblock on /dev/sdb\n       In some cases useful info is found in syslog - try\n       dmesg | tail or so.", "mount: wrong fs type", "bad superblock on /dev/sdb"},
		"no helper":        {"Output: mount: /x: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.", "Output: mount: /x: bad option", "helper program."},
		"mount.cifs":       {"Output: mount error(13): Permission denied\nRefer to the mount.cifs(8) manual page (e.g. man mount.cifs) and kernel log messages (dmesg)", "Output:", "mount error(13): Permission denied"},
		"blobfuse":         {"Error: failed to authenticate\nPlease refer to the mount.fuse page", "Error:", "failed to authenticate"},
		"efs-utils": {"Output: Could not start amazon-efs-mount-watchdog, unrecognized init system \"aws-efs-csi-dri\"\nFailed to resolve \"fs-1.efs.eu-west-1.amazonaws.com\" - check that your file system ID is correct, and ensure that the VPC has an EFS mount target for this file system ID.\nSee https://docs.aws.amazon.com/console/efs/mount-dns-name for more detail.\nAttempting to lookup mount target ip address using botocore. Failed to import necessary dependency botocore, please install botocore first.",
			"Output: Failed to resolve \"fs-1", "for this file system ID."},
		"mkfs.xfs":     {"format of disk failed: unknown option -m reflink=1\nUsage: mkfs.xfs\n/* blocksize */\t\t[-b size=num]", "format of disk", "unknown option -m reflink=1"},
		"iscsiadm":     {"iscsiadm: unrecognized option '--op2' usage: iscsiadm -m discovery [ -hV ]", "iscsiadm:", "'--op2'"},
		"lvcreate":     {"lvcreate: unrecognized option '--raidlevel'\n  Error during parsing of command line.\n  Run `lvcreate --help' for more information.", "lvcreate:", "of command line."},
		"aws-sdk-go":   {"InvalidVolume.NotFound: The volume 'vol-1' does not exist.\n\tstatus code: 400, request id: 7f1c-22: timed out", "InvalidVolume.NotFound: The volume 'vol-1' does not exist.", ": timed out"},
		"govmomi":      {"failed to attach disk: fault: VSLM task failed. opId: \"07c5a1\"", "failed to attach", "VSLM task failed"},
		"PowerShell":   {"Get-Disk : not found\nAt line:1 char:3\n+ ~~~", "Get-Disk", "not found"},
		"scheduler":    {"0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.", "0/3 nodes", "3 Insufficient cpu."},
		"Longhorn":     {"volume is not ready, code=Server Error, detail=] from [http://longhorn-backend:9500/v1/volumes/x]", "volume is", "not ready"},
		"a panic":      {"runtime error: index out of range goroutine 17 [running]: main.x()", "runtime error", "index out of range"},
		"disk usage":   {"disk usage: 95% of the pool, refused", "disk usage: 95%", "refused"},
		"only a usage": {"Usage: mount -lhV", "Usage:", "-lhV"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Gist(c.text); !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) {
				t.Errorf("%q", got)
			}
		})
	}
}
