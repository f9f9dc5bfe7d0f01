package transport

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSServerNameUnresolvable finds NFS servers given by a name that the resolver of
// the mounting node does not know.
var NFSServerNameUnresolvable = &diagnosis.Rule{
	Name: "nfs-server-name-unresolvable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		n, ok := nfs.ServerName(pl)
		if !ok {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()),
			With: words.Fields{"node": pl.Node, "name": n.Host, "volume": nfs.NameOf(pl.Volume), "pod": n.Pod, "answer": n.Answer,
				"plugin": n.PluginName(), "service": "", "form": "", "inside": ""},
			State: []evidence.Answer{n.Named, {}},
			Steps: nameSteps(pl, n),
		}
		p.Says, p.State[1], p.Last = n.Judge(pl)
		switch svc := n.Service; {
		case svc.Service != nil:
			p.With["service"] = svc.Namespace + "/" + svc.Name + " (clusterIP " + svc.Spec.ClusterIP + ")"
		case n.Inside:
			p.With["form"] = "a Service's name"
		}
		if n.Inside && n.Plugin == nil {
			p.With["inside"] = "such a name"
		}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}

func nameSteps(pl *evidence.Place, n nfs.Name) []remedy.Step {
	first, svc := "Name the server by an address, or by a name that the nodes' resolver knows. The source of a PersistentVolume cannot be changed: make a new one with the same path, reclaim policy Retain, for the claim.", n.Service
	if pl.Volume.IsLonghorn() {
		first = "Let the node's DNS forward the cluster domain to the cluster's DNS Service, or use Longhorn without the endpoint network that makes it give names instead of addresses."
	} else if svc.Service != nil && !slices.Contains([]string{"", corev1.ClusterIPNone}, svc.Spec.ClusterIP) {
		first = "Name the server by its address: clusterIP " + svc.Spec.ClusterIP + " of Service " + svc.Namespace + "/" + svc.Name + " (it keeps it as long as the Service lives). The source of a PersistentVolume cannot be changed: make a new one with the same path, reclaim policy Retain, for the claim."
	}
	if n.Given == "" {
		return []remedy.Step{remedy.Words("Check that the file system of the volume's handle exists in this region and has a mount target in the network (and zone) of node " + pl.Node + ", and that the nodes ask the cloud's own resolver. The kubelet mounts at its next attempt.")}
	}
	if n.Inside {
		return []remedy.Step{remedy.Words(first), remedy.Words("Or let the DNS of every node forward the cluster domain to the cluster's DNS Service, with another server behind it: the kubelet must start without the cluster's DNS.")}
	}
	return []remedy.Step{remedy.Words(first), remedy.Words("Or repair /etc/resolv.conf and /etc/hosts of node " + pl.Node + "; the kubelet mounts at its next attempt.")}
}
