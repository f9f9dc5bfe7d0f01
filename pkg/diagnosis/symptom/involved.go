package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// settle is how long attaching, staging and publishing a healthy volume may take;
// the kubelet's first summary comes after 2m3s.
const settle = 2 * time.Minute

// involved is a pod of the question with those of its volumes that are in scope.
type involved struct {
	pod     *corev1.Pod
	volumes []*snapshot.Volume
}

// pods lists the pods of the question, each once: consumers of its volumes, the
// asked pod, and in a sweep every pod of the nodes.
func pods(p *diagnosis.Pass) []involved {
	var out []involved
	at := map[*corev1.Pod]int{}
	put := func(pod *corev1.Pod, v *snapshot.Volume) {
		i, ok := at[pod]
		if !ok {
			i = len(out)
			at[pod] = i
			out = append(out, involved{pod: pod})
		}
		if v != nil && !slices.Contains(out[i].volumes, v) {
			out[i].volumes = append(out[i].volumes, v)
		}
	}
	for _, v := range p.Volumes() {
		for _, c := range v.Consumers {
			put(c.Pod, v)
		}
	}
	switch p.Question.Kind {
	case "pod":
		if pod := p.Pod(p.Question.Namespace, p.Question.Name); pod != nil {
			put(pod, nil)
		}
	case "node":
		for _, pod := range p.PodsOn(p.Question.Name) {
			put(pod, nil)
		}
	case "cluster":
		for _, pod := range p.Cluster.Pods {
			put(pod, nil)
		}
	}
	return out
}

// keys ties a symptom to the pod, its node and its volumes.
func (i involved) keys(volumes []*snapshot.Volume) diagnosis.Keys {
	var k diagnosis.Keys
	k.Pod(i.pod)
	k.At(i.pod.Spec.NodeName)
	k.Volume(volumes...)
	return k
}

// named narrows volumes to the one that a text names, when it names one.
func (i involved) named(t diagnosis.Text) []*snapshot.Volume {
	if t.Spec == "" && t.Unique == "" {
		return i.volumes
	}
	for _, o := range i.pod.Spec.Volumes {
		if o.Name == t.Spec && o.PersistentVolumeClaim == nil && o.Ephemeral == nil && !slices.ContainsFunc(i.volumes, func(v *snapshot.Volume) bool { return v.Inline && volumeIn(i.pod, v) == t.Spec }) {
			return nil // a volume of the pod that is no storage
		}
	}
	for _, v := range i.volumes {
		if t.Spec != "" && (t.Spec == v.PVName() || t.Spec == volumeIn(i.pod, v) || t.Spec == specIn(i.pod, v)) || t.Unique != "" && t.Unique == v.UniqueName() {
			return []*snapshot.Volume{v}
		}
	}
	if t.Op == "" || t.Spec == "" {
		return i.volumes
	}
	// The kubelet mounts what the specification does not have (a token of old), and calls an inline source after what it was translated to.
	return evidence.Keep(i.volumes, func(v *snapshot.Volume) bool { return v.Inline || v.PV == nil })
}

// gotSince tells whether the kubelet's later summary of what it waits for leaves out the volume that a text is about.
func (i involved) gotSince(t diagnosis.Text, all []diagnosis.Text) bool {
	names := []string{t.Spec}
	for _, v := range i.named(t) {
		for _, c := range v.Consumers { // a pod may mount one claim under two names
			if c.Pod == i.pod {
				names = append(names, c.Volume)
			}
		}
	}
	return t.Spec != "" && slices.ContainsFunc(all, func(o diagnosis.Text) bool {
		return o.Source == "event" && o.Pod == t.Pod && len(o.Unmounted) > 0 && o.At.After(t.At) && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(o.Unmounted, n) })
	})
}

// volumeIn is the name of a volume in the pod's spec.
func volumeIn(pod *corev1.Pod, v *snapshot.Volume) string {
	for _, c := range v.Consumers {
		if c.Pod == pod {
			return c.Volume
		}
	}
	return ""
}

