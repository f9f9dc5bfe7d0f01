package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

var (
	overISCSI = []string{LonghornV1, ISCSI}
	overNFS   = []string{RWX, NFS}
	allNFS    = []string{RWX, NFS, NFSDriver}
	longhorns = []string{LonghornV1, LonghornV2, RWX}
)

// checks are made in this order: what a later one rests on comes first.
var checks = []check{
	{"iscsi-tools", overISCSI, report.Blocking, iscsiTools},
	{"iscsi-module", overISCSI, report.Blocking, iscsiModule},
	{"iscsi-daemon", overISCSI, report.Blocking, iscsiDaemon},
	{"initiator-name", overISCSI, report.Blocking, initiatorName},
	{"initiator-name-unique", []string{ISCSI}, report.Risk, initiatorUnique},
	{"iscsi-selinux", overISCSI, report.Risk, iscsiSELinux},
	{"multipath", []string{LonghornV1}, report.Risk, multipathd},
	{"host-programs", longhorns, report.Blocking, hostPrograms},
	{"talos-extension", longhorns, report.Risk, talosExtension},
	{"nfs-client", overNFS, report.Blocking, nfsClient},
	{"nfs-module", allNFS, report.Blocking, nfsModule},
	{"nfs-kernel", allNFS, report.Blocking, nfsKernel},
	{"host-name-unique", allNFS, report.Risk, hostUnique},
	{"encryption-module", []string{Encryption}, report.Blocking, cryptModule},
	{"encryption-module", []string{LonghornV1}, report.Risk, cryptPerhaps},
	{"encryption-tools", []string{Encryption}, report.Blocking, cryptTools},
	{"huge-pages", []string{LonghornV2}, report.Blocking, hugePages},
	{"processor", []string{LonghornV2}, report.Blocking, processor},
	{"v2-modules", []string{LonghornV2}, report.Blocking, v2Modules},
	{"nvme-module", []string{LonghornV2, NVMe}, report.Blocking, nvmeModule},
	{"smb-module", []string{SMB}, report.Blocking, smbModule},
	{"mount-propagation", nil, report.Blocking, propagation},
	{"kubelet-directory", nil, report.Risk, kubeletDirectory},
	{"clock", nil, report.Risk, clock},
}

func iscsiTools(t target) finding {
	f := finding{good: machine.Program(t.x, t.node, "iscsiadm"), passed: "iscsiadm is on the host",
		says: "iscsiadm is not on the host: every attach over iSCSI starts it there. What containers bring in their own images does not count."}
	if at := machine.Elsewhere(t.x, t.node, "iscsiadm"); at != "" && f.good.No() {
		f.says = "iscsiadm is at " + at + ", where nothing that attaches over iSCSI looks for it."
		f.steps = []remedy.Step{remedy.Words("Link " + at + " into /usr/local/sbin.")}
		return f
	}
	f.steps = []remedy.Step{remedy.Install(t.x, t.node, remedy.ISCSITools, "iscsiadm")}
	return f
}

func iscsiModule(t target) finding { return module(t, "iscsi_tcp", "no login over iSCSI is possible") }

// module is the check of one that is loaded on demand.
func module(t target, name, without string) finding {
	return finding{good: machine.Module(t.x, t.node, name), passed: "the kernel has module " + name,
		says:  "The kernel has no module " + name + ": it is neither loaded nor built in nor on disk. Without it " + without + ".",
		steps: []remedy.Step{noModule(name)}}
}

func noModule(name string) remedy.Step {
	return remedy.Words("Install the kernel flavour or the package of extra modules that has " + name + " (linux-modules-extra, kernel-modules-extra, kernel-default instead of kernel-default-base) and reboot into it. A kernel that was updated without a reboot has lost its modules, too.")
}

func iscsiDaemon(t target) finding {
	if machine.Program(t.x, t.node, "iscsiadm").No() {
		return finding{nothing: true} // it comes with the package
	}
	return finding{good: machine.ISCSIDaemon(t.x, t.node), passed: "the iSCSI daemon runs, or starts when it is wanted",
		says:  "The iSCSI daemon does not run, and nobody listens on its socket.",
		steps: []remedy.Step{remedy.StartISCSI(t.x, t.node)}}
}

func initiatorName(t target) finding {
	if machine.Program(t.x, t.node, "iscsiadm").No() {
		return finding{nothing: true}
	}
	return finding{good: machine.Initiator(t.x, t.node), passed: "the iSCSI initiator has a name",
		says:  "The iSCSI initiator has no valid name in /etc/iscsi/initiatorname.iscsi, and its daemon does not start without one.",
		steps: []remedy.Step{remedy.Words("Write a line InitiatorName= with the output of iscsi-iname to /etc/iscsi/initiatorname.iscsi and restart iscsid. Each node needs a name of its own.")}}
}

