package csi

import (
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Sidecar is a helper container of a driver's controller ("csi-resizer").
type Sidecar struct {
	x            *snapshot.Index
	driver, Name string
	Pods         []*corev1.Pod
	Workloads    []snapshot.Owner
}

// SidecarOf finds the pods and workloads of a driver's sidecar.
func SidecarOf(x *snapshot.Index, driver, name string) Sidecar {
	return Sidecar{x, driver, name, x.SidecarPods(driver, name), Workloads(x, driver, name)}
}

// Where names the sidecar's pod or workload for a sentence.
func (s Sidecar) Where() string {
	switch {
	case len(s.Pods) > 0:
		return "pod " + s.Pods[0].Namespace + "/" + s.Pods[0].Name
	case len(s.Workloads) > 0:
		return s.Workloads[0].String()
	}
	return ""
}

// Account is the service account that the sidecar speaks with.
func (s Sidecar) Account() (namespace, name string) {
	if len(s.Pods) == 0 {
		return "", ""
	}
	return s.Pods[0].Namespace, s.Pods[0].Spec.ServiceAccountName
}

// LastWord is the newest line in which the sidecar names an object, however old it is. While it is young the sidecar
// may be at work, and one that has an error's code says that it is refused.
func (s Sidecar) LastWord(object string) evidence.Answer {
	for _, p := range s.Pods {
		for l := range evidence.Lines(s.x.LogsOf(p.Namespace, p.Name)) {
			if strings.Contains(l.Container, strings.TrimPrefix(s.Name, "csi-")) && tells(l.Text, object) {
				refused := strings.Contains(l.Text, "rpc error: code = ") && !strings.Contains(l.Text, "code = NotFound")
				return evidence.When(!refused && !l.Within(s.x, Startup), l.Evidence())
			}
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "what " + s.Name + " says of " + object, Why: "its log, as far as it was read, has no line of it"})
}

// tells asks whether a line has the name of an object, and not only of one that is called alike.
func tells(line, object string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool {
		return r != '-' && r != '.' && !('a' <= r && r <= 'z') && !('0' <= r && r <= '9') && !('A' <= r && r <= 'Z')
	}), func(word string) bool { return strings.Trim(word, ".") == object })
}

// Down asks whether the sidecar exists and no container of it is Ready, or its workload
// has no pod.
func (s Sidecar) Down() evidence.Answer {
	var facts []report.Evidence
	for _, p := range s.Pods {
		field, text, ready := s.state(p)
		if ready {
			return evidence.No()
		}
		facts = append(facts, evidence.FromPod(p, field, text))
	}
	if len(s.Pods) == 0 {
		for _, w := range s.Workloads {
			facts = append(facts, evidence.FromAPI(w.String(), "pods", "none"))
		}
		return evidence.All(evidence.When(len(facts) > 0), evidence.Resource(s.x, "/pods").And(Undisputed(s.x, s.driver, s.Name)).Nothing(facts...))
	}
	return evidence.Yes(facts...)
}

// state tells how the sidecar's own container is in a pod.
func (s Sidecar) state(p *corev1.Pod) (field, text string, ready bool) {
	short := strings.TrimPrefix(s.Name, "csi-")
	for _, c := range p.Status.ContainerStatuses {
		if !strings.Contains(c.Name, short) && !strings.Contains(c.Image, short) {
			continue
		}
		text = "not Ready"
		if w := c.State.Waiting; w != nil {
			text = w.Reason
		}
		return "status.containerStatuses[" + c.Name + "]", text, c.Ready && p.DeletionTimestamp == nil
	}
	return "status.conditions[Ready]", "not True", snapshot.PodServes(p)
}

// Stopped asks whether the logs of all the sidecar's pods that serve were read and have nothing since a moment from
// which on it had something to do: it runs, and does nothing any more.
func (s Sidecar) Stopped(since time.Time) evidence.Answer {
	var facts []report.Evidence
	for _, p := range evidence.Keep(s.Pods, snapshot.PodServes) {
		last, at := evidence.Line{}, time.Time{}
		for l := range evidence.Lines(s.x.LogsOf(p.Namespace, p.Name)) {
			if when := message.Date(l.Text, s.x.TakenAt); strings.Contains(l.Container, strings.TrimPrefix(s.Name, "csi-")) && !l.Previous && when.After(at) {
				last, at = l, when
			}
		}
		if at.IsZero() || at.After(since) || Started(p).After(since) {
			return evidence.No()
		}
		facts = append(facts, last.Evidence())
	}
	return evidence.When(len(facts) > 0, facts...)
}

