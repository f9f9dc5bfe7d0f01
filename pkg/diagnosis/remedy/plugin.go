package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// letIn lets the pods of a workload be made that are refused; what refuses them is quoted.
func letIn(name, level string) string {
	return "Let the pods of " + name + " into their namespace: what refuses them is quoted (the label pod-security.kubernetes.io/enforce of the namespace " + level + "; OpenShift wants a security context constraint for the service account, a quota or a webhook its own cure)."
}

// PluginBack lets the plugin of a driver run on a node that has none of its pods.
func PluginBack(x *snapshot.Index, u nodeplugin.Use, a nodeplugin.Absence) []Step {
	name := "the driver's DaemonSet"
	if a.Set != nil {
		name = "DaemonSet " + a.Set.Namespace + "/" + a.Set.Name
	}
	var out []Step
	switch {
	case a.Says == "refused":
		out = Sentences(letIn(name, "must be privileged for a plugin"))
	case node.Evicts(x, u.Node) && len(holder.Going(u.Pods)) > 0:
		out = Sentences("Remove the NoExecute taint from node " + u.Node + " (or give " + name + " a toleration for it): the plugin comes back, the kubelet unmounts, and the old pod ends by itself. " +
			"Next time drain the node before it is tainted. Do not remove the Terminating pod by force (its mounts would stay) and do not detach while the node is Ready and mounts the volume.")
	case strings.HasPrefix(a.Why, "taint "):
		out = Sentences("Let " + name + " run on node " + u.Node + ": give it a toleration for the taint, or remove the taint; or move the pod to a node that has the plugin.")
	case strings.HasPrefix(a.Why, "its pod "):
		out = Sentences("Let " + name + " run on node " + u.Node + ": cure what is said of its pod there; or move the pod that waits to a node that has the plugin.")
	case a.Why != "":
		out = Sentences("Let " + name + " run on node " + u.Node + ": give the node the label that its selector or affinity wants, or change those; or move the pod to a node that has the plugin.")
	default:
		out = Sentences("Let " + name + " run on node " + u.Node + ": give it a toleration for the taint (or fix its selector), or remove the taint; or move the pod to a node that has the plugin.")
	}
	if a.Says != "refused" && strings.HasSuffix(u.Driver, "longhorn.io") {
		out = append(out, Words("For Longhorn set the toleration in the setting taint-toleration and in the chart's values; the setting is applied only while all volumes are detached."))
	}
	return append(out, Words("Verify: CSINode "+u.Node+" lists driver "+u.Driver+"."))
}

// Register lets a driver's plugin register at its kubelet, or answer it again. dead: it cannot do so as
// it is, and a new pod of it can.
func Register(n kubelet.Need, waits bool, dead evidence.Answer) []Step {
	plugin, node := n.Plugin, n.At.Node
	if waits {
		return []Step{Words("Wait: the kubelet tries again at least every two minutes and succeeds as soon as the driver has registered.")}
	}
	read := Check("Read the driver's and the registrar's own words, and cure what they say.",
		Kubectl("-n", plugin.Namespace, "logs", plugin.Name, "--all-containers", "--tail=20"))
	if !pods.Started(plugin) || pods.Blank(plugin) {
		read = Check("See what keeps the plugin's pod from starting, and cure that.", Kubectl("-n", plugin.Namespace, "describe", "pod", plugin.Name))
	}
	if name := pods.Misses(n.At.X, plugin); name != "" {
		read.Title = "Put in place what the driver's installation wants, " + name + ": the plugin's pod is started as soon as it is there. See what else the pod says."
	}
	if c := pods.OutOfMemory(plugin); c != "" {
		read = Check("See the memory that container "+c+" may use, and raise the limit in the workload that makes the pod: the kernel ends it for that.",
			Kubectl("-n", plugin.Namespace, "get", "pod", plugin.Name, "-o", "jsonpath={.spec.containers[*].resources.limits}"))
	}
	// A new pod of one that is not ready would fail as this one does; and an event alone, which
	// a tenant can write, ends no node plugin: what ends one is that CSINode lacks it, that it is stopped, or that the
	// node has lost its socket.
	if !dead.Yes() && (!snapshot.PodReady(plugin) || !csi.Listed(n.At.X, node, n.Driver).No()) {
		return []Step{read}
	}
	s := DeletePod(plugin).Note("It registers again when it starts.")
	s.Verify = []Command{Kubectl("get", "csinode", node, "-o", "jsonpath={.spec.drivers[*].name}")}
	return []Step{read, s}
}

// Forget lets a kubelet give up the registration of a plugin that has gone, whose socket it calls.
func Forget(n kubelet.Need, socket string) []Step {
	root, _, _ := strings.Cut(socket, "/plugins/")
	registry, plugin, node := root+"/plugins_registry", pods.Name(n.Plugin), n.At.Node
	return []Step{
		Check("See which registration sockets lie there; that of the present plugin is as young as its pod.", OnNode(node, "ls", "-l", registry)),
		Words("On node " + node + ", remove the registration socket of the plugin that has gone from " + registry + ", and no other, or restart the kubelet: it forgets that plugin, " +
			"and takes pod " + plugin + " within about two minutes. Mounted volumes stay mounted. A new pod of the plugin would be refused as this one is."),
	}
}
