package remedy

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Next are the looks that may tell more of a volume whose failure no cause explains:
// first the words of who acted, then the state of what a volume of its kind rests on.
// They touch no path of the volume and ask nothing that changes a state. kubelet says that
// it failed by itself, before it asked the driver; said: who acts gave a code of gRPC.
func Next(x *snapshot.Index, v *snapshot.Volume, node, step string, said, kubelet bool) []Step {
	var out []Step
	afar := false
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
		if ns, resource, name := claims.Populator(v.Claim); resource != "" {
			add("What the volume is to be filled from.", Kubectl("-n", ns, "get", resource, name, "-o", "yaml"))
			add("The populators that are registered.", Kubectl("get", "volumepopulators"))
			return out
		}
		controller(x, v, step, add)
	case "delete":
		if lh := v.LH(); v.PV == nil && lh != nil {
			add("What Longhorn still keeps of the volume.", Kubectl("-n", lh.Namespace, "get", "volumes.longhorn.io,engines.longhorn.io,replicas.longhorn.io,snapshots.longhorn.io", "-l", "longhornvolume="+lh.Name))
		} else {
			add("What is said of the volume.", Kubectl("describe", "pv", v.PVName()))
		}
		controller(x, v, step, add)
	case "resize":
		if ns, claim := v.ClaimRef(); claim != "" {
			add("What the claim waits for.", Kubectl("-n", ns, "describe", "pvc", claim))
		}
		controller(x, v, step, add)
	case "modify":
		if m, ok := claims.ModificationOf(v.Claim); ok {
			add("What the claim waits for.", Kubectl("-n", v.Claim.Namespace, "describe", "pvc", v.Claim.Name))
			add("What the class asks of the driver.", Kubectl("get", "volumeattributesclass", m.Want, "-o", "yaml"))
		}
		sidecar(x, v, step, add)
	case "attach", "detach":
		afar = attaching(x, v, node, step, said, add) && step == "attach" && around.KindOf(x, v, "").Afar()
	case "serve", "replicate":
		owner(x, v, add)
	}
	if len(out) < 2 && (step != "replicate" || len(out) == 0) { // else the controller's side has spoken; the node's has nothing to do with it
		onNode(x, v, node, step, kubelet, add)
	}
	if afar && len(out) > 1 {
		return out // the storage has refused: the node was not touched
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
		add("The driver's own words.", LogOf(pod, container))
	}
}

// attachment shows what is said of a volume's attachment to a node. Who refused it by name tells more in its
// own log: what the status says is quoted.
func attachment(x *snapshot.Index, v *snapshot.Volume, node string, said bool, add func(string, ...Command)) (refused bool) {
	for _, va := range v.Attachments {
		if va.Spec.NodeName != node && node != "" {
			continue
		}
		refused = va.Status.AttachError != nil || va.Status.DetachError != nil
		if pod, _ := around.Controller(x, v, "attach"); pod == nil || !refused {
			add("What the attacher says.", Kubectl("get", "volumeattachment", va.Name, "-o", "jsonpath={.status}"))
		}
		return refused
	}
	return said && v.CSIName() != "" // by an event alone: it was the controller that asked
}

// attaching shows who acts on an attachment, and tells whether it was refused.
func attaching(x *snapshot.Index, v *snapshot.Volume, node, step string, said bool, add func(string, ...Command)) (refused bool) {
	refused = attachment(x, v, node, said, add)
	if !owner(x, v, add) && refused {
		controller(x, v, step, add)
	} else if v.LH() == nil {
		sidecar(x, v, step, add)
	}
	return refused
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

// controller shows the logs of a driver's controller, first those of the driver itself: its sidecar repeats its
// answers.
func controller(x *snapshot.Index, v *snapshot.Volume, step string, add func(string, ...Command)) {
	if pod, container := around.Controller(x, v, step); pod != nil {
		add("The driver's own words.", LogOf(pod, container))
	}
	sidecar(x, v, step, add)
}

// ControllerLog is a step whose answer stands in the log of a driver's controller; in words where no pod of it was seen.
func ControllerLog(x *snapshot.Index, v *snapshot.Volume, step, title string) Step {
	if pod, container := around.Controller(x, v, step); pod != nil {
		return Check(title, LogOf(pod, container))
	}
	return Words(title)
}

// PodLooks shows why a pod does not run: what a container said before it ended, else what is said of the pod.
func PodLooks(pod *corev1.Pod, title string) Step {
	if container, ended := around.Ended(pod); ended {
		return Check(title, LogOf(pod, container))
	}
	return Check(title, Kubectl("-n", pod.Namespace, "describe", "pod", pod.Name))
}

// sidecar shows the log of a driver's sidecar for a step, where one pod of it was seen.
func sidecar(x *snapshot.Index, v *snapshot.Volume, step string, add func(string, ...Command)) {
	if name, pods := around.Sidecar(x, v, step); len(pods) > 0 {
		add("The words of "+name+".", LogOf(pods[0], around.SidecarIn(pods[0], name)))
	}
}

// SidecarLog is a step whose answer stands in the log of a driver's sidecar; in words where no pod of it was seen.
func SidecarLog(x *snapshot.Index, v *snapshot.Volume, step, title string) Step {
	if name, pods := around.Sidecar(x, v, step); len(pods) > 0 {
		return Check(title, LogOf(pods[0], around.SidecarIn(pods[0], name)))
	}
	return Words(title)
}

// LogOf shows what a container says, or said before it ended the last time.
func LogOf(pod *corev1.Pod, container string) Command {
	args := []string{"-n", pod.Namespace, "logs", pod.Name, "-c", container}
	if name, ended := around.Ended(pod); ended && name == container {
		return Kubectl(append(args, "--previous")...)
	}
	return Kubectl(append(args, "--since=15m")...)
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
		if look := CephLook(v, "Who watches the image", "rbd", "status", pool+"/"+image); len(look.look(x).Commands) > 0 {
			return []Step{look}
		}
	}
	if node == "" {
		return nil
	}
	words, ok := stateOf[kind]
	if !ok && v.CSIName() != "" && (kind.Share() || !v.AttachRequired(x)) { // it has, or may have, no disk; some shares are attached (IBM Storage Scale)
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
