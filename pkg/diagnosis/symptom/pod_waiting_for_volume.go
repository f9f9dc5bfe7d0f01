package symptom

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// podWaitingForVolume: a pod cannot start because a volume is not there.
var podWaitingForVolume = &diagnosis.SymptomRule{Name: "pod-waiting-for-volume", Run: func(p *diagnosis.Pass) {
	for _, i := range pods(p) {
		if !waiting(i.pod) && (stopped(i.pod).IsZero() || !p.NodeReady(i.pod.Spec.NodeName).Ready) {
			continue
		}
		if s := waitsForVolume(p, i); s != nil {
			p.AddSymptom(s)
		}
	}
}}

func waitsForVolume(p *diagnosis.Pass, i involved) *diagnosis.Symptom {
	texts, ended := p.PodTexts(i.pod), stopped(i.pod)
	said := slices.DeleteFunc(slices.Clone(texts), func(t diagnosis.Text) bool {
		return !blamesVolume(t) && !evpods.Blames(i.pod, t) || mountedSince(t, texts) || t.At.Before(ended)
	})
	age, again := p.Age(i.pod.CreationTimestamp.Time), !ended.IsZero()
	switch {
	case age < settle && !slices.ContainsFunc(said, func(t diagnosis.Text) bool { return t.Fresh && !passing(p, i, t) }) && !broke(p, i):
		return nil // just created, nobody complains of what does not pass by itself
	case i.pod.Spec.NodeName == "" && !unscheduledForVolume(p, i, said):
		return nil
	case i.pod.Spec.NodeName != "" && !creating(i.pod, said) && !unfinished(i, texts) && !podLoops(i.pod) && !again:
		return nil
	case len(said) == 0 && !hasVolumes(i):
		return nil
	case len(said) == 0 && (otherTrouble(texts) || pulling(texts) || again) && !lacks(p, i):
		return nil
	}
	s := &diagnosis.Symptom{Keys: i.keys(unmounted(i, said)), Subject: diagnosis.PodSubject(i.pod)}
	s.Message = fmt.Sprintf("%s waits for its volumes since %s.", capital(podName(i.pod)), evidence.Duration(age))
	if again {
		s.Message = fmt.Sprintf("%s waits for its volumes since its containers ended %s ago.", capital(podName(i.pod)), evidence.Duration(p.Age(ended)))
	}
	s.Pending = cmp.Or(needsTime(p, i, said), allBeingMade(p, i), remounts(p, i.pod))
	s.Evidence = append(s.Evidence, stateOf(i.pod))
	for _, t := range said {
		if len(s.Evidence) < 3 {
			s.Evidence = append(s.Evidence, t.Evidence())
		}
	}
	return s
}

// passing tells whether a text only says that a volume comes from another node, or is just
// being made, or that the pod is new to its node.
func passing(p *diagnosis.Pass, i involved, t diagnosis.Text) bool {
	return newToKubelet(p, i, t) || is(t, message.UnboundClaims) && beingMade(p, i) || is(t, message.MultiAttachExclusive, message.MultiAttachPods) &&
		slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool { return handedOver(p, v, i.pod) })
}

// beingMade tells whether every claim of a young pod that is not bound is as young, and nobody
// refused it: the scheduler looks before the volume can be there.
func beingMade(p *diagnosis.Pass, i involved) bool {
	return !slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool {
		return v.Claim != nil && v.Claim.Status.Phase != corev1.ClaimBound && (p.Age(v.Claim.CreationTimestamp.Time) >= settle || failedToProvision(p, v))
	})
}

// newToKubelet tells whether a text only says that the kubelet may not yet read what a
// young pod names (the node authorizer has not seen the pod), or has not yet got its
// ConfigMaps and Secrets: it tries again at once.
func newToKubelet(p *diagnosis.Pass, i involved, t diagnosis.Text) bool {
	return is(t, message.CacheNotSynced, message.NoRelationship) && p.Age(i.pod.CreationTimestamp.Time) < settle
}

// broke tells whether a volume of the pod lost its engine a moment ago: its new
// pod is young because the volume failed, not because it is the first.
func broke(p *diagnosis.Pass, i involved) bool {
	return slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool {
		return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool { return t.Fresh && lostEngine(t) })
	})
}

// blamesVolume tells whether a text says that a volume keeps the pod from starting.
func blamesVolume(t diagnosis.Text) bool {
	switch t.Reason {
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		return true
	case "FailedScheduling", "Unschedulable":
		return is(t, message.VolumePredicates...) ||
			strings.Contains(t.Raw, "binding volumes") ||
			strings.Contains(t.Raw, "persistentvolumeclaim") ||
			strings.Contains(t.Raw, "was not created for pod") // component-helpers/storage/ephemeral: the claim of its name is another's
	}
	return namesMount(t)
}

// namesMount tells whether a runtime's complaint is about a mount.
func namesMount(t diagnosis.Text) bool {
	creation := evpods.Unmade(t.Reason) || t.Reason == "Failed" || t.Reason == "FailedCreatePodSandBox" || t.Reason == "FailedSync"
	return creation && (is(t, message.RootfsMount, message.SubPathFailed, message.NotSharedMount) ||
		is(t, message.DeviceBusy, message.InputOutputError, message.StaleHandle, message.NotConnected) ||
		strings.Contains(t.Raw, "/volumes/") || strings.Contains(t.Raw, "volume-subpaths") ||
		strings.Contains(t.Raw, "not a device node") || strings.Contains(t.Raw, "volumeDevices"))
}

