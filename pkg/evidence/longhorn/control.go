package longhorn

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Backend is the service through which Longhorn's managers are called.
const Backend = "longhorn-backend"

// control are the managers' services by port: the webhooks stand before every write of a
// Longhorn object.
var control = map[string]string{"9500": Backend, "9501": "longhorn-conversion-webhook", "9502": "longhorn-admission-webhook", "9503": "longhorn-recovery-backend"}

var (
	lookupForm      = pattern.MustCompile(`lookup longhorn-[a-z-]+\S*( on \S+)?: `)
	unreachableForm = pattern.MustCompile(`(dial tcp|Get|Post) ?[^\n]*longhorn-backend|failed calling webhook "[^"]*longhorn[^"]*"|no endpoints available for service "longhorn-|webhook service is not accessible|waiting for endpoint https://longhorn-`)
	serviceForm     = pattern.MustCompile(`longhorn-(?:backend|admission-webhook|conversion-webhook|recovery-backend)`)
)

// Held asks whether Longhorn has something to do for a volume: to provision, attach or
// release it.
func Held(pl *evidence.Place) bool {
	v := pl.Volume
	if !v.IsLonghorn() {
		pending := v.PV == nil && v.Class != nil && v.Class.Provisioner == snapshot.LonghornDriver
		return pending && v.Claim != nil && v.Claim.Status.Phase == corev1.ClaimPending
	}
	if len(v.Waiting())+len(v.Terminating()) > 0 || WantedFor(pl.X, v) > 0 {
		return true
	}
	return slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.DeletionTimestamp != nil })
}

// NoEndpoints finds the first of the managers' services without an address.
func NoEndpoints(x *snapshot.Index) (service string, a evidence.Answer) {
	ns := x.LonghornNamespace()
	for _, port := range []string{"9500", "9502", "9501"} {
		if n, known := x.ReadyEndpoints(ns, control[port]); known && n == 0 {
			return control[port], evidence.Yes(evidence.FromAPI("Endpoints "+ns+"/"+control[port], "subsets[].addresses", "none"))
		}
	}
	return "", evidence.No()
}

// Served asks whether somebody stands behind the managers' service: it has addresses, or, where its
// Endpoints were not read, a manager on a Ready node works.
func Served(x *snapshot.Index) evidence.Answer {
	ns := x.LonghornNamespace()
	if n, known := x.ReadyEndpoints(ns, Backend); known {
		return evidence.When(n > 0, evidence.FromAPI("Endpoints "+ns+"/"+Backend, "subsets[].addresses", fmt.Sprint(n)))
	}
	if pod := evidence.First(Managers(x), func(pod *corev1.Pod) bool { return works(x, pod) }); pod != nil {
		return evidence.Yes(evidence.FromPod(pod, "status.conditions[Ready]", "True"))
	}
	return evidence.Unseen(evidence.Lack{Need: "api/pods", Why: "a longhorn-manager that works"})
}

// Refused asks whether a node that dialled the managers was refused by each of them at a
// port: nobody listens there, although the service has addresses.
func Refused(x *snapshot.Index) (port string, a evidence.Answer) {
	managers := Managers(x)
	for _, node := range slices.Sorted(maps.Keys(x.NodeViews)) {
		view := x.View(node)
		for _, port := range []string{"9500", "9502", "9501", "9503"} {
			var facts []report.Evidence
			for _, pod := range managers {
				at := net.JoinHostPort(pod.Status.PodIP, port)
				if said := view.Facts.Dials[at]; said == "ECONNREFUSED" {
					facts = append(facts, evidence.FromNode(view.Name, "@dial/"+at, said))
				}
			}
			if len(facts) > 0 && len(facts) == len(managers) {
				return port, evidence.Yes(facts...)
			}
		}
	}
	return "", evidence.No()
}

// Complaint is a word of somebody who could not reach the managers.
type Complaint struct {
	Fact   report.Evidence
	Fresh  bool
	Lookup bool // it speaks of a name, not of the service
}

// Service is the service that a complaint names, or that of the managers.
func (c Complaint) Service() string { return ServiceIn(c.Fact.Text) }

// Untrusted tells whether the managers answered, and with a certificate that the caller does not trust
// (the errors of Go's crypto/x509).
func (c Complaint) Untrusted() bool { return strings.Contains(c.Fact.Text, "x509: ") }

// ServiceIn is the service of the managers that a text names, else the first of them.
func ServiceIn(text string) string {
	if s := serviceForm.FindString(text); s != "" {
		return s
	}
	return Backend
}