func initiatorUnique(t target) finding {
	if len(t.among) < 2 {
		return finding{nothing: true}
	}
	good, twins := machine.InitiatorName(t.x, t.node, t.among)
	return finding{good: good, passed: "no other node has its iSCSI initiator name",
		says:  fmt.Sprintf("It shares its iSCSI initiator name with %s: a target takes them for one machine, and each login of one ends the session of the other.", strings.Join(twins, ", ")),
		steps: []remedy.Step{remedy.Words("Give every node but one a name of its own: drain it, write the line InitiatorName= with the output of iscsi-iname to /etc/iscsi/initiatorname.iscsi, restart iscsid. Tell the storage's access lists first.")}}
}

func multipathd(t target) finding {
	good, open := multipath.KeepsOff(t.x, t.node)
	return finding{good: good, passed: "multipathd leaves Longhorn's disks alone",
		says: "multipathd is active, and its configuration leaves the disks of Longhorn to it (" + strings.Join(open, ", ") + "): it may build a map over one at any attach, which then is busy for mount and mkfs.",
		steps: []remedy.Step{
			remedy.Words("Exclude the disks: add the lines to the configuration, then run multipathd reconfigure.").In("/etc/multipath.conf", remedy.Blacklist("IET", "VIRTUAL-DISK", "")...),
			remedy.DisableMultipathd(t.node),
		}}
}

// hostPrograms are those of util-linux that Longhorn calls on the host. Talos has none
// of them.
func hostPrograms(t target) finding {
	wanted := []string{"blkid", "findmnt", "lsblk", "mount", "umount"}
	if remedy.IsTalos(t.x, t.node) {
		return finding{nothing: true}
	}
	var all []evidence.Answer
	var missing []string
	for _, p := range wanted {
		a := machine.Program(t.x, t.node, p)
		all = append(all, a)
		if a.No() {
			missing = append(missing, p)
		}
	}
	if len(missing) == len(wanted) { // no host starts without mount(8): a recording of other things
		all = []evidence.Answer{evidence.Unseen(evidence.Lack{Node: t.node, Why: "no program of util-linux was seen"})}
	}
	f := finding{good: evidence.All(all...), passed: "the host has " + strings.Join(wanted, ", "),
		says: "The host has no " + strings.Join(missing, ", ") + ", which Longhorn calls there."}
	if len(missing) > 0 {
		f.steps = []remedy.Step{remedy.Install(t.x, t.node, remedy.UtilLinux, missing[0])}
	}
	return f
}

// talosExtension is what Longhorn's documents ask for beside iscsi-tools.
func talosExtension(t target) finding {
	if !remedy.IsTalos(t.x, t.node) {
		return finding{nothing: true}
	}
	return finding{good: machine.Program(t.x, t.node, "nsenter"), passed: "the extension util-linux-tools is there",
		says:  "The extension util-linux-tools is not there (no nsenter): Longhorn's documents ask for it, and filesystems are not trimmed without.",
		steps: []remedy.Step{remedy.Install(t.x, t.node, remedy.UtilLinux, "nsenter")}}
}

func nfsKernel(t target) finding {
	return finding{good: nfs.KernelWell(t.x, t.node), passed: "no fault of the kernel's NFS client is known",
		says:  "The NFSv4 client of this kernel release is known to refuse mounts with Protocol not supported.",
		steps: []remedy.Step{remedy.Words("Boot another kernel of the distribution, a newer or the one before.")}}
}

func hostUnique(t target) finding {
	if len(t.among) < 2 {
		return finding{nothing: true}
	}
	good, twins := machine.HostName(t.x, t.node, t.among)
	return finding{good: good, passed: "no other node has its host name",
		says:  fmt.Sprintf("It shares its host name with %s: an NFS server tells clients apart by it, and the two disturb each other as soon as both mount one server.", strings.Join(twins, ", ")),
		steps: []remedy.Step{remedy.Words("Give every node a host name of its own before the next mount; mounts that exist keep the old one.")}}
}

func propagation(t target) finding {
	good, point := machine.Shared(t.x, t.node)
	return finding{good: good, passed: "mounts below the kubelet's directory reach containers",
		says:  "The mount " + point + ", which holds the kubelet's directory, is private: what is mounted below it does not reach the containers of drivers, nor what they mount the host.",
		steps: []remedy.Step{remedy.Words("Make it shared at each boot, before the container runtime starts: mount --make-rshared " + point + ". systemd does so by itself; something made it private, or the node has another init.")}}
}

func clock(t target) finding {
	if len(t.among) < 2 {
		return finding{nothing: true}
	}
	good, off := machine.Clock(t.x, t.node, t.among)
	if slices.ContainsFunc(good.Lacks(), func(l evidence.Lack) bool { return l.Why == machine.Undated }) {
		return finding{nothing: true} // a recording without a clock
	}
	return finding{good: good, passed: "its clock agrees with the other nodes'",
		says:  "Its clock is " + report.Duration(int64(off.Abs().Seconds())) + " off the other nodes': leases and the times in logs mislead.",
		steps: []remedy.Step{remedy.Words("Let chronyd or systemd-timesyncd run with a server that answers.")}}
}
