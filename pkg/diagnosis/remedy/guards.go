package remedy

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Unmounted wants no mount of a device or of what lies on it, in any namespace.
func Unmounted(node string, b *probes.BlockDevice) Guard {
	return Guard{
		Question: "unmounted", Fact: titled("nothing mounts %s on node %s, in any mount namespace", title(b), node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Unmounted(x, node, b.Dev) },
		Look: []Command{OnNode(node, "sh", "-c", titled("grep -s ' %s ' /proc/[0-9]*/mountinfo", b.Dev))},
		On:   Target{Node: node, Device: b.Name},
	}
}

// Closed wants nobody who has a device, or a file on it, open.
func Closed(node string, b *probes.BlockDevice) Guard {
	return Guard{
		Question: "closed", Fact: titled("no process of node %s has %s or a file on it open", node, title(b)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Closed(x, node, b.Dev) },
		Look: []Command{OnNode(node, "sh", "-c", titled("ls -l /proc/[0-9]*/fd 2>/dev/null | grep -w %s", quote("/dev/"+b.Name)))},
		On:   Target{Node: node, Device: b.Name},
	}
}

// Bare wants nothing that lies on a device besides what the step takes down itself.
func Bare(node string, b *probes.BlockDevice, besides ...string) Guard {
	return Guard{
		Question: "bare", Fact: titled("nothing lies on %s on node %s, and it is no swap", title(b), node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Alone(x, node, b.Dev, besides...) },
		Look: []Command{OnNode(node, "ls", "/sys/class/block/"+b.Name+"/holders/"), OnNode(node, "cat", "/proc/swaps")},
		On:   Target{Node: node, Device: b.Name},
	}
}

// free are the three together.
func free(node string, b *probes.BlockDevice, besides ...string) []Guard {
	return []Guard{Unmounted(node, b), Closed(node, b), Bare(node, b, besides...)}
}

// Known wants something that tells the device from a later one of its name.
func Known(node string, b *probes.BlockDevice) Guard {
	return Guard{
		Question: "known", Fact: titled("%s of node %s can be told from another device of that name", title(b), node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Known(x, node, b.Dev) },
		Look: []Command{OnNode(node, "ls", "-l", "/dev/disk/by-id/")},
		On:   Target{Node: node, Device: b.Name},
	}
}

// NoneUses wants no pod that uses a volume on a node; without a node, anywhere.
func NoneUses(v *snapshot.Volume, node string) Guard {
	where := "anywhere"
	if node != "" {
		where = "on node " + node
	}
	return Guard{
		Question: "pods-none-use", Fact: titled("no pod uses volume %s %s", nameOf(v), where),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.NoneUses(x, v, node) },
		Look: lookUsers(v),
		On:   Target{Node: node, Volume: v},
	}
}

// NoneWorks wants no pod that works with a volume on a node.
func NoneWorks(v *snapshot.Volume, node string) Guard {
	return Guard{
		Question: "pods-none-work", Fact: titled("no pod on node %s works with volume %s", node, nameOf(v)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.NoneWorks(x, v, node) },
		Look: lookUsers(v),
		On:   Target{Node: node, Volume: v},
	}
}

func lookUsers(v *snapshot.Volume) []Command {
	if v == nil {
		return []Command{Kubectl("get", "pods", "-A", "-o", "wide")}
	}
	if ns, claim := v.ClaimRef(); claim != "" {
		return []Command{Kubectl("-n", ns, "describe", "pvc", claim)}
	}
	return []Command{Kubectl("get", "pods", "-A", "-o", "wide")}
}

// Everywhere wants every node that may have a volume read whole.
func Everywhere(v *snapshot.Volume) Guard {
	return Guard{
		Question: "nodes-read", Fact: titled("every node that may have volume %s was looked at", nameOf(v)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return volume.Everywhere(x, v) },
		Look: []Command{Kubectl("get", "volumeattachments", "-o", "wide")},
		On:   Target{Volume: v},
	}
}

// OnlyHere wants no other node that mounts a volume: a pod that starts anew replays the
// journal under a second writer.
func OnlyHere(v *snapshot.Volume, node string) Guard {
	return Guard{
		Question: "mounted-only-here", Fact: titled("no node but %s mounts volume %s", node, nameOf(v)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return volume.OnlyHere(x, v, node) },
		Look: []string{Kubectl("mountdoctor", "volume", nameOf(v))},
		On:   Target{Node: node, Volume: v},
	}
}

// UnusedOn wants nothing on a node that uses a volume.
func UnusedOn(v *snapshot.Volume, node string) Guard {
	return Guard{
		Question: "volume-unused", Fact: titled("nothing on node %s mounts, maps or holds volume %s", node, nameOf(v)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return volume.UnusedOn(x, v, node) },
		Look: []Command{Kubectl("mountdoctor", "node", node)},
		On:   Target{Node: node, Volume: v},
	}
}

