package risk

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// clockTolerance is how far a recording's clock may be from the snapshot's moment and
// still speak of the present.
const clockTolerance = 10 * time.Minute

// life is what a recording of a node that does not report shows to run there.
type life struct {
	Said  string // empty: no sign of life
	Facts []report.Evidence
}

// lifeOf looks for mounts of the asked volumes and for processes of pods. A recording
// of another time, or one without a clock, proves nothing.
func lifeOf(p *diagnosis.Pass, node string) life {
	view := p.View(node)
	if view == nil {
		return life{}
	}
	clock := view.Facts.Identity.Clock
	if clock.IsZero() || clock.Sub(p.TakenAt).Abs() > clockTolerance {
		return life{}
	}
	var l life
	for _, v := range p.Volumes() {
		for _, m := range p.VolumeMounts(v, node) {
			if l.Said == "" {
				l.Said = fmt.Sprintf("volume %s is mounted at %s", v.PVName(), m.Mount.Point)
			}
			l.Facts = append(l.Facts, diagnosis.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Mount.Line), m.Mount.Raw))
		}
	}
	for i := range view.Facts.Processes {
		proc := &view.Facts.Processes[i]
		if proc.PodUID == "" || len(l.Facts) > 4 {
			continue
		}
		if l.Said == "" {
			l.Said = fmt.Sprintf("process %d (%s) of a pod runs there", proc.PID, proc.Comm)
		}
		l.Facts = append(l.Facts, diagnosis.FromNode(node, fmt.Sprintf("proc/%d/cgroup", proc.PID), proc.Cgroup))
	}
	return l
}

// serverAtLeast compares the version of the API server ("v1.25.3+k3s1").
func serverAtLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(strings.TrimRight(parts[1], "+"))
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
