package provision

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// overlooked is how long a Ready provisioner may leave a claim alone before its annotations
// are suspected: it looks at each claim at once and again after a resync.
const overlooked = 5 * time.Minute

// Silence is why nobody makes the volume of a claim.
type Silence struct {
	Provisioner
	Kind     string // "leader", "barred", "mute", "pod", "workload", "nowhere", "annotation"
	Why      string
	Pod      *corev1.Pod
	Account  string // "namespace/name", of one that is barred
	Workload snapshot.Owner
	Waiting  bool
	Refused  bool // the pods of the workload are refused when they are made, in words that are quoted
	// OwnVolume says that the pod cannot start for a volume of its own: that one's cause is the root.
	OwnVolume bool
	Unplaced  bool // the pod has no node, and the scheduler says why
	State     []evidence.Answer
	Last      []evidence.Answer
	pl        *evidence.Place
}

// Wanted asks whether somebody shall make a volume for the place's claim now and has had a
// minute for it, or was told not to run.
func Wanted(pl *evidence.Place) evidence.Answer {
	v := pl.Volume
	if c := v.Claim; v.PV != nil || c == nil || c.Status.Phase != corev1.ClaimPending || c.Spec.VolumeName != "" || pl.X.Age(c.CreationTimestamp.Time) < time.Minute && !off(pl) || populated(c) {
		return evidence.No()
	}
	if v.Class == nil {
		return evidence.Not(evidence.Resource(pl.X, "storage.k8s.io/storageclasses").Nothing())
	}
	return evidence.When(dynamic(v.Claim, v.Class) && Asked(v) != "", evidence.FromAPI("StorageClass "+v.Class.Name, "provisioner", v.Class.Provisioner))
}

// off tells whether the provisioner of the place's claim is scaled to 0: then it does not come by waiting.
func off(pl *evidence.Place) bool {
	v := pl.Volume
	if !dynamic(v.Claim, v.Class) || Asked(v) == "" {
		return false
	}
	m := find(pl.X, Asked(v), snapshot.ChosenNode(v.Claim))
	return len(m.Pods) == 0 && len(m.Workloads) > 0 && ScaledDown(m.Workloads[0])
}

// SilenceOf asks why nobody makes the volume of the place's claim: its provisioner is not
// there, or the claim's annotations do not call it. When somebody answered it is another
// question (provisioning-failed).
func SilenceOf(pl *evidence.Place) (Silence, bool) {
	x, v := pl.X, pl.Volume
	name := Asked(v)
	s := Silence{Provisioner: find(x, name, snapshot.ChosenNode(v.Claim)), pl: pl}
	refused, begun := heard(pl)
	if refused || s.allOfLonghorn() {
		return s, false // one reason for all of Longhorn: longhorn-control-plane-down
	}
	events := evidence.Resource(x, "/events").Nothing()
	s.State = []evidence.Answer{evidence.Resource(x, "/pods").Nothing()}
	s.Last = []evidence.Answer{events, csi.Undisputed(x, name, "csi-provisioner").Nothing()}
	if !s.absent(begun) {
		if begun || !s.notCalled() {
			return s, false
		}
		s.State = append(s.State, events)
	}
	s.State = append(s.State, evidence.Yes(waits(pl)...).With(s.Facts(x)...))
	if begun {
		s.miss("what became of the attempt that the provisioner began", "nothing tells")
	}
	return s, true
}

func (s *Silence) miss(need, why string) {
	s.Last = append(s.Last, evidence.Unseen(evidence.Lack{Need: need, Why: why}))
}

// heard tells what a provisioner said of the claim so far: refused is a fresh refusal, begun
// that it acted or refused at some time.
func heard(pl *evidence.Place) (refused, begun bool) {
	for _, t := range pl.Texts {
		switch t.Reason {
		case "ProvisioningFailed":
			refused, begun = refused || t.Fresh, true
		case "Provisioning":
			begun = true
		}
	}
	return refused, begun
}

// waits quotes the PV controller, which says that it waits for a provisioner.
func waits(pl *evidence.Place) []report.Evidence {
	return pl.Texts.Say(func(t evidence.Text) bool { return t.Reason == "ExternalProvisioning" }).Facts()
}