// Unconnected asks whether the sidecar in all its pods that serve still looks for the driver's socket, as it said within the
// minute and not only since it started: it does nothing before somebody listens there (csi-lib-utils: connection/connection.go,
// every ten seconds).
func (s Sidecar) Unconnected() evidence.Answer {
	var facts []report.Evidence
	for _, p := range evidence.Keep(s.Pods, snapshot.PodServes) {
		last := evidence.Line{}
		for l := range evidence.Lines(s.x.LogsOf(p.Namespace, p.Name)) {
			if !l.Previous && strings.Contains(l.Container, strings.TrimPrefix(s.Name, "csi-")) && strings.TrimSpace(l.Text) != "" {
				last = l
				break
			}
		}
		if !strings.Contains(last.Text, "Still connecting") || !last.Within(s.x, time.Minute) || s.x.Age(Started(p)) < Startup {
			return evidence.No()
		}
		facts = append(facts, last.Evidence())
	}
	return evidence.When(len(facts) > 0, facts...)
}

// leases are what the leases of sidecars are called before the driver's name.
var leases = map[string]string{"csi-attacher": "external-attacher-leader-", "csi-resizer": "external-resizer-", "csi-provisioner": ""}

// Leaderless tells whether no leader of a sidecar was ever elected, though leaders of its siblings were.
func Leaderless(x *snapshot.Index, driver, name string) bool {
	of := func(sidecar string) bool {
		l, _ := x.LeaderLease(driver, leases[sidecar]+snapshot.DashedDriver(driver))
		return l != nil
	}
	return leases[name] != "" && !of(name) && (of("csi-provisioner") || of("csi-attacher") || of("csi-resizer"))
}

// Abandoned tells whether nobody has renewed the lease of a leader for a minute, though one
// of these pods could have: who has just started waits until the time of the last leader is
// over (client-go/tools/leaderelection; 137 s on OpenShift).
func Abandoned(x *snapshot.Index, l *coordinationv1.Lease, pods []*corev1.Pod) bool {
	return x.LeaseAge(l) > time.Minute && !slices.ContainsFunc(pods, func(p *corev1.Pod) bool {
		at := Started(p)
		return !at.IsZero() && x.Age(at) < 3*time.Minute
	})
}

// LeaseOld asks whether a leader was elected and has not renewed its lease for a minute.
func (s Sidecar) LeaseOld(name string) evidence.Answer {
	l, proven := s.x.LeaderLease(s.driver, name)
	if !proven {
		return evidence.No()
	}
	return evidence.When(Abandoned(s.x, l, s.Pods),
		evidence.FromAPI("Lease "+l.Namespace+"/"+l.Name, "spec.renewTime", l.Spec.RenewTime.UTC().Format(time.RFC3339)))
}

// Denied asks for the sidecar's fresh words that the Kubernetes API refuses it something that it works with.
func (s Sidecar) Denied() (rbac.Refusal, evidence.Answer) {
	r, _, is := rbac.Denied(s.x, s.Pods, strings.TrimPrefix(s.Name, "csi-"), rbac.Refusal.Matters)
	return r, is
}

// Absent asks whether the driver has other sidecars and not this one. Of a driver none of whose
// controllers is known, this one may be wherever the others are.
func (s Sidecar) Absent() evidence.Answer {
	if len(s.Pods)+len(s.Workloads) > 0 {
		return evidence.No()
	}
	var facts []report.Evidence
	for _, other := range []string{"csi-attacher", "csi-provisioner"} {
		for _, p := range s.x.SidecarPods(s.driver, other) {
			facts = append(facts, evidence.FromPod(p, "spec.containers", other+" and no "+s.Name))
		}
	}
	if len(facts) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "the " + s.Name + " of driver " + s.driver, Why: "no controller of the driver was found"})
	}
	return evidence.Resource(s.x, "/pods").Nothing(facts...)
}
