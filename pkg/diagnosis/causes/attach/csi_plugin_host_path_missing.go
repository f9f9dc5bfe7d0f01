package attach

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CSIPluginHostPathMissing finds plugins whose container lacks a path or namespace of
// the host that its tools wait for.
var CSIPluginHostPathMissing = &diagnosis.Rule{
	Name: "csi-plugin-host-path-missing", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing, diagnosis.Using},
	LeadsTo:  []string{"device-link-missing"},
	YieldsTo: []string{"ceph-backend-unreachable"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		plugin := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
		if plugin == nil || len(pl.Volume.WaitingOn(pl.Node)) == 0 {
			return nil
		}
		tool := nodeplugin.ToolOf(pl, plugin)
		if len(tool.Lacks) == 0 {
			return diagnosis.Open(pl, probes.Processes, probes.RBDDevices)
		}
		return []*diagnosis.Proof{hostPathMissing(pl, plugin, tool)}
	},
}

func hostPathMissing(pl *evidence.Place, plugin *corev1.Pod, tool nodeplugin.Tool) *diagnosis.Proof {
	subject, owner := diagnosis.PodSubject(plugin), "pod "+pods.Name(plugin)
	if ds := pl.X.DriverDaemonSet(pl.Volume.CSIName()); ds != nil {
		subject, owner = diagnosis.ObjectSubject("DaemonSet", ds.Namespace, ds.Name), "DaemonSet "+ds.Namespace+"/"+ds.Name
	}
	p := &diagnosis.Proof{
		Subject: subject, Says: "perhaps", AtMost: report.Likely,
		With:  words.Fields{"plugin": pods.Name(plugin), "node": pl.Node, "lacks": words.List(tool.Lacks, 0), "owner": owner},
		State: []evidence.Answer{tool.Waits, tool.Device, evidence.Yes(nodeplugin.Manifest(plugin)).With(nodeplugin.SaidOn(pl)...)},
		Hint:  nodeplugin.Hangs(pl),
	}
	p.Pod(plugin)
	p.Pods(holder.WaitersOn(pl.Volume, pl.Node)...)
	mount := "add the hostPath " + strings.Join(tool.Lacks, ", ") + " to " + owner + ", as the driver's current manifest does"
	anew := remedy.Words(strings.ToUpper(mount[:1]) + mount[1:] + ", and let its pods be made anew.")
	if tool.Path != "" {
		p.Says, p.AtMost, p.Hint, p.With["device"], p.Steps = "blind", "", evidence.No(), tool.Path, []remedy.Step{anew}
		p.Device(pl.Node, tool.Found.Dev)
		return p
	}
	if q := tool.Process; q != nil && tool.Found.Block != nil {
		p.Says, p.Hint = "waits", evidence.No()
		p.With["process"], p.With["age"] = fmt.Sprintf("%d (%s)", q.PID, q.Comm), pods.Ago(pl.X, q.Started)
		p.With["device"] = fmt.Sprintf("%s (%s)", tool.Found.Block.Name, tool.Found.Dev)
		p.Device(pl.Node, tool.Found.Dev)
		p.Last = []evidence.Answer{tool.Guessed(pl.Node)}
		p.Steps = []remedy.Step{anew,
			remedy.Words("Newer versions of ceph-csi map images without waiting for udev (map option noudev).")}
		return p
	}
	p.Steps = []remedy.Step{remedy.Words("Look on node " + pl.Node + " for a process of the plugin (rbd map) that has waited for minutes while the device is there; then " + mount + ".")}
	return p
}
