package nfs

import (
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// unresolved is the name in the words of mount.nfs (utils/mount/network.c) and of mount.efs.
var unresolved = pattern.MustCompile(`(?i)failed to resolve (?:server )?"?([A-Za-z0-9._-]+)`)

// Name is the name of a server that a pod on the place's node waits for.
type Name struct {
	Host    string
	Given   string // by the volume; empty: its driver makes the name
	Pod     string // "ns/name", that waits
	Service reach.Service
	Inside  bool        // only the cluster's DNS answers it
	Plugin  *corev1.Pod // that mounts with a resolver of its own; nil: the host's
	Answer  string      // of the host's resolver; empty: nobody asked it
	Named   evidence.Answer
	Said    evidence.Answer // a fresh mount could not resolve it
	Unknown evidence.Answer // the host's resolver has no address for it now
}

// ServerName finds it; ok is false where nobody waits, or the server is an address.
func ServerName(pl *evidence.Place) (n Name, ok bool) {
	var w *snapshot.Consumer
	for _, c := range pl.Volume.WaitingOn(pl.Node) {
		if !pl.Published(c) {
			w = c
			break
		}
	}
	if w == nil {
		return n, false
	}
	server, _ := pl.Volume.NFSServer()
	n = Name{Pod: w.Pod.Namespace + "/" + w.Pod.Name, Said: evidence.No(), Plugin: ownResolver(pl)}
	for _, t := range pl.Texts {
		if !t.Fresh || !t.Is(message.NFSResolve) || t.Pod != "" && t.Pod != n.Pod || t.Pod == "" && t.Node != pl.Node && t.OnNode != pl.Node {
			continue
		}
		if m := unresolved.FindStringSubmatch(t.Raw); m != nil && (server == "" || sameHost(m[1], server)) {
			n.Said, n.Host = evidence.Yes(t.Evidence()), strings.TrimRight(m[1], ".")
			break
		}
	}
	if n.Given = givenName(pl); n.Host == "" {
		n.Host = n.Given
	}
	n.Service = reach.ServiceOf(pl.X, n.Host)
	n.Inside = n.Service.Service != nil || strings.HasSuffix(n.Host, ".svc") || strings.Contains(n.Host, ".svc.") || strings.HasSuffix(n.Host, ".cluster.local")
	n.Named = evidence.Yes(evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), field(pl.Volume), n.Host))
	if n.Given == "" { // the driver makes the name of the id
		n.Named = evidence.Yes(evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec.csi.volumeHandle", pl.Volume.Handle))
	}
	n.look(pl)
	return n, n.Host != ""
}

// givenName is the name that the volume gives its server; nothing when it is an address.
func givenName(pl *evidence.Place) string {
	server, _ := pl.Volume.NFSServer()
	if server == "" {
		server, _ = MountedServer(pl.X, pl.Volume)
	}
	server = strings.TrimRight(server, ".")
	if _, err := netip.ParseAddr(server); err == nil {
		return ""
	}
	return server
}

// look reads what the host's resolver answered, and whom it asks. What is neither an
// address nor NXDOMAIN is a resolver that did not answer.
func (n *Name) look(pl *evidence.Place) {
	n.Unknown = evidence.Unseen(append(pl.Probed().Lacks(), evidence.Lack{Need: "what the resolver of node " + pl.Node + " makes of the name now", Node: pl.Node, Why: "it was not asked"})...)
	if pl.View == nil || n.Host == "" {
		return
	}
	var conf report.Evidence
	if text := strings.TrimSpace(pl.View.Facts.Files["etc/resolv.conf"].Content); text != "" && strings.Count(text, "\n") <= 5 {
		conf = evidence.FromNode(pl.Node, "etc/resolv.conf", text)
	}
	for _, asked := range []string{n.Host, n.Host + "."} {
		if a, ok := pl.View.Facts.Resolves[asked]; ok && strings.TrimSpace(a) != "" {
			n.Answer = strings.TrimSpace(a)
			first, _, _ := strings.Cut(n.Answer, "\n")
			_, err := netip.ParseAddr(strings.TrimSpace(first))
			n.Unknown = evidence.When(err != nil, evidence.FromNode(pl.Node, "@resolve/"+asked, n.Answer), conf)
			return
		}
	}
}

// Judge says how it is known that the name has no address: what shows it, and what would
// prove it. What the node knows does not matter to a plugin with a resolver of its own.
func (n Name) Judge(pl *evidence.Place) (how string, is evidence.Answer, last []evidence.Answer) {
	missing := func(need, why string) []evidence.Answer {
		return []evidence.Answer{evidence.Unseen(evidence.Lack{Need: need, Node: pl.Node, Why: why})}
	}
	both := n.Unknown.With(n.Said.Facts()...)
	switch {
	case n.Plugin != nil:
		return "plugin", n.Said, missing("what the resolver of pod "+n.PluginName()+" makes of the name now", "it was not asked")
	case pl.Volume.CSIName() != "" && !pl.Volume.IsLonghorn() && pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node) == nil && n.Unknown.Yes():
		return "unknown", both, missing("the plugin that mounts there", "it was not found, and it may have a resolver of its own")
	case n.Denied():
		return "unknown", both, nil
	case n.Unknown.Yes() && !n.Said.Yes():
		return "silent", both, missing("a mount that failed for this reason just now", "nothing said so")
	case n.Unknown.Yes():
		return "silent", both, nil
	case n.Unknown.No():
		return "said", n.Unknown, nil // a short outage of the resolver is over
	case n.Said.Yes() && n.Inside:
		return "said", n.Said, nil
	case n.Said.Yes():
		return "said", n.Said, []evidence.Answer{n.Unknown}
	}
	return "said", evidence.All(evidence.When(n.Inside), mountFails(pl), n.Unknown), nil // the resolver would tell
}

// PluginName is the pod that mounts with a resolver of its own; empty: the host's is asked.
func (n Name) PluginName() string {
	if n.Plugin == nil {
		return ""
	}
	return n.Plugin.Namespace + "/" + n.Plugin.Name
}

// Denied tells whether the host's resolver knows that the name does not exist.
func (n Name) Denied() bool { return strings.HasPrefix(n.Answer, "NXDOMAIN") }

// ownResolver is the plugin pod that mounts with a resolver of its own: one that asks the
// cluster's DNS. Longhorn's plugin enters the host's namespaces, and an in-tree volume is
// mounted by the kubelet itself (dnsPolicy: pkg/kubelet/network/dns).
func ownResolver(pl *evidence.Place) *corev1.Pod {
	driver := pl.Volume.CSIName()
	if driver == "" || pl.Volume.IsLonghorn() {
		return nil
	}
	pod := pl.X.DriverPodOn(driver, pl.Node)
	if pod == nil {
		return nil
	}
	switch pod.Spec.DNSPolicy {
	case corev1.DNSClusterFirstWithHostNet, corev1.DNSNone:
		return pod
	case corev1.DNSDefault:
		return nil
	}
	if pod.Spec.HostNetwork {
		return nil
	}
	return pod
}

func field(v *snapshot.Volume) string {
	switch {
	case v.PV != nil && v.PV.Spec.NFS != nil:
		return "spec.nfs.server"
	case v.IsLonghorn():
		return "shareEndpoint of its Longhorn volume"
	}
	return "spec.csi.volumeAttributes"
}

// mountFails asks whether a mount of the volume on the place's node failed lately.
func mountFails(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return (strings.HasPrefix(t.Op, "MountVolume") || t.Is(message.NFSError))
	})
}