// Complains looks for what was said of the volume, and for the newest line of Longhorn's
// own pods that do not work.
func Complains(pl *evidence.Place) Complaint {
	var out Complaint
	for _, t := range pl.Texts {
		if !t.Ordinary && !t.OfContainer() {
			out.hear(t.Evidence(), t.Fresh)
		}
	}
	for _, log := range pl.X.Logs {
		pod := pl.X.Pod(log.Namespace, log.Pod)
		if log.Namespace != pl.X.LonghornNamespace() || pod == nil || works(pl.X, pod) {
			continue
		}
		for l := range evidence.Lines([]snapshot.Log{log}) {
			if unreachableForm.MatchString(l.Text) && evidence.ContainsAny(l.Text, "level=fatal", "level=error") || lookupForm.MatchString(l.Text) {
				out.hear(l.Evidence(), l.Within(pl.X, freshFor))
				break
			}
		}
	}
	return out
}

func (c *Complaint) hear(ev report.Evidence, fresh bool) {
	if strings.Contains(ev.Text, "statusCode [") && !strings.Contains(ev.Text, "failed calling webhook") || strings.Contains(ev.Text, "awaiting headers") {
		return // a manager took the call, and no webhook that it needs kept it from answering
	}
	if lookup := lookupForm.MatchString(ev.Text); (lookup || unreachableForm.MatchString(ev.Text)) && (c.Fact.Text == "" || !c.Fresh && fresh) {
		*c = Complaint{Fact: ev, Fresh: fresh, Lookup: lookup}
	}
}

// Answer is yes for a complaint of this moment.
func (c Complaint) Answer() evidence.Answer {
	if c.Fact.Text != "" && c.Fresh {
		return evidence.Yes(c.Fact)
	}
	return evidence.Unseen(evidence.Lack{Need: "api/events", Why: "a fresh failure of somebody who called the managers"}).With(c.Fact)
}

// SickDNS is a pod of the cluster's DNS that does not work, or nil.
func SickDNS(x *snapshot.Index) *corev1.Pod {
	for _, pod := range slices.Concat(x.PodsIn(metav1.NamespaceSystem), x.PodsIn("openshift-dns")) {
		if pod.Labels["k8s-app"] != "kube-dns" && pod.Labels["dns.operator.openshift.io/daemonset-dns"] == "" && !strings.HasPrefix(pod.Name, "coredns") {
			continue
		}
		if _, sick := notReadySince(pod); sick {
			return pod
		}
	}
	return nil
}

// ManagerDown asks whether Longhorn calls a node not ready because its manager there is
// down or missing, while the kubelet works.
func ManagerDown(x *snapshot.Index, node string) evidence.Answer {
	n := x.LHNode(node)
	switch {
	case !nodeWorks(x, node):
		return evidence.No() // a node that does not report is another fault
	case n == nil:
		return managerNever(x, node)
	}
	c, ok := n.Conditions.Get("Ready")
	if !ok || c.Status != "False" || c.Reason != "ManagerPodDown" && c.Reason != "ManagerPodMissing" {
		return evidence.No()
	}
	said := evidence.Yes(evidence.FromAPI("Node.longhorn.io "+node, "status.conditions[Ready]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
	pod := ManagerOn(x, node)
	if pod == nil {
		return evidence.All(said, evidence.ResourceIn(x, "/pods", n.Namespace).Nothing())
	}
	_, fails := Fails(x, pod)
	return evidence.All(said, fails)
}

// managerNever asks whether no manager has run on a node on which Longhorn's plugin runs: then
// Longhorn has no record of the node, and attaches nothing there (longhorn issue 3758).
func managerNever(x *snapshot.Index, node string) evidence.Answer {
	if x.Node(node) == nil || x.DriverPodOn(snapshot.LonghornDriver, node) == nil || ManagerOn(x, node) != nil {
		return evidence.No()
	}
	fact := evidence.FromAPI("Nodes.longhorn.io", "", "collected; none is named "+node)
	return Read(x, "nodes").And(evidence.ResourceIn(x, "/pods", x.LonghornNamespace())).Nothing(fact)
}

// RefusedAt asks for a fresh refusal to attach the volume to a node that Longhorn holds
// for not ready, or does not know.
func RefusedAt(pl *evidence.Place, node string) evidence.Answer {
	return evidence.Any(pl.Refused().Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "node "+node+" is not ready, couldn't attach volume") || strings.HasSuffix(t.Raw, "desc = node "+node+" not found")
	}), evidence.Unseen(evidence.Lack{Need: "api/storage.k8s.io/volumeattachments", Why: "a fresh refusal to attach the volume to node " + node}))
}
