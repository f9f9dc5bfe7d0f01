package symptom

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func is(t diagnosis.Text, kinds ...message.Kind) bool { return slices.ContainsFunc(kinds, t.Is) }

// present tells whether a text about a pod still holds: it is fresh, or nothing
// about the pod's volumes was said later and the pod still waits.
func present(t diagnosis.Text, pod *corev1.Pod, all []diagnosis.Text) bool {
	if pod != nil && (beforeStart(t) || namesMount(t)) && snapshot.PodServes(pod) {
		return false // it runs and is Ready: whatever kept it from starting is past
	}
	if pod != nil && beforeStart(t) && ranToEnd(pod) {
		return false // it ran to its end: a kubelet that has dropped it may complain on ("not registered", kubernetes issue 105204)
	}
	if pod != nil && (got(pod, t) || t.Reason == "Unhealthy" && snapshot.PodServes(pod) && snapshot.PodCondition(pod, corev1.PodReady).LastTransitionTime.After(t.At)) {
		return false
	}
	if mountedSince(t, all) {
		return false
	}
	if t.Fresh {
		return true
	}
	if pod == nil || !waiting(pod) {
		return false
	}
	return !slices.ContainsFunc(all, func(o diagnosis.Text) bool {
		return o.Source == "event" && aboutStep(o) && o.At.After(t.At) && (t.Op != o.Op || o.Fresh)
	})
}

// ranToEnd tells whether a pod is finished that had its volumes: a container of it was started.
func ranToEnd(pod *corev1.Pod) bool {
	return evpods.Finished(pod).Yes() && slices.ContainsFunc(snapshot.Statuses(pod), func(c corev1.ContainerStatus) bool {
		return c.State.Terminated != nil && !c.State.Terminated.StartedAt.IsZero()
	})
}

// got tells whether a pod has its volumes, or its containers, since a text said what kept
// them from it.
func got(pod *corev1.Pod, t diagnosis.Text) bool {
	return t.Source == "event" && t.At.Before(snapshot.PodAsksSince(pod, t.Reason))
}

// beforeStart tells whether a text is about getting a pod's volumes.
func beforeStart(t diagnosis.Text) bool {
	switch t.Reason {
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedScheduling":
		return true
	}
	return false
}

// mountedSince tells whether the pod that a text keeps from its volumes asked for an image later. The kubelet does that
// when all volumes are mounted (kubelet.go, SyncPod: WaitForAttachAndMount comes first).
func mountedSince(t diagnosis.Text, all []diagnosis.Text) bool {
	return beforeStart(t) && t.Pod != "" && slices.ContainsFunc(all, func(o diagnosis.Text) bool {
		return o.Pod == t.Pod && o.Source == "event" && (o.Reason == "Pulling" || o.Reason == "Pulled") && o.At.After(t.At)
	})
}

// aboutStep tells whether an event is about one step of getting a volume, not
// kubelet's summary.
func aboutStep(t diagnosis.Text) bool {
	return t.Op != "" || is(t, message.MultiAttachExclusive, message.MultiAttachPods)
}

// told collects texts about volumes by meaning: one symptom per volume.
func told(p *diagnosis.Pass, fits func(diagnosis.Text) bool, says func(*snapshot.Volume, diagnosis.Text) string) {
	toldOf(p, func(_ *snapshot.Volume, t diagnosis.Text) bool { return fits(t) }, says)
}

// mounting leaves out what a log says of a node on which all pods of the volume serve, and one
// got it since: whatever kept it from being mounted is past.
func mounting(fits func(diagnosis.Text) bool) func(*snapshot.Volume, diagnosis.Text) bool {
	return func(v *snapshot.Volume, t diagnosis.Text) bool {
		users := v.LiveConsumersOn(t.Node)
		served := t.Source == "log" && t.Pod == "" &&
			!slices.ContainsFunc(users, func(c *snapshot.Consumer) bool { return !snapshot.PodServes(c.Pod) }) &&
			slices.ContainsFunc(users, func(c *snapshot.Consumer) bool { return snapshot.PodProvided(c.Pod).After(t.At) })
		return fits(t) && !served
	}
}

// toldOf does so where the meaning depends on the volume: what is said about a pod is
// said about each of its volumes.
func toldOf(p *diagnosis.Pass, fits func(*snapshot.Volume, diagnosis.Text) bool, says func(*snapshot.Volume, diagnosis.Text) string) {
	for _, v := range p.Volumes() {
		all := p.Texts(v)
		var best *diagnosis.Text
		var evidence []diagnosis.Text
		now := false
		for i := range all {
			t := all[i]
			if t.Ordinary || !fits(v, t) {
				continue
			}
			here := present(t, podOf(v, t), all)
			if best == nil || here && !now {
				best = &all[i]
			}
			now = now || here
			if len(evidence) < 3 && !slices.ContainsFunc(evidence, func(e diagnosis.Text) bool { return e.Raw == t.Raw }) {
				evidence = append(evidence, t)
			}
		}
		if best == nil {
			continue
		}
		s := onVolume(v, says(v, *best))
		s.Past = !now
		s.At(best.Node)
		for _, t := range evidence {
			s.At(t.Node)
			s.Evidence = append(s.Evidence, t.Evidence())
		}
		p.AddSymptom(s)
	}
}

// namesPath tells whether a text about a pod names a path on which a container of it
// mounts the volume.
func namesPath(v *snapshot.Volume, t diagnosis.Text) bool {
	for _, c := range v.Consumers {
		if t.Pod != c.Pod.Namespace+"/"+c.Pod.Name {
			continue
		}
		for _, k := range c.Pod.Spec.Containers {
			for _, m := range k.VolumeMounts {
				if m.Name == c.Volume && len(m.MountPath) > 1 && strings.Contains(t.Raw, m.MountPath) {
					return true
				}
			}
		}
	}
	return false
}

// podOf is the consumer that a text is about, or nil.
func podOf(v *snapshot.Volume, t diagnosis.Text) *corev1.Pod {
	for _, c := range v.Consumers {
		if t.Pod == c.Pod.Namespace+"/"+c.Pod.Name {
			return c.Pod
		}
	}
	// What a plugin's log or an attach error says holds while a pod on the node waits.
	for _, c := range v.Waiting() {
		if t.Pod == "" && t.Node != "" && c.Node() == t.Node {
			return c.Pod
		}
	}
	return nil
}
