package hostfiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const machine = `a host without iscsiadm in the searched path
-- etc/fstab --
//nas/share /srv cifs username=a,password=hunter2,_netdev 0 0
-- etc/iscsi/iscsid.conf --
node.session.auth.password = hunter2
node.startup = manual
-- run/current-system/sw/bin/iscsiadm --
@link /nix/store/x/bin/iscsiadm
-- usr/sbin/mount.nfs --
-- usr/lib/modules/6.1.0/modules.dep --
kernel/drivers/scsi/iscsi_tcp.ko.xz: kernel/drivers/scsi/libiscsi_tcp.ko.xz
kernel/fs/nfs/nfs.ko.xz: kernel/net/sunrpc/sunrpc.ko.xz
-- usr/lib/modules/6.1.0/modules.builtin --
kernel/fs/ext4/ext4.ko
-- proc/modules --
nfs 1 0 - Live 0x0
-- proc/sys/kernel/osrelease --
6.1.0
-- sys/module/dm_multipath/parameters/queue --
1
-- sys/module/md_mod/parameters/new_array --
@error EACCES
-- sys/class/fc_host/host3/port_state --
Linkdown
-- proc/1/root --
@link /
-- proc/77/root/usr/sbin/iscsiadm --
-- etc/mdadm.conf --
@error EIO
-- var/log/syslog --
May  4 10:00:00 n iscsid: connection1:0 is operational after recovery (1 attempts)
-- srv/longhorn/longhorn-disk.cfg --
{"diskUUID":"u"}
`

func gathered(t *testing.T) *probes.Facts {
	t.Helper()
	h, err := host.ParseRecording([]byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{Identity: probes.Identity{Kernel: "6.1.0"}}
	w := host.Watch(h)
	if err := Run(t.Context(), w, f); err != nil {
		t.Fatal(err)
	}
	if refused, _ := w.Refused(); len(refused) != 1 || refused[0].Path != "etc/mdadm.conf" {
		t.Errorf("refused: %v", refused)
	}
	return f
}

func TestLookups(t *testing.T) {
	f := gathered(t)
	type state = probes.ModuleState
	got := map[string]any{
		"iscsiadm": f.Tool("iscsiadm"), "iscsiadm elsewhere": f.ToolElsewhere("iscsiadm"), "mount.nfs": f.Tool("mount.nfs"),
		"iscsi-tcp": f.Module("iscsi-tcp"), "nfs": f.Module("nfs"), "ext4": f.Module("ext4"), "dm_multipath": f.Module("dm_multipath"), "rbd": f.Module("rbd"),
		"disk": f.Files["srv/longhorn/longhorn-disk.cfg"].Content, "mdadm": f.Files["etc/mdadm.conf"].Err,
		"fabric": f.Files["sys/class/fc_host/host3/port_state"].Content,
	}
	want := map[string]any{
		"iscsiadm": "", "iscsiadm elsewhere": "/run/current-system/sw/bin/iscsiadm", "mount.nfs": "/usr/sbin/mount.nfs",
		"iscsi-tcp": state{OnDisk: true, Listed: true}, "nfs": state{Loaded: true, OnDisk: true, Listed: true},
		"ext4": state{BuiltIn: true, Listed: true}, "dm_multipath": state{Loaded: true, Listed: true}, "rbd": state{Listed: true},
		"disk": "{\"diskUUID\":\"u\"}\n", "mdadm": "EIO", "fabric": "Linkdown\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	for p := range f.Files {
		if strings.HasPrefix(p, "proc/1/root") {
			t.Errorf("%s is the same file under another name", p)
		}
	}
	if f.Files["proc/77/root/usr/sbin/iscsiadm"].Kind == "" {
		t.Error("a container's own program is not kept")
	}
}
