package attach

import (
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// clockTolerance is how far a recording's clock may be from the snapshot's moment
// and still describe the present.
const clockTolerance = 10 * time.Minute

// life is what a recording of a lost node shows to be alive there.
type life struct {
	Uses     []report.Evidence // mounts of the volume and processes of its pods: proof that it is in use
	Said     string            // the strongest of them in words
	Others   int               // processes of other pods: the machine runs
	Kubelet  int               // pid of the kubelet; 0: none seen
	ClockOff bool              // the recording is not of this moment, or has no clock
}

// Any tells whether anything runs on the machine.
func (l life) Any() bool { return len(l.Uses) > 0 || l.Others > 0 }

// lifeOn looks for signs of life in the recording of a node that the API calls lost.
func lifeOn(p *diagnosis.Pass, lost lostNode, view *snapshot.NodeView) life {
	out := life{Kubelet: view.Facts.Kubelet.PID}
	clock := view.Facts.Identity.Clock
	out.ClockOff = clock.IsZero() || clock.Sub(p.TakenAt).Abs() > clockTolerance
	out.mounts(p, lost, view)
	mine := map[string]bool{}
	for _, pod := range lost.Pods {
		mine[string(pod.UID)] = true
	}
	for i := range view.Facts.Processes {
		proc := &view.Facts.Processes[i]
		switch {
		case proc.PodUID == "":
		case mine[proc.PodUID]:
			out.add(view.Name, fmt.Sprintf("process %d (%s) of pod UID %s runs", proc.PID, proc.Comm, proc.PodUID),
				fmt.Sprintf("proc/%d/cgroup", proc.PID), proc.Cgroup)
		default:
			out.Others++
		}
	}
	return out
}

func (l *life) add(node, said, locator, text string) {
	if l.Said == "" {
		l.Said = said
	}
	l.Uses = append(l.Uses, diagnosis.FromNode(node, locator, text))
}

// mounts collects the mounts of the volume: by its device in any namespace, and by
// the paths below the kubelet's root.
func (l *life) mounts(p *diagnosis.Pass, lost lostNode, view *snapshot.NodeView) {
	if d, ok := p.DeviceOn(lost.Volume, lost.Name); ok {
		for _, dev := range devicesOf(d) {
			for _, u := range view.Uses(dev) {
				l.add(view.Name, fmt.Sprintf("device %s of the volume is mounted at %s", dev, u.Mount.Point), mountLocator(u), u.Mount.Raw)
			}
		}
	}
	for _, m := range p.VolumeMounts(lost.Volume, lost.Name) {
		l.add(view.Name, "the volume is mounted at "+m.Mount.Point, mountLocator(m.Use), m.Mount.Raw)
	}
}

// devicesOf are the numbers under which a volume may be mounted: its disk and the
// mapper on top.
func devicesOf(d snapshot.VolumeDevice) []probes.Dev {
	out := []probes.Dev{d.Dev}
	if d.Mapper != nil {
		out = append(out, d.Mapper.Dev)
	}
	return out
}

func mountLocator(u snapshot.Use) string {
	if u.NS == nil {
		return "mountinfo"
	}
	return fmt.Sprintf("proc/%d/mountinfo:%d", u.NS.TablePID, u.Mount.Line)
}
