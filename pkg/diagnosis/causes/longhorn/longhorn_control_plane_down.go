package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_control_plane_down.md
var controlPlaneDownDoc string

// ControlPlaneDown finds Longhorn's managers, their service or its name out of
// reach, so that nothing of Longhorn is reconciled.
var ControlPlaneDown = &diagnosis.Rule{
	Name: "longhorn-control-plane-down", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/endpoints")},
	Explains: []string{"attach-failed", "detach-stuck", "claim-pending", "pod-waiting-for-volume", "share-manager-failing", "pod-stuck-terminating"},
	LeadsTo:  []string{"longhorn-share-manager-down", "csi-plugin-not-registered", "provisioning-failed"},
	YieldsTo: []string{"iscsi-tools-missing", "mount-propagation-off", "network-host-to-pod-blocked"},
	Doc:      controlPlaneDownDoc,
	Run:      controlPlaneDown,
}

// controlServices are the services through which Longhorn's managers are called: the
// webhooks stand before every write of a Longhorn object.
var controlServices = []string{backendService, "longhorn-admission-webhook", "longhorn-conversion-webhook"}

const (
	backendService = "longhorn-backend"
	upgradeGrace   = 5 * time.Minute // managers that restart during an upgrade
	freshFor       = 10 * time.Minute
)

var (
	lookupForm      = regexp.MustCompile(`lookup longhorn-[a-z-]+\S*( on \S+)?: `)
	unreachableForm = regexp.MustCompile(`(dial tcp|Get|Post) ?[^\n]*longhorn-backend|failed calling webhook "[^"]*longhorn[^"]*"|no endpoints available for service "longhorn-|webhook service is not accessible|waiting for endpoint https://longhorn-`)
	logTime         = regexp.MustCompile(`time="([^"]+)"`)
)

// reach is what shows whether Longhorn's managers can be called.
type reach struct {
	Managers  int
	Down      []*corev1.Pod // managers that have not been Ready for longer than an upgrade takes
	Addresses int           // of longhorn-backend; -1: no Endpoints object was read
	Empty     string        // the first of Longhorn's services that has no endpoints
	Said      report.Evidence
	Fresh     bool // what was said is of this moment
	Lookup    bool // it speaks of the name, not of the service
}

func controlPlaneDown(p *diagnosis.Pass) {
	var held []*snapshot.Volume
	for _, v := range p.Volumes() {
		ours := v.IsLonghorn() || v.PV == nil && v.Class != nil && v.Class.Provisioner == snapshot.LonghornDriver
		if ours && (len(v.Waiting()) > 0 || p.Suffers(v, "attach-failed", "detach-stuck", "claim-pending", "pod-waiting-for-volume")) {
			held = append(held, v)
		}
	}
	if len(held) == 0 {
		return
	}
	r := managerReach(p, held)
	gone := r.Managers > 0 && len(r.Down) == r.Managers || r.Empty != ""
	switch {
	case gone && r.Said.Text != "" && r.Fresh:
		reportControlPlane(p, held, r, report.Certain)
	case gone:
		reportControlPlane(p, held, r, report.Likely)
	case r.Lookup && r.Fresh:
		reportControlPlane(p, held, r, report.Certain)
	default:
		found := false
		for _, v := range held {
			if volumeOf(v) != nil && nodeManagerDown(p, v) {
				found = true
			}
		}
		if !found && r.Fresh && len(r.Down) < r.Managers {
			reportControlPlane(p, held, r, report.Likely)
		}
	}
}

func managerReach(p *diagnosis.Pass, held []*snapshot.Volume) reach {
	ns := p.LonghornNamespace()
	r := reach{Addresses: -1}
	for _, pod := range p.Cluster.Pods {
		if pod.Namespace != ns || pod.Labels["app"] != "longhorn-manager" || !p.NodeReady(pod.Spec.NodeName).Ready {
			continue
		}
		r.Managers++
		if since, ok := notReadySince(pod); ok && (p.Age(since) > upgradeGrace || crashing(pod)) {
			r.Down = append(r.Down, pod)
		}
	}
	for _, e := range p.Cluster.Endpoints {
		if e.Namespace != ns || !slices.Contains(controlServices, e.Name) {
			continue
		}
		n := 0
		for _, s := range e.Subsets {
			n += len(s.Addresses)
		}
		if n == 0 && r.Empty == "" {
			r.Empty = e.Name
		}
		if e.Name == backendService {
			r.Addresses = n
		}
	}
	r.listen(p, held, ns)
	return r
}

// notReadySince tells since when a pod has not been Ready.
func notReadySince(pod *corev1.Pod) (time.Time, bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time, c.Status != corev1.ConditionTrue
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if !c.Ready {
			return pod.CreationTimestamp.Time, true
		}
	}
	return time.Time{}, false
}

// crashing tells whether a container of the pod ends again and again: each start makes
// its condition Ready a young one.
func crashing(pod *corev1.Pod) bool {
	for _, c := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if c.RestartCount >= 3 && !c.Ready && (c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff" || c.State.Terminated != nil) {
			return true
		}
	}
	return false
}

