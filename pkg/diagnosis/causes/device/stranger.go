package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// heldByStranger reports a container of a pod that the API does not know, whose own
// mount table has the volume: the pod was deleted by force, and its processes live on.
func heldByStranger(p *diagnosis.Pass, s *stack, why string) {
	if !p.Collected("/pods") {
		return
	}
	for _, dev := range s.numbers() {
		for _, u := range s.view.ForeignUses(dev) {
			for _, proc := range s.view.ProcessesIn(u.NS.ID) {
				who := p.WhoIs(s.view, proc)
				if !who.Unknown() || !publishedFor(s.view, dev, proc.PodUID) {
					continue
				}
				f := p.Find(report.Likely, diagnosis.ProcessSubject(s.view.Name, proc.PID)).On(s.volume).Located(s.view.Name)
				f.Device(s.view.Name, dev)
				f.Sayf("Process %d (%s%s, which the API does not know) still runs on node %s and has volume %s mounted at %s. The pod was deleted by force and its container lives on, so the volume is in use there, although %s.",
					proc.PID, proc.Comm, belongsTo(who), s.view.Name, volumeName(s.volume), u.Mount.Point, why)
				f.Fact(diagnosis.FromNode(s.view.Name, fmt.Sprintf("proc/%d/cgroup", proc.PID), proc.Cgroup),
					diagnosis.FromNode(s.view.Name, fmt.Sprintf("proc/%d/mountinfo:%d", u.NS.TablePID, u.Mount.Line), u.Mount.Raw))
				f.Missing("a file that the process has open in the volume")
				f.Unless("a pod with this UID")
				f.Advise(remedy.Words(fmt.Sprintf("Make sure that the container of process %d on node %s may end, then stop it through the container runtime (crictl stop) or restart the kubelet there, which ends containers of pods that do not exist.", proc.PID, s.view.Name)))
				p.Report(f)
				return
			}
		}
	}
}

// publishedFor tells whether process 1 mounts the device at a path of a pod.
func publishedFor(view *snapshot.NodeView, dev probes.Dev, uid string) bool {
	return slices.ContainsFunc(view.InitUses(dev), func(u snapshot.Use) bool {
		return strings.Contains(u.Mount.Point, "/pods/"+uid+"/")
	})
}
