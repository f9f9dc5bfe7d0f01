package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Next are the looks that may tell more of a volume whose failure no cause explains:
// first the words of who acted, then the state of what a volume of its kind rests on.
// They touch no path of the volume and ask nothing that changes a state. kubelet says that
// it failed by itself, before it asked the driver.
func Next(x *snapshot.Index, v *snapshot.Volume, node, step string, kubelet bool) []Step {
	var out []Step
	add := func(title string, commands ...Command) {
		s := Check(title, commands...)
		if r := s.look(x); len(r.Commands) > 0 {
			out = append(out, s)
		}
	}
	switch step {
	case "provision":
		if ns, claim := v.ClaimRef(); claim != "" {
			add("What is said of the claim.", Kubectl("-n", ns, "describe", "pvc", claim))
		}
		sidecar(x, v, "csi-provisioner", add)
	case "delete":
		if lh := v.LH(); v.PV == nil && lh != nil {
			add("What Longhorn still keeps of the volume.", Kubectl("-n", lh.Namespace, "get", "volumes.longhorn.io,engines.longhorn.io,replicas.longhorn.io,snapshots.longhorn.io", "-l", "longhornvolume="+lh.Name))
		} else {
			add("What is said of the volume.", Kubectl("describe", "pv", v.PVName()))
		}
		sidecar(x, v, "csi-provisioner", add)
	case "resize":
		if ns, claim := v.ClaimRef(); claim != "" {
			add("What the claim waits for.", Kubectl("-n", ns, "describe", "pvc", claim))
		}
		sidecar(x, v, "csi-resizer", add)
	case "modify":
		if m, ok := claims.ModificationOf(v.Claim); ok {
			add("What the claim waits for.", Kubectl("-n", v.Claim.Namespace, "describe", "pvc", v.Claim.Name))
			add("What the class asks of the driver.", Kubectl("get", "volumeattributesclass", m.Want, "-o", "yaml"))
		}
		sidecar(x, v, "csi-resizer", add)
	case "attach", "detach":
		attachment(x, v, node, add)
		if !owner(x, v, add) {
			sidecar(x, v, "csi-attacher", add)
		}
	case "serve", "replicate":
		owner(x, v, add)
	}
	if len(out) < 2 && (step != "replicate" || len(out) == 0) { // else the controller's side has spoken; the node's has nothing to do with it
		onNode(x, v, node, step, kubelet, add)
	}
	for _, s := range state(x, v, node) {
		add(s.Title, s.Commands...)
	}
	return out[:min(len(out), 3)]
}

// onNode shows the words of who acts on a node: the driver's plugin, and kubelet where it failed by itself,
// where there is no plugin, and of an unmount, of which it makes no event.
func onNode(x *snapshot.Index, v *snapshot.Volume, node, step string, kubelet bool, add func(string, ...Command)) {
	pod, container := around.Plugin(x, v, node)
	if node != "" && (step == "unmount" || kubelet || pod == nil) {
		add("The kubelet's words.", KubeletLog(node))
	}
	if pod != nil && !kubelet {
		add("The driver's own words.", Kubectl("-n", pod.Namespace, "logs", pod.Name, "-c", container, "--since=15m"))
	}
}

// attachment shows what is said of a volume's attachment to a node: who refused it by name
// tells more in its own log.
func attachment(x *snapshot.Index, v *snapshot.Volume, node string, add func(string, ...Command)) {
	for _, va := range v.Attachments {
		if va.Spec.NodeName != node && node != "" {
			continue
		}
		if pod, container := around.Controller(x, v); pod != nil && (va.Status.AttachError != nil || va.Status.DetachError != nil) { // what its status says is quoted
			add("The driver's own words.", Kubectl("-n", pod.Namespace, "logs", pod.Name, "-c", container, "--since=15m"))
		} else {
			add("What the attacher says.", Kubectl("get", "volumeattachment", va.Name, "-o", "jsonpath={.status}"))
		}
		return
	}
}

// owner shows the log of the longhorn-manager that acts for a volume of Longhorn: it attaches it,
// and starts its engine, its replicas and its share.
func owner(x *snapshot.Index, v *snapshot.Volume, add func(string, ...Command)) bool {
	lh := v.LH()
	if lh == nil {
		return false
	}
	pod := longhorn.ManagerOn(x, lh.Status.OwnerID)
	if pod != nil {
		add("The words of the longhorn-manager that acts for the volume.", Kubectl("-n", pod.Namespace, "logs", pod.Name, "-c", "longhorn-manager", "--since=15m"))
	}
	return pod != nil
}

// sidecar shows the log of a driver's sidecar, where one pod of it was seen. What was not made yet
// names its driver by its class.
func sidecar(x *snapshot.Index, v *snapshot.Volume, name string, add func(string, ...Command)) {
	driver := v.CSIName()
	if driver == "" && v.PV == nil && v.Class != nil {
		driver = v.Class.Provisioner
	}
	if pods := x.SidecarPods(driver, name); len(pods) > 0 {
		add("The words of "+name+".", Kubectl("-n", pods[0].Namespace, "logs", pods[0].Name, "-c", name, "--since=15m"))
	}
}

// state shows what a volume of a kind rests on.
func state(x *snapshot.Index, v *snapshot.Volume, node string) []Step {
	kind := around.KindOf(x, v, node)
	if kind == around.Longhorn || kind == around.LonghornV2 {
		if lh := v.LH(); lh != nil {
			return []Step{Check("Engine and replicas.", Kubectl("-n", lh.Namespace, "get", "engines.longhorn.io,replicas.longhorn.io", "-l", "longhornvolume="+lh.Name, "-o", "wide"))}
		}
		return nil
	}
	if pool, image, ok := v.RBDImage(); ok && pool != "" && kind == around.RBD {
		return []Step{CephLook(v, "Who watches the image", "rbd", "status", pool+"/"+image)}
	}
	if node == "" {
		return nil
	}
	words, ok := stateOf[kind]
	if !ok && v.CSIName() != "" && !v.AttachRequired(x) { // it may have no disk
		words = []string{"grep", "-s", "kubernetes.io.csi", "/proc/1/mountinfo"}
	} else if !ok {
		words = []string{"lsblk", "-o", "NAME,MAJ:MIN,SIZE,FSTYPE,SERIAL,MOUNTPOINT"}
	}
	return []Step{Check("The state on the node.", OnNode(node, words...))}
}

// stateOf are the programs that show it, without a server to be asked.
var stateOf = map[around.Kind][]string{
	around.ISCSI: {"iscsiadm", "-m", "session", "-P", "3"},
	around.FC:    {"multipath", "-ll"},
	around.NVMe:  {"nvme", "list-subsys"},
	around.NFS:   {"nfsstat", "-m"},
	around.SMB:   {"cat", "/proc/fs/cifs/DebugData"},
	around.FUSE:  {"grep", "-s", " fuse", "/proc/1/mountinfo"},
	around.Loop:  {"losetup", "-a"},
	around.Local: {"lsblk", "-f"},
	around.RBD:   {"sh", "-c", "head -n 1 /sys/bus/rbd/devices/*/pool /sys/bus/rbd/devices/*/name"},
	// The files of the ceph client are below debugfs, by cluster and client.
	around.CephFS: {"sh", "-c", "head -n 20 /sys/kernel/debug/ceph/*/mdsc /sys/kernel/debug/ceph/*/osdc"},
}