// specIn is the kubelet's name for a volume of the pod.
func specIn(pod *corev1.Pod, v *snapshot.Volume) string {
	for _, c := range v.Consumers {
		if c.Pod == pod {
			return v.SpecName(c)
		}
	}
	return ""
}

// waiting tells whether the pod shall run and a container of it does not start.
func waiting(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == "" || pod.Status.Phase == corev1.PodRunning && unstarted(pod) != ""
}

// stopped is when the last container of a pod that is to run on ended, while none runs and none waits; else zero.
func stopped(pod *corev1.Pod) (at time.Time) {
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil || pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		return at
	}
	for _, cs := range pod.Status.ContainerStatuses {
		e := cs.State.Terminated
		if e == nil || e.ExitCode == 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			return time.Time{}
		}
		if e.FinishedAt.After(at) {
			at = e.FinishedAt.Time
		}
	}
	return at
}

// remounts says that a pod whose containers have ended, as after a restart of its node, needs only time: the kubelet starts a
// container anew within seconds, or says that it waits (CrashLoopBackOff); but first it mounts what the restart took
// away (kubelet.go, SyncPod).
func remounts(p *diagnosis.Pass, pod *corev1.Pod) string {
	at, r := stopped(pod), p.NodeReady(pod.Spec.NodeName)
	if at.IsZero() || p.Age(at) >= settle && p.Age(r.Since) >= settle {
		return ""
	}
	return fmt.Sprintf("The containers of %s ended %s ago; the kubelet of node %s mounts its volumes again and starts them.", podName(pod), evidence.Duration(p.Age(at)), pod.Spec.NodeName)
}

// unstarted is the reason for which the kubelet cannot start a container, when it
// is one that mounts can bring.
func unstarted(pod *corev1.Pod) string {
	for _, cs := range snapshot.Statuses(pod) {
		w := cs.State.Waiting
		if w != nil && evpods.Unmade(w.Reason) {
			return w.Reason
		}
		if loopsOverMount(cs) {
			return cs.LastTerminationState.Terminated.Reason
		}
	}
	return ""
}

// loopsOverMount tells whether a container is restarted again and again because the
// runtime cannot start it over a mount: it has never run, although it has an exit.
func loopsOverMount(cs corev1.ContainerStatus) bool {
	w, last := cs.State.Waiting, cs.LastTerminationState.Terminated
	if w == nil || w.Reason != "CrashLoopBackOff" || last == nil || last.Reason != "StartError" && last.Reason != "ContainerCannotRun" {
		return false
	}
	said := strings.ToLower(last.Message)
	return evidence.ContainsAny(said, "mount", "subpath", "volume", "rootfs", "not a directory", "is a directory")
}

// podLoops tells whether a container of the pod does so.
func podLoops(pod *corev1.Pod) bool {
	return slices.ContainsFunc(snapshot.Statuses(pod), loopsOverMount)
}

// volumeSubject names the most natural object of a volume.
func volumeSubject(v *snapshot.Volume) report.Subject {
	switch ns, name := v.ClaimRef(); {
	case v.Claim != nil:
		return diagnosis.ObjectSubject("PersistentVolumeClaim", ns, name)
	case v.PV != nil:
		return diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name)
	case v.LH() != nil:
		return diagnosis.ObjectSubject("Volume", v.LH().Namespace, v.LH().Name)
	}
	return diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
}

// name is how a volume is called in a sentence.
func name(v *snapshot.Volume) string {
	if ns, claim := v.ClaimRef(); claim != "" {
		return "claim " + ns + "/" + claim
	}
	if pv := v.PVName(); pv != "" {
		return "volume " + pv
	}
	return "volume " + v.Handle
}

func podName(pod *corev1.Pod) string { return "pod " + pod.Namespace + "/" + pod.Name }

// onVolume starts a symptom about a volume.
func onVolume(v *snapshot.Volume, message string) *diagnosis.Symptom {
	s := &diagnosis.Symptom{Subject: volumeSubject(v), Message: message}
	s.Volume(v)
	for _, c := range v.Consumers {
		if c.Live() {
			s.Pod(c.Pod)
		}
	}
	return s
}
