package attach

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CSIPluginNotOnNode finds a node that needs a driver and has no plugin pod of it.
var CSIPluginNotOnNode = &diagnosis.Rule{
	Name: "csi-plugin-not-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"topology-conflict", "provisioning-failed"},
	YieldsTo: []string{"driver-not-installed", "driver-never-serves-node"},
	Asks:     diagnosis.EachVolume | diagnosis.EachPod | diagnosis.EachSweep,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "/nodes"))}
		for _, u := range nodeplugin.Uses(pl) {
			if a, ok := nodeplugin.AbsenceOf(pl, u); ok && (pl.X.Node(u.Node) != nil || !pl.X.Collected("/nodes")) {
				out = append(out, notOnNode(pl, u, a))
			}
		}
		return out
	},
}

func notOnNode(pl *evidence.Place, u nodeplugin.Use, a nodeplugin.Absence) *diagnosis.Proof {
	n, name := pl.X.Node(u.Node), "the driver's DaemonSet"
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(u.Node), Says: a.Says,
		With:  words.Fields{"driver": u.Driver, "node": u.Node, "why": a.Why, "know": "", "set": "", "age": "", "holds": u.HoldsUp(pl.X)},
		State: []evidence.Answer{a.None},
		Last:  []evidence.Answer{a.Known, csi.Undisputed(pl.X, u.Driver).Nothing()},
	}
	if ready := node.Ready(pl.X, u.Node); n == nil { // nobody may read nodes
		n, p.Last[0] = &corev1.Node{}, evidence.All(a.Known, ready)
	} else {
		p.State = append(p.State, ready)
	}
	if unknown := u.Unregistered(pl); unknown.Unseen() && a.Known.Yes() { // who is kept out registers nothing
		p.Last = append(p.Last, unknown)
	} else {
		p.With["know"], p.State = "know", slices.Insert(p.State, 0, unknown.With(pods.States(u.Pods)...).With(nodeplugin.Said(pl, u)...))
	}
	if a.Set != nil {
		p.With["set"] = a.Set.Namespace + "/" + a.Set.Name
		name = "DaemonSet " + p.With["set"]
	}
	if age := pl.X.Age(n.CreationTimestamp.Time); !n.CreationTimestamp.IsZero() && age < nodeplugin.NewNode {
		p.AtMost, p.Waiting, p.With["age"] = report.Possible, true, words.Ago(age)
	}
	p.At(u.Node)
	p.Volume(u.Volume)
	p.Pods(u.Pods...)
	p.Attachment(u.Volume.AttachmentOn(u.Node))
	evicts := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute })
	step := "Let " + name + " run on node " + u.Node + ": give it a toleration for the taint (or fix its selector), or remove the taint; or move the pod to a node that has the plugin."
	if evicts && len(holder.Going(u.Pods)) > 0 {
		step = "Remove the NoExecute taint from node " + u.Node + " (or give " + name + " a toleration for it): the plugin comes back, the kubelet unmounts, and the old pod ends by itself. " +
			"Next time drain the node before it is tainted. Do not remove the Terminating pod by force (its mounts would stay) and do not detach while the node is Ready and mounts the volume."
	}
	if a.Says == "refused" {
		p.State = slices.Insert(p.State, 0, a.Known)
		step = "Let the pods of " + name + " into their namespace: what refuses them is quoted (the label pod-security.kubernetes.io/enforce of the namespace must be privileged for a plugin; a quota or a webhook wants its own cure)."
	}
	p.Steps = append(p.Steps, remedy.Words(step))
	if a.Says != "refused" && strings.HasSuffix(u.Driver, "longhorn.io") {
		p.Steps = append(p.Steps, remedy.Words("For Longhorn set the toleration in the setting taint-toleration and in the chart's values; the setting is applied only while all volumes are detached."))
	}
	p.Steps = append(p.Steps, remedy.Words("Verify: CSINode "+u.Node+" lists driver "+u.Driver+"."))
	return p
}
