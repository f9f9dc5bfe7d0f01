package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ManagersBack lets Longhorn's managers be reached again.
func ManagersBack(x *snapshot.Index) []Step {
	return []Step{
		Check("Read the last log of the longhorn-manager pods, and of the cluster's DNS pods when a name is not resolved (CoreDNS: its upstream resolv.conf, a forwarding loop); look at firewall rules between nodes and pods for the webhook. Leave webhook configurations and custom resource definitions alone.",
			Kubectl("-n", x.LonghornNamespace(), "get", "pods,endpoints", "-o", "wide"),
			Kubectl("-n", x.LonghornNamespace(), "logs", "-l", "app=longhorn-manager", "--previous", "--tail=20")),
		Words("Verify: " + longhorn.Backend + " has endpoints, the longhorn-csi-plugin pods become Ready, and CSINode lists driver.longhorn.io again."),
	}
}

// ManagersTrusted lets the API server trust the certificate of the managers' webhooks again.
func ManagersTrusted(x *snapshot.Index) []Step {
	return []Step{
		Check("Compare the certificate of the webhooks with the CA (caBundle) in Longhorn's webhook configurations, and the clocks of the control plane with the time for which the certificate holds. The longhorn-manager writes both when it starts: its log says whether it could. Leave the configurations themselves alone.",
			Kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"),
			Kubectl("-n", x.LonghornNamespace(), "logs", "-l", "app=longhorn-manager", "--tail=50")),
		Words("Verify: a change of a Longhorn volume is admitted again; what waits for it goes on by itself."),
	}
}

// ManagerMissing lets a node have the longhorn-manager that its DaemonSet keeps off it.
func ManagerMissing(namespace, node string) []Step {
	return []Step{
		Check("See why DaemonSet longhorn-manager has no pod on node "+node+": its node selector, the node's labels and taints, events that refuse the pod.",
			Kubectl("-n", namespace, "describe", "daemonset", "longhorn-manager"),
			Kubectl("get", "node", node, "-o", "jsonpath={.metadata.labels}{.spec.taints}")),
		Words("Let the manager run on node " + node + ", or keep pods with volumes of Longhorn off it: Longhorn's plugin alone attaches nothing. Verify: Longhorn's condition Ready of node " + node + " is True."),
	}
}
