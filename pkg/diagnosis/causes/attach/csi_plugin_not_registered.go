package attach

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// CSIPluginNotRegistered finds a plugin pod that is on the node while the kubelet does
// not know the driver, or gets no answer from it.
var CSIPluginNotRegistered = &diagnosis.Rule{
	Name: "csi-plugin-not-registered", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	YieldsTo: []string{"driver-not-installed", "kubelet-root-dir-wrong", "mount-propagation-off", "longhorn-control-plane-down", "node-watch-limit-reached", "kernel-module-missing", "driver-configuration-wrong"},
	LeadsTo:  []string{"provisioning-failed", "topology-conflict"},
	Offers:   []string{"delete-pod"},
	Asks:     diagnosis.EachPod | diagnosis.EachPlace | diagnosis.EachVolume | diagnosis.EachSweep,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Pod == nil && pl.Volume == nil { // whether or not anybody waits
			return evidence.Each(nodeplugin.FailingOn(pl.X, pl.Node), failing)
		}
		if f, asked := nodeplugin.Making(pl); asked.Yes() {
			return []*diagnosis.Proof{making(pl, f, asked)}
		}
		return evidence.Each(kubelet.NeedsAt(pl), notRegistered)
	},
}

func notRegistered(n kubelet.Need) *diagnosis.Proof {
	pl, wanted := n.At, n.Wanted
	plugin, unknown := n.Plugin, csi.Unknown(pl, n.Driver)
	if wanted.No() {
		return nil
	}
	p := about(pl, n.Driver, plugin, "unknown", wanted, kubelet.Ready(pl), unknown)
	with := p.With
	with["said"], p.Last = "", []evidence.Answer{csi.Undisputed(pl.X, n.Driver).Nothing(), csi.Borne(pl, n.Driver, plugin)}
	p.Volume(n.Volume)
	if pl.Pod != nil {
		with["waiter"] = pl.Pod.Namespace + "/" + pl.Pod.Name
	}
	p.Attachment(n.Volume.AttachmentOn(pl.Node))
	if pl.Pod != nil && pl.Pod.DeletionTimestamp == nil && holder.KeptAway(n.Volume, pl.Node) {
		p.Breaks = []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing}
	}
	if pods.Restless(pl.X, plugin) {
		last := pods.LastWords(pl.X, plugin)
		with["said"] = last.Text
		p.State[0] = wanted.With(last)
	}
	halted := csi.Halted(pl, plugin)
	if halted.Yes() {
		with["state"] += ", with a process that is stopped"
	}
	roots := kubelet.RootsOf(pl, n.Driver, plugin)
	switch {
	case unknown.No():
		return deaf(n, p, halted)
	case csi.Starting(pl.X, plugin):
		p.Says, p.Waiting = "starting", true
		if !csi.Started(plugin).IsZero() {
			p.AtMost = report.Possible
		}
	case snapshot.PodReady(plugin): // content and unknown: it may serve under another root
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "kubelet-root-dir-wrong", Is: roots.Other()}}
	case roots.Differ.Yes():
		return nil
	}
	text, fact := csi.Registrar(pl, n.Driver)
	with["registrar"], p.State[2] = text, unknown.With(fact)
	p.Steps = remedy.Register(n, p.Waiting, evidence.Any(halted, csi.SocketGone(pl, plugin)))
	return p
}

// deaf is a plugin that the kubelet knows: nobody listens at its socket, or nobody answers.
func deaf(n kubelet.Need, p *diagnosis.Proof, halted evidence.Answer) *diagnosis.Proof {
	gone, down := csi.SocketGone(n.At, n.Plugin), csi.Down(n.Plugin)
	p.Says, p.State[2], p.Last[1] = "deaf", csi.Deaf(n.At, n.Driver, n.Plugin), evidence.Any(gone, down, csi.Stopped(n.At, n.Plugin))
	if down.Yes() {
		p.With["down"] = p.With["waits"]
	}
	if gone.Yes() {
		p.Says = "removed"
	}
	p.Steps = remedy.Register(n, p.Waiting, evidence.Any(halted, gone))
	if socket, elsewhere := csi.Elsewhere(n.At, n.Driver, n.Plugin); elsewhere.Yes() {
		p.With["socket"], p.Says, p.Last[1] = socket, "elsewhere", elsewhere
		p.Steps = remedy.Forget(n, socket)
	}
	return p
}

func failing(f nodeplugin.Failing) *diagnosis.Proof {
	p := about(f.At, f.Driver, f.Plugin, "failing", f.State...)
	p.Severity = report.Degraded
	p.At(f.At.Node)
	if f.Unknown {
		p.Says, p.LookAlikes = "unknown", []diagnosis.LookAlike{{Cause: "kubelet-root-dir-wrong", Is: kubelet.RootsOf(f.At, f.Driver, f.Plugin).Other()}}
		p.With["registrar"], _ = csi.Registrar(f.At, f.Driver)
	}
	if also := nodeplugin.Beside(f.At.X, f.Driver, f.At.Node); len(also) > 0 {
		p.With["beside"] = "pod " + pods.Name(also[0]) + " " + pods.Doing(f.At.X, also[0])
		p.State[0] = p.State[0].With(pods.State(also[0])).With(pods.LastWords(f.At.X, also[0]))
	}
	p.Steps = remedy.Register(kubelet.Need{At: f.At, Driver: f.Driver, Plugin: f.Plugin}, false, csi.Halted(f.At, f.Plugin))
	return p
}

// making is a plugin that shall make a volume on its node.
func making(pl *evidence.Place, f nodeplugin.Failing, asked evidence.Answer) *diagnosis.Proof {
	p := about(pl.On(f.Plugin.Spec.NodeName), f.Driver, f.Plugin, "making", append(f.State, asked)...)
	p.AtMost, p.Steps = report.Likely, remedy.Register(kubelet.Need{At: pl.On(f.Plugin.Spec.NodeName), Driver: f.Driver, Plugin: f.Plugin}, false, evidence.No())
	p.Volume(pl.Volume)
	p.Pods(holder.Waiters(pl.Volume)...)
	return p
}

func about(pl *evidence.Place, driver string, plugin *corev1.Pod, says string, state ...evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{Subject: diagnosis.PodSubject(plugin), Says: says, State: state, With: words.Fields{
		"pod": pods.Name(plugin), "driver": driver, "node": pl.Node, "state": pods.Doing(pl.X, plugin), "waiter": "", "registrar": "", "down": "", "beside": "",
		"said": pods.LastWords(pl.X, plugin).Text, "waits": pods.Waits(pl.X, plugin)}}
	p.Pod(plugin)
	return p
}