// listen looks for a word of somebody who could not reach the managers: what was said
// of the volumes, and the newest line of Longhorn's own pods that are not Ready.
func (r *reach) listen(p *diagnosis.Pass, held []*snapshot.Volume, ns string) {
	for _, v := range held {
		for _, t := range p.Texts(v) {
			r.hear(t.Evidence(), t.Raw, t.Fresh)
		}
	}
	for _, log := range p.Logs {
		pod := p.Pod(log.Namespace, log.Pod)
		if log.Namespace != ns || pod == nil {
			continue
		}
		if _, sick := notReadySince(pod); !sick {
			continue
		}
		for i := len(log.Lines) - 1; i >= 0; i-- {
			line := log.Lines[i]
			if !unreachableForm.MatchString(line) || !strings.Contains(line, "level=fatal") && !strings.Contains(line, "level=error") && !lookupForm.MatchString(line) {
				continue
			}
			var at time.Time
			if m := logTime.FindStringSubmatch(line); m != nil {
				at, _ = time.Parse(time.RFC3339, m[1]) // an undated line is not fresh
			}
			r.hear(report.Evidence{Source: "log", Locator: "logs/" + log.Namespace + "/" + log.Pod + "/" + log.Container, Text: line},
				line, !at.IsZero() && p.Age(at) < freshFor)
			break
		}
	}
}

func (r *reach) hear(ev report.Evidence, text string, fresh bool) {
	if strings.Contains(text, "statusCode [") || strings.Contains(text, "awaiting headers") {
		return // a manager took the call
	}
	if !unreachableForm.MatchString(text) && !lookupForm.MatchString(text) || r.Said.Text != "" && (r.Fresh || !fresh) {
		return
	}
	r.Said, r.Fresh, r.Lookup = ev, fresh, lookupForm.MatchString(text)
}

func reportControlPlane(p *diagnosis.Pass, held []*snapshot.Volume, r reach, c report.Certainty) {
	ns := p.LonghornNamespace()
	subject := diagnosis.ObjectSubject("Service", ns, backendService)
	if len(r.Down) > 0 && len(r.Down) == r.Managers {
		subject = diagnosis.PodSubject(r.Down[0])
	}
	f := p.Find(c, subject)
	for _, v := range held {
		f.On(v)
	}
	f.Fact(r.Said)
	for _, pod := range r.Down {
		f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "status.conditions[Ready]", "not True: "+waitingReason(pod)))
	}
	if r.Addresses >= 0 {
		f.Fact(diagnosis.FromAPI("Endpoints "+ns+"/"+backendService, "subsets[].addresses", fmt.Sprint(r.Addresses)))
	}
	f.Sayf("Longhorn's control plane cannot be reached through service %s/%s: %s. Without it no volume is attached, detached or created; Longhorn's CSI plugin and sidecars end for the same reason.", ns, backendService, r.why(p, f))
	if c == report.Likely {
		switch {
		case r.Said.Text == "" || !r.Fresh:
			f.Missing("a fresh failure of somebody who called the managers")
		case r.Empty == "" && len(r.Down) < r.Managers:
			f.Missing("why the call fails although the managers are Ready")
		}
	}
	f.Unless("Ready managers behind " + backendService + " and a call to it that is answered")
	f.Advise(remedy.Words("Read the last log of the longhorn-manager pods, and of the cluster's DNS pods when a name is not resolved (CoreDNS: its upstream resolv.conf, a forwarding loop); " +
		"look at firewall rules between nodes and pods for the webhook. Leave webhook configurations and custom resource definitions alone."))
	f.Advise(remedy.Words("Verify: " + backendService + " has endpoints, the longhorn-csi-plugin pods become Ready, and CSINode lists driver.longhorn.io again."))
	p.Report(f)
}

// why says what of the way to the managers is broken.
func (r reach) why(p *diagnosis.Pass, f *diagnosis.Finding) string {
	switch {
	case r.Managers > 0 && len(r.Down) == r.Managers:
		return fmt.Sprintf("none of its %d longhorn-manager pods on Ready nodes is Ready", r.Managers)
	case r.Empty == backendService:
		return "the service has no endpoints"
	case r.Empty != "":
		return "service " + r.Empty + ", which every write of a Longhorn object passes, has no endpoints"
	case !r.Lookup:
		return fmt.Sprintf("%d of %d longhorn-manager pods are Ready and the services have endpoints, but a call to them failed just now. What lies between (a firewall, a hairpin route, the network of the API server) was not seen", r.Managers-len(r.Down), r.Managers)
	}
	s := fmt.Sprintf("%d of %d longhorn-manager pods are Ready, but the name of the service is not resolved (DNS lookup fails)", r.Managers-len(r.Down), r.Managers)
	for _, pod := range p.Cluster.Pods {
		if pod.Labels["k8s-app"] != "kube-dns" && !strings.HasPrefix(pod.Name, "coredns") {
			continue
		}
		if _, sick := notReadySince(pod); sick {
			s += fmt.Sprintf("; DNS pod %s/%s (CoreDNS or the like) is not Ready: %s", pod.Namespace, pod.Name, waitingReason(pod))
			f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "status", waitingReason(pod)))
			break
		}
	}
	return s
}

// waitingReason is the first reason for which a container of the pod does not run.
func waitingReason(pod *corev1.Pod) string {
	for _, c := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			return fmt.Sprintf("container %s is waiting (%s), %d restarts", c.Name, c.State.Waiting.Reason, c.RestartCount)
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			return fmt.Sprintf("container %s ended with exit code %d", c.Name, c.State.Terminated.ExitCode)
		}
	}
	return "phase " + string(pod.Status.Phase)
}
