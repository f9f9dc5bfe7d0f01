package holder

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Life is what a recording of a lost node shows to be alive there.
type Life struct {
	Said    string          // the strongest sign in words
	InUse   bool            // it is a mount of the volume or a process of its pods
	Alive   evidence.Answer // anything runs on the machine
	Now     evidence.Answer // the recording is of this moment
	Kubelet string          // what is known of the kubelet's process
}

// LifeOn looks for signs of life in the recording of a node that the API calls lost.
func LifeOn(x *snapshot.Index, l Lost) Life {
	whole := evidence.TablesFor(x, l.Volume, l.Name, probes.Mounts, probes.Processes)
	view := x.View(l.Name)
	if view == nil {
		return Life{Alive: whole.Found()}
	}
	out := Life{Now: evidence.OfNow(x, view), Kubelet: kubeletWords(view, whole)}
	facts := out.mounts(x, l, view)
	others := 0
	for _, p := range view.Processes() {
		switch {
		case p.PodUID == "":
		case slices.ContainsFunc(l.Pods, func(pod *corev1.Pod) bool { return string(pod.UID) == p.PodUID }):
			out.say(fmt.Sprintf("process %d (%s) of pod UID %s runs", p.PID, p.Comm, p.PodUID))
			facts = append(facts, evidence.FromNode(view.Name, fmt.Sprintf("proc/%d/cgroup", p.PID), p.Cgroup))
		default:
			others++
		}
	}
	if out.InUse = len(facts) > 0; !out.InUse && others > 0 {
		out.say(fmt.Sprintf("%d processes of other pods run", others))
		facts = append(facts, evidence.FromNode(view.Name, "proc/*/cgroup", fmt.Sprintf("%d processes of other pods", others)))
	}
	out.Alive = whole.Found(facts...)
	return out
}

func (l *Life) say(words string) {
	l.Said = cmp.Or(l.Said, words)
}

// mounts collects the mounts of the volume: by its device in any namespace, and by the
// paths below the kubelet's root.
func (l *Life) mounts(x *snapshot.Index, lost Lost, view *snapshot.NodeView) []report.Evidence {
	var out []report.Evidence
	if d, ok := x.DeviceOn(lost.Volume, lost.Name); ok {
		for _, dev := range d.Numbers() {
			for _, u := range view.Uses(dev) {
				l.say(fmt.Sprintf("device %s of the volume is mounted at %s", dev, u.Mount.Point))
				out = append(out, evidence.FromMount(view.Name, u.NS, u.Mount))
			}
		}
	}
	for _, m := range x.VolumeMounts(lost.Volume, lost.Name) {
		l.say("the volume is mounted at " + m.Mount.Point)
		out = append(out, evidence.FromMount(view.Name, m.NS, m.Mount))
	}
	return out
}

func kubeletWords(view *snapshot.NodeView, whole evidence.Reading) string {
	switch pid := view.Facts.Kubelet.PID; {
	case pid != 0:
		return fmt.Sprintf("The kubelet (PID %d) runs but cannot report: look at its certificate, the API server's address and its disk", pid)
	case whole.Complete():
		return "No kubelet process was seen"
	}
	return "Whether its kubelet runs could not be read"
}