// Over wants a pod that has ended on a node, with its processes.
func Over(node, uid string) Guard {
	return Guard{
		Question: "pod-over", Fact: titled("the pod with UID %s has ended, and no process of it is left on node %s", uid, node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.Over(x, node, uid) },
		Look: []Command{OnNode(node, "sh", "-c", "grep -lsF "+quote(operand(uid))+" /proc/[0-9]*/cgroup")},
		On:   Target{Node: node, Pod: uid},
	}
}

// Gone wants a pod that the API does not know any more, and no process of it.
func Gone(node, uid string) Guard {
	return Guard{
		Question: "pod-gone", Fact: titled("no pod has the UID %s any more, and no process of it is left on node %s", uid, node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.Gone(x, node, uid) },
		Look: []Command{OnNode(node, "sh", "-c", "grep -lsF "+quote(operand(uid))+" /proc/[0-9]*/cgroup")},
		On:   Target{Node: node, Pod: uid},
	}
}

// present wants the pod that was seen, and nobody who deletes it already.
func present(p *corev1.Pod) Guard {
	return Guard{
		Question: "pod-present", Fact: titled("pod %s/%s is still there, and nobody deletes it yet", p.Namespace, p.Name),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.Exists(x, p) },
		Look: []Command{Kubectl("-n", p.Namespace, "get", "pod", p.Name, "-o", "wide")},
		On:   Target{Pod: p.Namespace + "/" + p.Name, Node: p.Spec.NodeName},
	}
}

// ended wants a kubelet that ends the pod. One that is silent does not: the pod goes on, a
// new one is made elsewhere, and after six minutes the disk is detached by force below the
// old one (kube-controller-manager, maxWaitForUnmountDuration).
func ended(p *corev1.Pod) Guard {
	on := p.Spec.NodeName
	return Guard{
		Question: "node-ends", Fact: titled("the kubelet of node %s answers: nobody else ends pod %s/%s", on, p.Namespace, p.Name),
		Ask: func(x *snapshot.Index) evidence.Answer {
			if on == "" {
				return evidence.Yes(evidence.FromAPI(pods.Object(p), "spec.nodeName", "none"))
			}
			if renews := node.Renews(x, on); renews.No() {
				return renews
			}
			return node.Ready(x, on)
		},
		Look: []Command{Kubectl("get", "node", on)},
		On:   Target{Pod: p.Namespace + "/" + p.Name, Node: on},
	}
}

// anew wants a controller that makes a pod which goes on with the work of this one: what a Job has computed, or a
// virtual machine, is gone with its pod.
func anew(p *corev1.Pod) Guard {
	return Guard{
		Question: "pod-again", Fact: titled("who made pod %s/%s makes another one that takes over its work", p.Namespace, p.Name),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.MadeAnew(x, p) },
		Look: []Command{Kubectl("-n", p.Namespace, "get", "pod", p.Name, "-o", "jsonpath={.metadata.ownerReferences}")},
		On:   Target{Pod: p.Namespace + "/" + p.Name, Node: p.Spec.NodeName},
	}
}

// spared wants a pod whose death takes nothing along but the pod. Where it carries
// volumes, mounts or the network of others, the node is drained first.
func spared(p *corev1.Pod) Guard {
	return Guard{
		Question: "pod-spares", Fact: titled("nothing but pod %s/%s ends with it: what carries volumes, mounts or the network of other pods is only restarted after its node was drained", p.Namespace, p.Name),
		Ask:  func(x *snapshot.Index) evidence.Answer { return pods.Spares(x, p) },
		Look: []Command{Kubectl("get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+p.Spec.NodeName)},
		On:   Target{Pod: p.Namespace + "/" + p.Name, Node: p.Spec.NodeName},
	}
}

// Proven is the guard of a cause that was not: what would have made it certain has to
// be seen first. The report says by itself how to have the cause explained.
func Proven(cause string, missing []string) Guard {
	lacks := evidence.Each(missing, func(m string) evidence.Lack { return evidence.Lack{Need: "cause/" + cause, Why: m} })
	return Guard{
		Question: "proven", Fact: cause + " is the cause",
		Ask: func(*snapshot.Index) evidence.Answer { return evidence.Unseen(lacks...) },
	}
}

// title is how a person calls a device: by the name of its map, where it has one.
func title(b *probes.BlockDevice) string {
	if b.DM != nil && b.DM.Name != "" {
		return b.DM.Name
	}
	return b.Name
}

// nameOf is how a person calls a volume.
func nameOf(v *snapshot.Volume) string {
	if v == nil {
		return "unknown"
	}
	if n := v.PVName(); n != "" {
		return n
	}
	return v.Handle
}
