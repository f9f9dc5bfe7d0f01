package longhorn

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	onlyAvailable = regexp.MustCompile(`only available instance manager`)
	listTimeout   = regexp.MustCompile(`(?i)(ProcessList|InstanceList|process list).*(DeadlineExceeded|deadline exceeded|timed? ?out|Unavailable)`)
)

// hang collects what shows that an instance-manager does not act any more.
type hang struct {
	p         *diagnosis.Pass
	im        *snapshot.LHInstanceManager
	stuck     []*snapshot.Volume // of the cluster
	mine      []*snapshot.Volume // of the question
	unchanged int                // volumes whose record contradicts what is wanted
	trace     string             // a sign besides the objects
	evidence  []report.Evidence
}

func (h *hang) collect() {
	for _, v := range h.p.Index.Volumes {
		lh := v.LH()
		if lh == nil || !h.moving(v, lh) {
			continue
		}
		for _, i := range instancesOf(v) {
			said, contradicts := h.stands(v, i)
			if said == "" {
				continue
			}
			h.stuck = append(h.stuck, v)
			if contradicts {
				h.unchanged++
			}
			if h.p.InScope(v) {
				h.mine = append(h.mine, v)
			}
			h.evidence = append(h.evidence, diagnosis.FromAPI("InstanceManager "+h.im.Name, "status."+i.kind+"["+i.name+"]", said))
			break
		}
	}
	if len(h.mine) > 0 {
		h.traces()
	}
}

// moving tells whether the volume has been on its way for longer than it should.
func (h *hang) moving(v *snapshot.Volume, lh *snapshot.LHVolume) bool {
	switch lh.Status.State {
	case "attaching":
		return wantedFor(h.p, v) > patience
	case "detaching":
		for _, va := range v.Attachments {
			if va.DeletionTimestamp != nil && h.p.Age(va.DeletionTimestamp.Time) > patience {
				return true
			}
		}
		return wantedFor(h.p, v) > patience
	}
	return false
}

// stands compares what an instance should be with its record. Only instances that
// nothing else keeps from starting count: an engine waits for its replicas, and a
// start that fails is no hang.
func (h *hang) stands(v *snapshot.Volume, i instance) (said string, contradicts bool) {
	if i.NodeID != h.im.NodeID || !serves(h.im, i) || i.InstanceManager != "" && i.InstanceManager != h.im.Name {
		return "", false
	}
	r := lhe.Process(map[string][]snapshot.LHProcess{"engine": h.im.Engines, "engineFrontend": h.im.Frontends, "replica": h.im.Replicas}[i.kind], i.name)
	switch {
	case i.DesireState == "stopped" && r != nil && r.State == "running":
		return "running, wanted stopped", true
	case i.DesireState == "running" && r != nil && (r.State == "starting" || r.State == "stopping"):
		return r.State + ", wanted running", true
	case i.DesireState != "running" || i.CurrentState == "running" || r != nil || i.InstanceManager == "":
		return "", false
	}
	if c, ok := i.Conditions.Get("InstanceCreation"); ok && c.Status == "False" || h.otherwise(v, i) {
		return "", false
	}
	return "no process, wanted running", false
}

// otherwise tells whether something else keeps the instance from starting.
func (h *hang) otherwise(v *snapshot.Volume, i instance) bool {
	lh := v.LH()
	if lhe.WaitsForImage(h.p.Index, v).Yes() {
		return true
	}
	for _, ei := range h.p.Cluster.Longhorn.EngineImages {
		if lh.Image != "" && ei.Image == lh.Image && !ei.Deployed[h.im.NodeID] {
			return true
		}
	}
	if i.kind == "engine" {
		for _, r := range v.Longhorn.Replicas {
			if r.FailedAt == "" && r.CurrentState != "running" {
				return true
			}
		}
	}
	if i.kind == "engineFrontend" && !slices.ContainsFunc(v.Longhorn.Engines, func(e *snapshot.LHEngine) bool { return e.CurrentState == "running" }) {
		return true // the initiator starts after its target
	}
	kind := strings.ToUpper(i.kind[:1]) + i.kind[1:]
	for _, e := range h.p.Events(kind, h.im.Namespace, i.name) {
		if e.Reason == "FailedStarting" && h.p.Age(e.Last) < freshFor {
			return true
		}
	}
	return false
}

// traces looks for signs of the hang: managers whose calls time out, and processes of
// the pod that the kernel does not let go on.
func (h *hang) traces() {
	for _, log := range h.p.Logs {
		if log.Namespace != h.im.Namespace || h.trace != "" {
			continue
		}
		for n := len(log.Lines) - 1; n >= 0; n-- {
			line := log.Lines[n]
			if at := message.Date(line, h.p.TakenAt); at.IsZero() || h.p.Age(at) > freshFor {
				continue
			}
			if listTimeout.MatchString(line) && (strings.Contains(line, h.im.Name) || h.im.IP != "" && strings.Contains(line, h.im.IP) || strings.Contains(line, "node="+h.im.NodeID)) {
				h.trace = " Calls of longhorn-manager to it time out."
				h.evidence = append(h.evidence, report.Evidence{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", log.Namespace, log.Pod, log.Container, n+1), Text: line})
				break
			}
		}
	}
	view, pod := h.p.View(h.im.NodeID), h.p.Pod(h.im.Namespace, h.im.Name)
	if view == nil || pod == nil {
		return
	}
	for _, proc := range view.ProcessesOfPod(string(pod.UID)) {
		if proc.State == "D" {
			h.trace += fmt.Sprintf(" Process %d (%s) of its pod is in uninterruptible sleep.", proc.PID, proc.Comm)
			h.evidence = append(h.evidence, diagnosis.FromNode(h.im.NodeID, fmt.Sprintf("proc/%d/stat", proc.PID), fmt.Sprintf("%s state D %s", proc.Comm, proc.WChan)))
		}
	}
}
