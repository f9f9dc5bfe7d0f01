package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSStateHang finds tasks that hang in the NFSv4 client's own bookkeeping while the
// server answers.
var NFSStateHang = &diagnosis.Rule{
	Name: "nfs-state-hang", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Using, diagnosis.Unmounting},
	YieldsTo: []string{"nfs-client-id-collision", "nfs-kernel-incompatible"},
	Offers:   []string{"delete-pod"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		h := nfs.HangOf(pl)
		if h.Is.No() {
			return diagnosis.Open(pl, probes.Mounts, probes.Processes)
		}
		if h.Is.Unseen() {
			return []*diagnosis.Proof{{Subject: diagnosis.NodeSubject(pl.Node), State: []evidence.Answer{h.Is}}}
		}
		m := h.Mount
		served := reach.Of(pl.View, m.Port, m.Addr, m.Server).Works(pl.Node, m.Addr+":"+m.Port)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "hangs",
			With: words.Fields{"node": pl.Node, "server": "whether the server " + m.Addr + " answers was not seen", "tasks": nfs.Words(pl.X, pl.View, h.Tasks),
				"source": m.Source, "point": m.Point, "version": m.SuperValue("vers")},
			State: []evidence.Answer{h.Is},
			Last:  []evidence.Answer{served, h.Quiet, pl.Mounts().Nothing()}, // silent: nfs-server-unreachable
		}
		if served.Yes() {
			p.With["server"] = "the server " + m.Addr + " answers"
		}
		p.Object("server", m.Addr)
		p.Users(pl.Volume.LiveConsumersOn(pl.Node)...)
		pods, tasks := h.Clients(pl)
		for i, pod := range pods {
			p.Steps = append(p.Steps, remedy.DeletePod(pod).Note("Its process %d hangs in %s, a wait that a killed task gives up.", tasks[i].Process.PID, tasks[i].Where))
		}
		p.Steps = append(p.Steps,
			remedy.Words("Where a task does not end although its pod is deleted, node "+pl.Node+" must be drained and booted anew. Restarting the server does not free the tasks, and interrupts every other client."),
			remedy.Words("Against the next time: "+nfs.OldVersion(pl.Volume)+"; it takes effect when the share is mounted anew. Or let one process of a node write a file."))
		return []*diagnosis.Proof{p}
	},
}
