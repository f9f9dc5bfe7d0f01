package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NodeWatchLimitReached finds nodes that have used up inotify's watches or instances.
var NodeWatchLimitReached = &diagnosis.Rule{
	Name: "node-watch-limit-reached", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	Asks:    diagnosis.EachNode,
	LeadsTo: []string{"node-down", "csi-plugin-not-registered", "node-kubelet-down-workload-alive"},
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		said := kubelet.NoWatcher(pl)
		if !said.Yes() {
			return nil
		}
		room, free := kubelet.Room(pl)
		facts, limits := kubelet.WatchLimits(pl)
		return []*diagnosis.Proof{{
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node, "limits": words.List(limits, 0), "free": free},
			State:   []evidence.Answer{said.With(facts...)},
			Last:    []evidence.Answer{room},
			Steps: []remedy.Step{
				remedy.Words("On node " + pl.Node + " raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl -w, and a file in /etc/sysctl.d), then restart the kubelet."),
				remedy.Words("Do not treat the node as lost: its containers run, and what they have mounted is in use."),
			},
		}}
	},
}
