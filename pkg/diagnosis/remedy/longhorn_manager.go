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
