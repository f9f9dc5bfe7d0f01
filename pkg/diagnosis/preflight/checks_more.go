package preflight

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nfsClient is mount.nfs where the mount is made: on the host by Longhorn, by the kubelet
// where it runs.
func nfsClient(t target) finding {
	f := finding{good: machine.Program(t.x, t.node, "mount.nfs", "mount.nfs4"), passed: "the host has mount.nfs",
		says:  "The host has no mount.nfs: shares cannot be mounted, and mount says wrong fs type, bad option.",
		steps: []remedy.Step{remedy.Install(t.x, t.node, remedy.NFSClient, "mount.nfs")}}
	view := t.x.View(t.node)
	if !f.good.No() || view == nil {
		return f
	}
	if k := view.Facts.Kubelet; k.PID != 0 && k.MntNS != 0 && k.MntNS != view.Facts.Identity.InitMntNS {
		f.good = machine.In(t.x, t.node, fmt.Sprintf("proc/%d/root/", k.PID), "mount.nfs", "mount.nfs4")
		f.passed, f.says = "the container of the kubelet has mount.nfs", "Neither the host nor the container that the kubelet runs in has mount.nfs: shares cannot be mounted."
	}
	if f.good.No() && remedy.IsTalos(t.x, t.node) { // its kubelet always runs in a container
		f.good = evidence.Unseen(evidence.Lack{Node: t.node, Why: "the programs in the kubelet's container were not seen"})
	}
	return f
}

func nfsModule(t target) finding {
	return finding{good: machine.NFS(t.x, t.node), passed: "the kernel has a client of NFSv4",
		says:  "The kernel has no client of NFSv4: it is neither loaded nor built in nor on disk.",
		steps: []remedy.Step{noModule("nfs and nfsv4")}}
}

func cryptModule(t target) finding { return module(t, "dm_crypt", "no encrypted volume opens") }

// cryptPerhaps is Longhorn's own check, which wants the module whether or not a volume is
// encrypted.
func cryptPerhaps(t target) finding {
	if t.wants(Encryption) {
		return finding{nothing: true}
	}
	return module(t, "dm_crypt", "no encrypted volume will open")
}

func cryptTools(t target) finding {
	return finding{good: machine.Program(t.x, t.node, "cryptsetup"), passed: "the host has cryptsetup",
		says:  "The host has no cryptsetup, which Longhorn starts there to open encrypted volumes.",
		steps: []remedy.Step{remedy.Install(t.x, t.node, remedy.Cryptsetup, "cryptsetup")}}
}

func hugePages(t target) finding {
	wanted, from := lh.V2Memory(t.x)
	if wanted == 0 {
		return finding{nothing: true}
	}
	pages := (wanted + 1) / 2
	return finding{good: machine.HugePages(t.x, t.node, int(wanted)), passed: fmt.Sprintf("it has %d huge pages of 2 MiB", pages),
		says: fmt.Sprintf("It has fewer than %d huge pages of 2 MiB, which the v2 data engine takes (%d MiB, %s).", pages, wanted, from),
		steps: []remedy.Step{remedy.Words("Reserve them at each boot and reboot: later free memory is in pieces, and the kubelet counts them at its start. Talos and Bottlerocket set sysctls in their own configuration.").
			In("/etc/sysctl.d/90-longhorn-v2.conf", fmt.Sprintf("vm.nr_hugepages = %d", pages))}}
}

// processor is the instruction set that SPDK is built for on amd64.
func processor(t target) finding {
	if n := t.x.Node(t.node); n != nil && n.Status.NodeInfo.Architecture != "" && n.Status.NodeInfo.Architecture != "amd64" {
		return finding{nothing: true}
	}
	return finding{good: machine.Flag(t.x, t.node, "sse4_2"), passed: "its processors have SSE 4.2",
		says:  "Its processors show no SSE 4.2, without which the v2 data engine (SPDK) does not start. Virtual machines of the types kvm64 and qemu64 hide it.",
		steps: []remedy.Step{remedy.Words("Give the virtual machine a processor type that shows SSE 4.2: host, or x86-64-v2.")}}
}

