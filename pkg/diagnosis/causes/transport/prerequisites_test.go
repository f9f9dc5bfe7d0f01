package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

const driver = "san.example.org"

// sanWorld is a waiting pod of a CSI driver over iSCSI on a host where everything is installed and runs.
func sanWorld(text string, change func(*probes.Facts)) *world {
	w := newWorld(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-7",
		VolumeAttributes: map[string]string{"targetPortal": "10.1.1.8:3260", "iqn": "iqn.2020-01.org.example:disk7"}}}).pod("web", "n1", corev1.PodPending)
	if text != "" {
		w.says("web", text)
	}
	return w.probed("n1", func(f *probes.Facts) {
		f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
		f.Files["etc/iscsi/initiatorname.iscsi"] = probes.File{Kind: "file", Content: "InitiatorName=iqn.1993-08.org.debian:01:x\n"}
		f.ISCSI.InitiatorFile, f.ISCSI.DaemonPIDs = "etc/iscsi/initiatorname.iscsi", []int{77}
		change(f)
	})
}

func same(*probes.Facts) {}

func TestInitiatorName(t *testing.T) {
	t.Parallel()
	const unseen = "MountVolume.MountDevice failed for volume \"pv-data\" : iscsiadm: No portals found\nexit status 21"
	registered := func(w *world, id string) *world {
		w.s.Cluster.CSINodes = []*storagev1.CSINode{{ObjectMeta: meta("", "n1"), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: id}}}}}
		return w
	}
	refused := func(target string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : iscsiadm: Could not login to [iface: default, target: " + target + ", portal: 10.1.1.8,3260].\niscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)"
	}
	broken := func(content, name string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Files["etc/iscsi/initiatorname.iscsi"] = probes.File{Kind: "file", Content: content}
			f.ISCSI.InitiatorName = name
		}
	}
	const invalid = "MountVolume.MountDevice failed for volume \"pv-data\" : iscsiadm: Cannot perform discovery. Initiatorname required."
	certain, likely := []string{"iscsi-initiator-name-invalid certain Node n1"}, []string{"iscsi-initiator-name-invalid likely Node n1"}
	check(t, []branch{
		{"the driver registered another name", registered(sanWorld(unseen, same), "iqn.2020-01.org.example:n1"), certain},
		{"the driver registered this name", registered(sanWorld(unseen, same), "iqn.1993-08.org.debian:01:x"), clean},
		{"another target does not let the node in", registered(sanWorld(refused("iqn.2020-01.org.example:another"), same), "iqn.2020-01.org.example:n1"), clean},
		{"the volume's target does not", registered(sanWorld(refused("iqn.2020-01.org.example:disk7"), same), "iqn.2020-01.org.example:n1"), certain},
		{"an id that is no name", registered(sanWorld(unseen, same), "n1"), clean},
		{"an empty name and a failing attach", sanWorld(invalid, broken("InitiatorName=\n", "")), certain},
		{"a comment only and a failing attach", sanWorld(invalid, broken("# InitiatorName=iqn.x\n", "")), certain},
		{"a name of no known form", sanWorld(invalid, broken("InitiatorName=node1\n", "node1")), certain},
		{"a defect and no failing attach", sanWorld("", broken("InitiatorName=\n", "")), likely},
		{"the place-holder of a package before the first start", sanWorld(invalid, func(f *probes.Facts) {
			broken("GenerateName=yes\n", "")(f)
			f.ISCSI.DaemonPIDs = nil
		}), []string{"iscsid-not-running certain Node n1"}},
		{"a valid file beside words about a name", sanWorld(invalid, same), clean},
		{"its own name was not read, and the storage knows one", registered(sanWorld(unseen, func(f *probes.Facts) {
			f.ISCSI.InitiatorName = ""
			f.Files["etc/iscsi/initiatorname.iscsi"] = probes.File{Kind: "file", Err: "EACCES"}
		}), "iqn.2020-01.org.example:n1"), clean},
	})
}

