package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ControlPlaneDown finds Longhorn's managers, their service or its name out of
// reach, so that nothing of Longhorn is reconciled.
var ControlPlaneDown = &diagnosis.Rule{
	Name: "longhorn-control-plane-down", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Serving, diagnosis.Detaching},
	LeadsTo: []string{"longhorn-share-manager-down", "csi-plugin-not-registered", "provisioning-failed",
		// records that nobody brings up to date
		"longhorn-engine-record-stale", "longhorn-replica-not-in-engine", "longhorn-engine-upgrade-stuck", "longhorn-disk-unusable",
		"longhorn-engine-orphaned", "longhorn-drain-blocked", "longhorn-restore-stalled", "longhorn-volume-status-leftover"},
	YieldsTo: []string{"iscsi-tools-missing", "mount-propagation-off", "network-host-to-pod-blocked"},
	Asks:     diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return []*diagnosis.Proof{managerDown(pl, pl.Node, evidence.Yes())}
		}
		if !lh.Held(pl) {
			return nil
		}
		said := lh.Complains(pl)
		p := &diagnosis.Proof{
			Last:  []evidence.Answer{said.Answer().With(lh.Served(pl.X).Facts()...)},
			With:  words.Fields{"service": said.Service(), "how": "", "port": "", "last": "", "dns": "", "managers": lh.NoneWorks(pl.X)},
			Steps: remedy.ManagersBack(pl.X),
		}
		first, how, broken := lh.NoManager(pl.X)
		empty, gone := lh.NoEndpoints(pl.X)
		port, refused := lh.Refused(pl.X)
		switch dns := lh.SickDNS(pl.X); {
		case !broken.No():
			last := pods.LastWords(pl.X, first)
			p.Last = append(p.Last, lh.WhyEnds(pl.X, first))
			p.Says, p.State, p.Subject = "managers", []evidence.Answer{broken.With(last).With(refused.Facts()...)}, diagnosis.PodSubject(first)
			p.With["how"], p.With["port"], p.With["last"], p.With["service"] = how, port, last.Text, lh.ServiceIn(last.Text+said.Fact.Text)
		case gone.Yes():
			p.Says, p.State, p.With["service"] = "endpoints", []evidence.Answer{gone}, empty
			p.Last = append(p.Last, evidence.ResourceIn(pl.X, "/pods", pl.X.LonghornNamespace()).And(evidence.Resource(pl.X, "/nodes")).Nothing()) // why: a manager's own words
		case refused.Yes():
			p.Says, p.State, p.With["port"] = "refused", []evidence.Answer{refused}, port
		case said.Lookup && said.Fresh:
			p.Says, p.State = "lookup", []evidence.Answer{said.Answer()}
			p.Last = append(p.Last, lh.Served(pl.X))
			if dns != nil {
				p.With["dns"] = dns.Namespace + "/" + dns.Name
				p.State = append(p.State, evidence.Yes(evidence.FromAPI("Pod "+p.With["dns"], "status", lh.Trouble(dns))))
			}
		default:
			if local := managersDown(pl); len(local) > 0 || !said.Fresh {
				return local
			}
			p.Says, p.State, p.AtMost = "between", []evidence.Answer{said.Answer()}, report.Likely
			if said.Untrusted() {
				p.Says, p.Steps = "untrusted", remedy.ManagersTrusted(pl.X)
			}
		}
		if p.Subject.Kind == "" {
			p.Subject = diagnosis.ObjectSubject("Service", pl.X.LonghornNamespace(), p.With["service"])
		}
		p.Pods(pl.X.DriverPods(snapshot.LonghornDriver)...) // they wait for the managers when they start
		return []*diagnosis.Proof{p}
	},
}

// managersDown handles one manager that is down on a node which a volume needs: Longhorn
// refuses to attach there, while the other managers work.
func managersDown(pl *evidence.Place) []*diagnosis.Proof {
	v := pl.Volume.LH()
	if v == nil {
		return nil
	}
	var out []*diagnosis.Proof
	for _, node := range lh.NodesAt(pl.Volume) {
		if p := managerDown(pl, node, lh.RefusedAt(pl, node)); p != nil {
			p.With["volume"], p.Severity = v.Name, ""
			out = append(out, p)
		}
	}
	return out
}

// managerDown is one manager that is down, from which nobody need suffer.
func managerDown(pl *evidence.Place, node string, refused evidence.Answer) *diagnosis.Proof {
	down, pod, known := lh.ManagerDown(pl.X, node), lh.ManagerOn(pl.X, node), pl.X.LHNode(node) != nil
	switch {
	case down.No(), !known && pl.Volume == nil:
		return nil
	case pod == nil && !refused.Yes() && pl.X.DriverPodOn(snapshot.LonghornDriver, node) == nil:
		return nil // what keeps its pod off the node keeps the plugin off, too: that is the cause
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Service", pl.X.LonghornNamespace(), lh.Backend), Says: "missing", State: []evidence.Answer{down}, Last: []evidence.Answer{refused}, Severity: report.Degraded,
		With:  words.Fields{"node": node, "volume": "", "pod": "", "how": "", "last": ""},
		Steps: remedy.ManagerMissing(pl.X.LonghornNamespace(), node),
	}
	if !known {
		p.Says = "unknown"
	}
	if pod != nil {
		how, _ := lh.Fails(pl.X, pod)
		p.Last = append(p.Last, lh.WhyEnds(pl.X, pod))
		p.Subject, p.Says = diagnosis.PodSubject(pod), "node"
		p.With["pod"], p.With["how"], p.With["last"] = pod.Name, how, pods.LastWords(pl.X, pod).Text
		p.Steps = []remedy.Step{remedy.Words("Read the last log of the longhorn-manager on node " + node + " and cure what it says; leave webhook configurations and custom resource definitions alone. Verify: Longhorn's condition Ready of node " + node + " is True.")}
	}
	p.At(node)
	return p
}
