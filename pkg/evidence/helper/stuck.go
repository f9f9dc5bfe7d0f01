package helper

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Stuck is the state of a helper that does not finish.
type Stuck struct {
	Why    string // as a sentence goes on: "its image cannot be pulled (…)"
	Silent bool   // nobody says what keeps it
	Is     evidence.Answer
}

// StuckOf finds why the volume's helper does not finish: it may not be made, it failed,
// a container of it waits or ended, or its volume cannot be mounted.
func StuckOf(pl *evidence.Place) Stuck {
	if s, ok := forbidden(pl); ok {
		return s
	}
	pod := PodOf(pl)
	if pod != nil && pl.X.Age(pod.CreationTimestamp.Time) > young {
		if s, ok := ofPod(pl, pod); ok {
			return s
		}
	}
	if s, ok := ofEvents(pl); ok && (pod == nil || !pods.Runs(pod)) { // else what they say of its start is past
		return s
	}
	if s, ok := creating(pl, pod); ok {
		return s
	}
	return Stuck{Is: evidence.Unseen(evidence.Lack{Need: "the state of the helper pod", Why: "it was not there, and no event speaks of it"})}
}

// forbidden: the API server does not let the provisioner make its helper.
func forbidden(pl *evidence.Place) (Stuck, bool) {
	for _, t := range pl.Refused() {
		_, rest, ok := strings.Cut(t.Raw, `pods "`)
		name, why, _ := strings.Cut(rest, `"`)
		if ok && roleOf(pl.Volume, name) != "" && strings.Contains(why, "is forbidden") {
			return Stuck{Why: "the API server refuses to make it (" + strings.TrimSpace(why) + ")", Is: evidence.Yes(t.Evidence())}, true
		}
	}
	return Stuck{}, false
}

func ofPod(pl *evidence.Place, pod *corev1.Pod) (Stuck, bool) {
	object := "Pod " + pod.Namespace + "/" + pod.Name
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		return Stuck{Why: "it failed: " + strings.TrimSpace(pod.Status.Reason+" "+pod.Status.Message),
			Is: evidence.Yes(evidence.FromAPI(object, "status", strings.TrimSpace(pod.Status.Reason+" "+pod.Status.Message)))}, true
	}
	for _, c := range snapshot.Statuses(pod) {
		if w := c.State.Waiting; snapshot.Hindered(c) != "" {
			waits := " waits: "
			if pods.WantsImage(w) && c.Image != "" {
				waits = " waits for image " + c.Image + ": "
			}
			return Stuck{Why: "its container " + c.Name + waits + strings.TrimSuffix(w.Reason+" ("+strings.TrimSpace(w.Message)+")", " ()"),
				Is: evidence.Yes(evidence.FromAPI(object, "status.containerStatuses["+c.Name+"].state.waiting", strings.TrimSpace(w.Reason+" "+w.Message)))}, true
		}
		if e := c.State.Terminated; e != nil && e.ExitCode != 0 {
			last := evidence.LastLine(pl.X, pod, func(container string) bool { return container == c.Name })
			if last.Text == "" && strings.TrimSpace(e.Message) != "" {
				last = evidence.FromAPI(object, "status.containerStatuses["+c.Name+"].state.terminated.message", e.Message)
			}
			why := fmt.Sprintf("its container %s ended with exit status %d", c.Name, e.ExitCode)
			if last.Text != "" {
				why += `, and said "` + strings.TrimSpace(last.Text) + `"`
			}
			return Stuck{Why: why, Is: evidence.Yes(last, evidence.FromAPI(object, "status.containerStatuses["+c.Name+"].state.terminated", fmt.Sprintf("exitCode %d %s", e.ExitCode, e.Reason)))}, true
		}
	}
	if why, ok := pods.Unscheduled(pod); ok {
		return Stuck{Why: "it is not scheduled (" + why + ")", Is: evidence.Yes(evidence.FromAPI(object, "status.conditions[PodScheduled]", why))}, true
	}
	return Stuck{}, false
}

// creating: a helper has one small image and a directory of its node, which takes seconds. After minutes in
// which nobody said why its container is not made, the node does not do it.
func creating(pl *evidence.Place, pod *corev1.Pod) (Stuck, bool) {
	if pod == nil || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil {
		return Stuck{}, false
	}
	for _, c := range snapshot.Statuses(pod) {
		if w, age := c.State.Waiting, pl.X.Age(pod.CreationTimestamp.Time); w != nil && w.Reason == "ContainerCreating" && age > limit {
			return Stuck{Why: "its container " + c.Name + " is being created for " + evidence.Duration(age) + ", and no fresh event says why", Silent: true,
				Is: evidence.Yes(evidence.FromAPI("Pod "+pods.Name(pod), "status.containerStatuses["+c.Name+"].state.waiting", w.Reason))}, true
		}
	}
	return Stuck{}, false
}

// ofEvents: the helper is gone already, and its fresh events tell.
func ofEvents(pl *evidence.Place) (Stuck, bool) {
	var out Stuck
	for _, e := range pl.X.HelperEvents(pl.Volume.Called()) {
		bad := e.Type != "Normal" && e.Type != "" || e.Reason == "BackOff" || e.Reason == "FailedMount" || e.Reason == "Failed" || e.Reason == "Evicted"
		if roleOf(pl.Volume, e.ObjName) != "" && bad && pl.X.Age(e.Last) < fresh {
			out = Stuck{Why: "its event " + e.Reason + " says: " + strings.TrimSpace(e.Message),
				Is: evidence.Yes(evidence.FromEvent("Pod "+e.ObjNamespace+"/"+e.ObjName, e))}
		}
	}
	return out, out.Why != ""
}
