// Package transport holds the rules of the paths between a node and the data:
// iSCSI, NVMe over fabrics and the network filesystems.
package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/storagepath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NetworkHostToPodBlocked finds nodes whose own network namespace cannot reach a pod
// that serves storage, although the pod is well.
var NetworkHostToPodBlocked = &diagnosis.Rule{
	Name: "network-host-to-pod-blocked", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo: []string{"iscsi-session-lost", "nfs-server-unreachable", "smb-server-unreachable", "longhorn-share-manager-down", "longhorn-control-plane-down"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, way := range storagepath.Of(pl) {
			server := way.Server.Namespace + "/" + way.Server.Name + " (" + way.Server.Status.PodIP + ")"
			says, answer := way.How()
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: says,
				With:  words.Fields{"node": pl.Node, "port": way.Port, "server": server, "answer": answer, "policy": "", "causes": "a policy of the CNI, a firewall, address translation"},
				State: []evidence.Answer{way.Blocked}, Last: []evidence.Answer{way.Fails},
				Steps: []remedy.Step{remedy.Words("Look for what drops connections from the host of node " + pl.Node + " to pods on port " + way.Port + ": policies of the CNI, the host's firewall, the CNI's update. Open the port for the nodes only.")},
			}
			if says == "service" {
				p.Steps = []remedy.Step{remedy.Words("Look at the service rules of node " + pl.Node + " (kube-proxy, CNI). With flannel's VXLAN test switching the checksum offload of flannel.1 off (ethtool -K flannel.1 tx-checksum-ip-generic off, until the next boot), and update it.")}
			}
			if q := way.Policy; q != nil {
				name := q.Namespace + "/" + q.Name
				p.Subject, p.With["policy"], p.With["causes"] = diagnosis.ObjectSubject("NetworkPolicy", q.Namespace, q.Name), name, ""
				p.Steps = []remedy.Step{remedy.Words("Let NetworkPolicy " + name + " admit TCP port " + way.Port + " from the addresses of the nodes (ipBlock), and from nothing else: the port gives raw access to volumes. The next attempt succeeds by itself.")}
			}
			p.Users(pl.Volume.LiveConsumersOn(pl.Node)...)
			p.Pod(way.Server)
			out = append(out, p)
		}
		return out
	},
}