func TestModule(t *testing.T) {
	t.Parallel()
	lists := func(dep, modules string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Identity.Kernel = "6.1.0"
			if dep != "" {
				f.Files["lib/modules/6.1.0/modules.dep"] = probes.File{Kind: "file", Content: dep}
			}
			f.Files["proc/modules"] = probes.File{Kind: "file", Content: modules}
		}
	}
	const gone = "modprobe: FATAL: Module iscsi_tcp not found in directory /lib/modules/6.1.0\niscsiadm: initiator reported error (12 - iSCSI driver not found. Please make sure it is loaded, and retry the operation)"
	certain := []string{"iscsi-module-missing certain Node n1"}
	check(t, []branch{
		{"in none of the lists", sanWorld("", lists("kernel/fs/ext4/ext4.ko:\n", "ext4 1 0\n")), certain},
		{"loads on demand", sanWorld("", lists("kernel/drivers/scsi/iscsi_tcp.ko.zst: x\n", "ext4 1 0\n")), clean},
		{"built by the vendor and loaded", sanWorld("", lists("", "iscsi_tcp 32768 2 - Live\n")), clean},
		{"words of modprobe, the list was not read", sanWorld(gone, lists("", "ext4 1 0\n")), certain},
		{"words of iscsiadm alone", sanWorld("iscsiadm: initiator reported error (12 - iSCSI driver not found. Please make sure it is loaded, and retry the operation)", lists("", "")), []string{"iscsi-module-missing likely Node n1"}},
	})
}

func TestInterfaceMisbound(t *testing.T) {
	t.Parallel()
	const text = "iscsiadm: cannot make connection to 10.1.1.8: No route to host\niscsiadm: connection login retries (reopen_max) 5 exceeded"
	bound := func(answer, record string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Files["var/lib/iscsi/ifaces/san0"] = probes.File{Kind: "file", Content: record}
			if answer != "" {
				f.Dials["10.1.1.8:3260"] = answer
			}
		}
	}
	const nic = "iface.iscsi_ifacename = san0\niface.net_ifacename = eth1\niface.transport_name = tcp\n"
	check(t, []branch{
		{"a plain connection works", sanWorld(text, bound("ok 0.4ms", nic)), []string{"iscsi-interface-misbound certain Node n1"}},
		{"no plain connection was tried", sanWorld(text, bound("", nic)), []string{"iscsi-interface-misbound likely Node n1"}},
		{"nobody gets through", sanWorld(text, bound("timeout 3s", nic)), clean},
		{"a record that binds nothing", sanWorld(text, bound("ok 0.4ms", "iface.iscsi_ifacename = san0\niface.transport_name = tcp\n")), clean},
		{"no words of a failed connection", sanWorld("", bound("ok 0.4ms", nic)), clean},
	})
}

func TestSELinuxDeniesISCSI(t *testing.T) {
	t.Parallel()
	// 1772420340 is one minute before the snapshot.
	line := func(comm, mode string) string {
		return "type=AVC msg=audit(1772420340.123:456): avc:  denied  { dac_override } for  pid=4242 comm=\"" + comm + "\" capability=1 tclass=capability permissive=" + mode
	}
	host := func(audit, enforce string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Files["var/log/audit/audit.log"] = probes.File{Kind: "file", Content: audit}
			f.Files["sys/fs/selinux/enforce"] = probes.File{Kind: "file", Content: enforce}
		}
	}
	build := func(change func(*probes.Facts)) *world {
		w := sanWorld("", change)
		return w.attachFails("n1", "cannot find target iqn.2020-01.org.example:disk7 in discovered targets")
	}
	check(t, []branch{
		{"enforced and fresh", build(host(line("iscsiadm", "0"), "1")), []string{"selinux-denies-iscsi certain Node n1"}},
		{"permissive", build(host(line("iscsiadm", "1"), "1")), clean},
		{"not enforcing", build(host(line("iscsiadm", "0"), "0")), clean},
		{"another program", build(host(line("logrotate", "0"), "1")), clean},
		{"nothing fails", sanWorld("", host(line("iscsid", "0"), "1")), clean},
	})
}