// creating tells whether the kubelet is still before the start of the containers.
// With the sandbox ready, volumes are mounted (KEP-3085).
func creating(pod *corev1.Pod, said []diagnosis.Text) bool {
	if slices.ContainsFunc(said, func(t diagnosis.Text) bool { return namesMount(t) && !got(pod, t) || evpods.Blames(pod, t) }) {
		return true
	}
	if snapshot.PodCondition(pod, corev1.PodReadyToStartContainers).Status == corev1.ConditionTrue {
		return false
	}
	return !slices.ContainsFunc(snapshot.Statuses(pod), func(cs corev1.ContainerStatus) bool {
		return cs.State.Running != nil || cs.State.Terminated != nil || cs.LastTerminationState.Terminated != nil || snapshot.Hindered(cs) != ""
	})
}

// unfinished tells whether the runtime still works on a container of a pod with
// volumes: it refuses the next request for the same name (CRI-O, containerd). What it
// does meanwhile is mostly walking through a volume.
func unfinished(i involved, texts []diagnosis.Text) bool {
	return hasVolumes(i) && slices.ContainsFunc(texts, func(t diagnosis.Text) bool {
		return t.Fresh && (strings.Contains(t.Raw, "name is reserved") || strings.Contains(t.Raw, "is reserved for") || createTimedOut(t))
	})
}

// createTimedOut tells whether the runtime did not make a container in time.
func createTimedOut(t diagnosis.Text) bool {
	return (t.Reason == "Failed" || evpods.Unmade(t.Reason)) && strings.Contains(t.Raw, "context deadline exceeded") && !strings.Contains(t.Raw, "image")
}

// unscheduledForVolume tells whether a volume keeps the scheduler from placing
// the pod: it says so, or says nothing any more and a claim is not bound.
func unscheduledForVolume(p *diagnosis.Pass, i involved, said []diagnosis.Text) bool {
	if len(said) > 0 {
		return true
	}
	for _, k := range i.pod.Status.Conditions {
		if k.Type == corev1.PodScheduled && k.Message != "" {
			return false // it waits for something else
		}
	}
	return slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool {
		return v.Claim != nil && v.Claim.Status.Phase != corev1.ClaimBound
	})
}

// otherTrouble tells whether fresh events explain the waiting without a volume.
func otherTrouble(texts []diagnosis.Text) bool {
	return slices.ContainsFunc(texts, func(t diagnosis.Text) bool {
		return t.Fresh && t.Source == "event" && (is(t, message.SandboxFailed) || strings.Contains(t.Reason, "Image") || t.Reason == "FailedCreatePodSandBox")
	})
}

// pulling tells whether the newest word about an image is that it is on its way: the volumes are mounted (mountedSince),
// and the kubelet says no more until it has the image.
func pulling(texts []diagnosis.Text) bool {
	for _, t := range texts { // newest first
		switch t.Reason {
		case "Pulling":
			return true
		case "Pulled", "Created", "Started":
			return false
		}
	}
	return false
}

// lacks tells whether the pod's node was looked at and does not show one of its volumes mounted for it:
// the kubelet is not at what comes after the volumes then, whatever events say.
func lacks(p *diagnosis.Pass, i involved) bool {
	return slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool {
		return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
			at := evidence.Place{X: p.Index, Volume: v, Node: c.Node()}
			return c.Pod == i.pod && at.Tables(probes.Mounts).Complete() && !at.Published(c)
		})
	})
}

// hasVolumes tells whether the pod has a volume for which the kubelet may have to wait: a
// persistent one, an inline one of CSI or the network, an object of the API, a path of the
// node that it checks (pkg/volume/hostpath checkType) and does not make, or a directory for which it sets a quota
// (pkg/volume/emptydir assignQuota).
func hasVolumes(i involved) bool {
	if len(i.volumes) > 0 {
		return true
	}
	return slices.ContainsFunc(i.pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.CSI != nil || v.NFS != nil || v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.RBD != nil || v.ISCSI != nil || v.CephFS != nil || v.FlexVolume != nil ||
			v.Secret != nil || v.ConfigMap != nil || v.HostPath != nil && checked(v.HostPath) || v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil
	})
}

func checked(h *corev1.HostPathVolumeSource) bool {
	return h.Type != nil && *h.Type != corev1.HostPathUnset && !strings.HasSuffix(string(*h.Type), "OrCreate")
}

// unmounted narrows the pod's volumes to those that the newest texts call missing: none when
// the image of a volume (KEP-4639) is, which comes after all that is mounted.
func unmounted(i involved, said []diagnosis.Text) []*snapshot.Volume {
	for _, t := range said {
		if evpods.VolumeImage(i.pod, t) != "" {
			return nil
		}
		if len(t.Unmounted) == 0 {
			continue
		}
		out := evidence.Keep(i.volumes, func(v *snapshot.Volume) bool {
			return slices.Contains(t.Unmounted, volumeIn(i.pod, v)) || slices.Contains(t.Unmounted, v.PVName())
		})
		if len(out) > 0 {
			return out
		}
	}
	return i.volumes
}

func stateOf(pod *corev1.Pod) report.Evidence {
	object := "Pod " + pod.Namespace + "/" + pod.Name
	for _, cs := range snapshot.Statuses(pod) {
		if loopsOverMount(cs) {
			return evidence.FromAPI(object, "status.containerStatuses["+cs.Name+"].lastState.terminated.message", cs.LastTerminationState.Terminated.Message)
		}
		if w := cs.State.Waiting; w != nil && w.Reason != "" {
			return evidence.FromAPI(object, "status.containerStatuses["+cs.Name+"].state.waiting.reason", w.Reason)
		}
	}
	phase := string(pod.Status.Phase)
	if phase == "" {
		phase = "(no status yet)"
	}
	return evidence.FromAPI(object, "status.phase", phase)
}