// v2Modules are those that nobody loads on demand: one of them gives disks to SPDK.
func v2Modules(t target) finding {
	var all []evidence.Answer
	f := finding{passed: "vfio_pci and uio_pci_generic are loaded"}
	var absent, unloaded []string
	for _, m := range []string{"vfio_pci", "uio_pci_generic"} {
		there, loaded := machine.Module(t.x, t.node, m), machine.Loaded(t.x, t.node, m)
		all = append(all, loaded)
		switch {
		case there.No():
			absent = append(absent, m)
			f.steps = append(f.steps, noModule(m))
		case loaded.No():
			unloaded = append(unloaded, m)
			f.steps = append(f.steps, remedy.Load(t.x, t.node, m))
		}
	}
	f.good = evidence.All(all...)
	if len(absent) > 0 {
		f.says = "The kernel has no module " + strings.Join(absent, " and no ") + ", which the v2 data engine wants. "
	}
	if len(unloaded) > 0 {
		f.says += "Module " + strings.Join(unloaded, " and ") + " is not loaded; Longhorn's v2 data engine wants it and does not load it."
	}
	f.says = strings.TrimSpace(f.says)
	return f
}

func nvmeModule(t target) finding {
	const name = "nvme_tcp"
	f := module(t, name, "no disk over NVMe/TCP can be connected")
	if t.wants(LonghornV2) && f.good.Yes() {
		f.good, f.passed = machine.Loaded(t.x, t.node, name), "module "+name+" is loaded"
		f.says = "Module " + name + " is not loaded; Longhorn's v2 data engine wants it and does not load it."
		f.steps = []remedy.Step{remedy.Load(t.x, t.node, name)}
	}
	return f
}

func smbModule(t target) finding { return module(t, "cifs", "no SMB share can be mounted") }

// kubeletDirectory compares the directory of the kubelet with those for which the plugins
// of drivers on the node are set up.
func kubeletDirectory(t target) finding {
	pl := evidence.NodePlace(t.x, t.node)
	f := finding{good: evidence.Unseen(evidence.Lack{Node: t.node, Why: "the kubelet's directory was not read"}), passed: "drivers are set up for the kubelet's directory"}
	for _, driver := range t.x.Drivers() {
		plugin := t.x.DriverPodOn(driver, t.node)
		if plugin == nil {
			continue
		}
		r := kubelet.RootsOf(pl, driver, plugin)
		if r.Differ.Yes() {
			f.good = evidence.Not(r.Differ)
			f.says = fmt.Sprintf("Pod %s/%s of driver %s is set up for %s, and the kubelet's directory is %s (%s): they never meet.", plugin.Namespace, plugin.Name, driver, r.Plugin, r.Kubelet, r.How)
			f.steps = []remedy.Step{remedy.Words("Set the driver's kubelet directory to " + r.Kubelet + ", in the values of its chart (of Longhorn csi.kubeletRootDir).")}
			return f
		}
		if r.Differ.No() {
			f.good = evidence.Yes(r.Differ.Facts()...)
		}
	}
	if view := pl.View; f.good.Unseen() && view != nil {
		f.good = directoryAlone(t, view)
		f.passed = "the kubelet's directory is " + view.KubeletRoot()
		f.says = "The kubelet's directory is " + view.KubeletRoot() + " and not the usual one."
		f.steps = []remedy.Step{remedy.Words("Tell drivers when they are installed: of Longhorn csi.kubeletRootDir=" + view.KubeletRoot() + ".")}
	}
	return f
}

// directoryAlone judges a node without plugins of drivers: they come set up for the usual
// directory.
func directoryAlone(t target, view *snapshot.NodeView) evidence.Answer {
	k := view.Facts.Kubelet
	if r := evidence.Ended(t.x, t.node, probes.KubeletDirs); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	if k.Root == "" || k.RootFrom == "default" && k.PID == 0 {
		return evidence.Unseen(evidence.Lack{Node: t.node, Why: "the kubelet's directory was not read"})
	}
	usual := k.Root == "/var/lib/kubelet" || k.RealRoot == "/var/lib/kubelet"
	return evidence.When(usual, evidence.FromNode(t.node, strings.TrimPrefix(k.Root, "/"), k.RootFrom))
}

// iscsiSELinux looks for denials of the initiator's programs where SELinux enforces.
func iscsiSELinux(t target) finding {
	denied, fact := machine.ISCSIDenied(t.x, t.node)
	return finding{good: evidence.Not(denied), passed: "SELinux does not keep the iSCSI programs from their work",
		says:  "SELinux denied a program of the iSCSI initiator something (" + fact + "). The policies of Fedora and Red Hat 9 do that to iscsiadm that Longhorn starts.",
		steps: []remedy.Step{remedy.Words("Install the policy module that Longhorn's documents name for it (longhorn-iscsi-selinux-workaround), which allows iscsid_t dac_override.")}}
}
