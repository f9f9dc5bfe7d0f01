package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// PluginBack lets the plugin of a driver run on a node that has none of its pods.
func PluginBack(x *snapshot.Index, u nodeplugin.Use, a nodeplugin.Absence) []Step {
	name := "the driver's DaemonSet"
	if a.Set != nil {
		name = "DaemonSet " + a.Set.Namespace + "/" + a.Set.Name
	}
	var out []Step
	switch {
	case a.Says == "refused":
		out = Sentences("Let the pods of " + name + " into their namespace: what refuses them is quoted (the label pod-security.kubernetes.io/enforce of the namespace must be privileged for a plugin; a quota or a webhook wants its own cure).")
	case node.Evicts(x, u.Node) && len(holder.Going(u.Pods)) > 0:
		out = Sentences("Remove the NoExecute taint from node " + u.Node + " (or give " + name + " a toleration for it): the plugin comes back, the kubelet unmounts, and the old pod ends by itself. " +
			"Next time drain the node before it is tainted. Do not remove the Terminating pod by force (its mounts would stay) and do not detach while the node is Ready and mounts the volume.")
	default:
		out = Sentences("Let " + name + " run on node " + u.Node + ": give it a toleration for the taint (or fix its selector), or remove the taint; or move the pod to a node that has the plugin.")
	}
	if a.Says != "refused" && strings.HasSuffix(u.Driver, "longhorn.io") {
		out = append(out, Words("For Longhorn set the toleration in the setting taint-toleration and in the chart's values; the setting is applied only while all volumes are detached."))
	}
	return append(out, Words("Verify: CSINode "+u.Node+" lists driver "+u.Driver+"."))
}