// absent finds a provisioner that is not there or does not work.
func (s *Silence) absent(begun bool) bool {
	x := s.pl.X
	age, leased := s.leaseAge(x)
	switch {
	case s.Ready() != nil && leased && csi.Abandoned(x, s.Lease, s.Pods) && !s.ByName:
		s.Kind, s.Pod = "leader", s.Ready()
		s.Why = fmt.Sprintf("the leader of its provisioner has not renewed its lease for %s, although pod %s is Ready", evidence.Duration(age), s.Pod.Name)
		s.miss("a sign of life of the provisioner's leader", "only its lease is old")
	case s.Ready() != nil && !begun && s.barred():
	case s.Ready() != nil && !begun && s.mute():
	case s.Ready() != nil, leased && age <= leaseStale, s.replicasReady():
		return false // somebody is there
	case len(s.Pods) > 0:
		s.down(s.Pods[0])
	case len(s.Workloads) > 0:
		w := s.Workloads[0]
		wanted, isReady := snapshot.Replicas(w.Object)
		s.Kind, s.Workload = "workload", w
		s.Why = fmt.Sprintf("its provisioner does not run: %s has %d of %d replicas", w, isReady, wanted)
		if said, refused := csi.Unmade(x, w); refused {
			s.Refused = true
			s.Why += ", because its pods are refused when they are made"
			s.State = append(s.State, evidence.Yes(said))
		}
	case !s.waitedFor():
		return false
	default:
		s.Kind, s.Why = "nowhere", "no pod and no workload of its provisioner was found"
		if alike := csi.Similar(x, s.Name); len(alike) > 0 {
			s.Why += ", while a driver of a similar name is installed (" + strings.Join(alike, ", ") + ")"
		}
		s.miss("a provisioner that may run outside the cluster or under another name", "nothing shows it")
	}
	return true
}

// mute finds a provisioner that is Ready and has written nothing since the claim was there for it: one that works
// writes at once that it begins.
func (s *Silence) mute() bool {
	since := s.pl.Volume.Claim.CreationTimestamp.Time
	for _, w := range s.pl.Volume.Waiting() {
		if at := w.Pod.CreationTimestamp.Time; snapshot.ChosenNode(s.pl.Volume.Claim) != "" && at.After(since) { // chosen for it, not before
			since = at
		}
	}
	if s.pl.X.Age(since) < 2*time.Minute {
		return false
	}
	sidecar := csi.SidecarOf(s.pl.X, s.Name, "csi-provisioner")
	if u := sidecar.Unconnected(); u.Yes() {
		s.Kind, s.Pod = "mute", s.Ready()
		s.Why = fmt.Sprintf("pod %s of its provisioner is Ready, but the provisioner still tries to connect to a socket at which nobody listens", s.Pod.Name)
		s.State = append(s.State, u)
		return true
	}
	stopped := sidecar.Stopped(since)
	if !stopped.Yes() {
		return false
	}
	s.Kind, s.Pod = "mute", s.Ready()
	s.Why = fmt.Sprintf("pod %s of its provisioner is Ready, but the provisioner's log has ended before the claim was there for it", s.Pod.Name)
	s.State = append(s.State, stopped)
	s.miss("what the provisioner does", "it says nothing")
	return true
}

func (s *Silence) down(pod *corev1.Pod) {
	x := s.pl.X
	s.Kind, s.Pod = "pod", pod
	s.Why = fmt.Sprintf("its provisioner does not run, pod %s/%s is not Ready: %s", pod.Namespace, pod.Name, pods.Condition(pod))
	if n := pod.Spec.NodeName; n != "" && x.Node(n) != nil && !x.NodeReady(n).Ready {
		s.Why += "; its node " + n + " does not report"
	}
	if s.ByName {
		s.miss("whether pod "+pod.Namespace+"/"+pod.Name+" is the provisioner "+s.Name, "only its name says so")
	}
	said := evidence.LastLine(x, pod, func(container string) bool { return strings.Contains(container, "provisioner") })
	if own := ownVolume(x, pod); own.Text != "" {
		s.OwnVolume, said = true, own
		s.Why += "; it waits for a volume of its own"
	}
	if unplaced := pods.Unplaced(x, pod); unplaced.Text != "" && !s.OwnVolume {
		s.Unplaced, said = true, unplaced
		s.Why += ", of which the scheduler says: " + strings.TrimSuffix(unplaced.Text, ".")
	}
	s.State = append(s.State, evidence.Yes(said))
	if _, at := ready(pod); !at.IsZero() && x.Age(at) < time.Minute {
		s.Waiting = true
	}
}

// waitedFor tells whether the PV controller says now that it waits for a provisioner. One that never did is not
// heard (its events last an hour, and it may drop some): then the claim has had time enough, too.
func (s *Silence) waitedFor() bool {
	for _, t := range s.pl.Texts {
		if t.Reason == "ExternalProvisioning" {
			return t.Fresh
		}
	}
	return s.pl.X.Age(s.pl.Volume.Claim.CreationTimestamp.Time) > overlooked
}

// allOfLonghorn tells whether Longhorn's provisioner is silent together with the managers
// that it calls.
func (s *Silence) allOfLonghorn() bool {
	x := s.pl.X
	if s.Name != snapshot.LonghornDriver || s.Ready() != nil {
		return false
	}
	for _, pod := range s.Pods {
		for _, l := range x.LogsOf(pod.Namespace, pod.Name) {
			if strings.Contains(strings.Join(l.Lines, "\n"), "longhorn-backend") {
				return true
			}
		}
	}
	managers, up := 0, 0
	for _, pod := range x.PodsIn(x.LonghornNamespace()) {
		if pod.Labels["app"] == "longhorn-manager" {
			managers++
			if ok, _ := ready(pod); ok {
				up++
			}
		}
	}
	return managers > 0 && up == 0
}
