package transport

import (
	_ "embed"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_server_name_unresolvable.md
var nfsServerNameUnresolvableDoc string

// NFSServerNameUnresolvable finds NFS servers given by a name that the resolver of
// the mounting node does not know.
var NFSServerNameUnresolvable = &diagnosis.Rule{
	Name: "nfs-server-name-unresolvable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      nfsServerNameUnresolvableDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			done := map[string]bool{}
			for _, w := range v.Waiting() {
				if w.Node() != "" && !done[w.Node()] && !mountedFor(p, v, w) {
					done[w.Node()] = true
					nameUnresolvable(p, v, w)
				}
			}
		}
	},
}

// unresolved is the name in the words of mount.nfs (utils/mount/network.c).
var unresolved = regexp.MustCompile(`(?i)failed to resolve server ([A-Za-z0-9._-]+)`)

// unresolvedText is the newest fresh text of a node's mount that could not resolve
// its server.
func unresolvedText(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) (diagnosis.Text, string) {
	for _, t := range p.Texts(v) {
		pod := w.Pod.Namespace + "/" + w.Pod.Name
		if !t.Fresh || !t.Is(message.NFSResolve) || t.Pod != "" && t.Pod != pod || t.Pod == "" && t.Node != w.Node() && t.OnNode != w.Node() {
			continue
		}
		if m := unresolved.FindStringSubmatch(t.Raw); m != nil {
			return t, strings.TrimRight(m[1], ".")
		}
	}
	return diagnosis.Text{}, ""
}

// serverName is the name that the volume gives its server; nothing when it is an address.
func serverName(p *diagnosis.Pass, v *snapshot.Volume) string {
	server, _ := serverOf(v)
	if server == "" {
		server, _ = mountedServer(p, v)
	}
	server = strings.TrimRight(server, ".")
	if _, err := netip.ParseAddr(server); err == nil {
		return ""
	}
	return server
}

// lookup is what the host's resolver answered for a name.
type lookup struct{ name, answer string }

func lookupOf(view *snapshot.NodeView, name string) lookup {
	if view == nil || name == "" {
		return lookup{}
	}
	for _, n := range []string{name, name + "."} {
		if a, ok := view.Facts.Resolves[n]; ok {
			return lookup{n, strings.TrimSpace(a)}
		}
	}
	return lookup{}
}

func (l lookup) asked() bool { return l.answer != "" }

// succeeded tells whether the answer holds an address.
func (l lookup) succeeded() bool {
	first, _, _ := strings.Cut(l.answer, "\n")
	_, err := netip.ParseAddr(strings.TrimSpace(first))
	return err == nil
}

// denied tells whether the resolver knows that the name does not exist; what is
// neither an address nor this is a resolver that did not answer.
func (l lookup) denied() bool { return strings.HasPrefix(l.answer, "NXDOMAIN") }

// evidence is the answer, and whom the node's resolver asks.
func (l lookup) evidence(view *snapshot.NodeView, node string) []report.Evidence {
	var out []report.Evidence
	if l.asked() {
		out = append(out, diagnosis.FromNode(node, "@resolve/"+l.name, l.answer))
	}
	if text := resolvConf(view); text != "" {
		out = append(out, diagnosis.FromNode(node, "etc/resolv.conf", text))
	}
	return out
}

func nameUnresolvable(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	said, name := unresolvedText(p, v, w)
	if name == "" {
		name = serverName(p, v)
	}
	if name == "" {
		return
	}
	view := p.View(w.Node())
	found := lookupOf(view, name)
	svc, _ := serviceOf(p, name)
	inside := svc != nil || clusterName(name)
	elsewhere := resolvesInPod(p, v, w.Node())
	if said.Raw == "" && (!found.asked() || elsewhere != nil) {
		if inside && elsewhere == nil && p.Suffers(v, "mount-failed") {
			p.Probed(w.Node())
		}
		return
	}
	if found.succeeded() && elsewhere == nil {
		return // a short outage of the resolver is over
	}
	certainty := report.Likely
	switch {
	case elsewhere != nil:
	case found.denied(), found.asked() && said.Raw != "", inside && said.Raw != "":
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Located(w.Node())
	for _, c := range v.WaitingOn(w.Node()) {
		f.Pod(c.Pod)
	}
	f.Sayf("%s", unresolvedWords(v, w, name, found, said, inside, svc, elsewhere))
	f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PVName(), serverField(v), name))
	if said.Raw != "" {
		f.Fact(said.Evidence())
	}
	f.Fact(found.evidence(view, w.Node())...)
	switch {
	case elsewhere != nil:
		f.Missing("what the resolver of pod " + elsewhere.Namespace + "/" + elsewhere.Name + " makes of the name now")
	case !found.asked():
		f.NotConfirmed = append(f.NotConfirmed, "what the resolver of node "+w.Node()+" makes of the name now")
		p.Probed(w.Node())
	case certainty != report.Certain:
		f.NotConfirmed = append(f.NotConfirmed, "a mount that failed for this reason just now")
	}
	f.Unless("an address from the resolver of node " + w.Node() + "; what a lookup inside a pod answers does not count")
	f.Advise(nameServerAdvice(v, w.Node(), svc, inside)...)
	p.Report(f)
}

// clusterName tells whether a name has the form of a Service's name in the cluster's DNS.
func clusterName(name string) bool {
	return strings.HasSuffix(name, ".svc") || strings.Contains(name, ".svc.") || strings.HasSuffix(name, ".cluster.local")
}

// resolvesInPod is the plugin pod that mounts with a resolver of its own: one that asks
// the cluster's DNS. Longhorn's plugin enters the host's namespaces, and an in-tree
// volume is mounted by the kubelet itself (dnsPolicy: pkg/kubelet/network/dns).
func resolvesInPod(p *diagnosis.Pass, v *snapshot.Volume, node string) *corev1.Pod {
	driver := v.CSIName()
	if driver == "" || v.IsLonghorn() {
		return nil
	}
	pod := p.DriverPodOn(driver, node)
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

// resolvConf is the resolver's configuration where it is short enough to quote.
func resolvConf(view *snapshot.NodeView) string {
	if view == nil {
		return ""
	}
	text := strings.TrimSpace(view.Facts.Files["etc/resolv.conf"].Content)
	if strings.Count(text, "\n") > 5 {
		return ""
	}
	return text
}

func serverField(v *snapshot.Volume) string {
	switch {
	case v.PV != nil && v.PV.Spec.NFS != nil:
		return "spec.nfs.server"
	case v.IsLonghorn():
		return "shareEndpoint of its Longhorn volume"
	}
	return "spec.csi.volumeAttributes"
}

func unresolvedWords(v *snapshot.Volume, w *snapshot.Consumer, name string, found lookup, said diagnosis.Text, inside bool, svc *corev1.Service, plugin *corev1.Pod) string {
	who := "The resolver of node " + w.Node()
	if plugin != nil {
		who = "The resolver of the driver's pod " + plugin.Namespace + "/" + plugin.Name + " on node " + w.Node()
	}
	what := "could not resolve"
	switch {
	case found.denied() && plugin == nil:
		what = "does not know (NXDOMAIN)"
	case found.asked() && plugin == nil:
		what = "gives no answer (" + found.answer + ") for"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s the name %s, the NFS server of volume %s, so pod %s/%s waits.", who, what, name, volumeName(v), w.Pod.Namespace, w.Pod.Name)
	if said.Raw != "" {
		b.WriteString(" mount.nfs says so itself.")
	}
	if svc != nil {
		fmt.Fprintf(&b, " It is the name of Service %s/%s (clusterIP %s)", svc.Namespace, svc.Name, svc.Spec.ClusterIP)
	} else if inside {
		b.WriteString(" It has the form of a Service's name")
	}
	if inside && plugin == nil {
		b.WriteString(": only the cluster's DNS answers it, and mounts are made with the host's resolver.")
	} else if inside {
		b.WriteString(".")
	}
	return b.String()
}

func nameServerAdvice(v *snapshot.Volume, node string, svc *corev1.Service, inside bool) []remedy.Step {
	var out []remedy.Step
	switch {
	case v.IsLonghorn():
		out = append(out, remedy.Words("Let the node's DNS forward the cluster domain to the cluster's DNS Service, or use Longhorn without the endpoint network that makes it give names instead of addresses."))
	case svc != nil && !slices.Contains([]string{"", corev1.ClusterIPNone}, svc.Spec.ClusterIP):
		out = append(out, remedy.Words(fmt.Sprintf("Name the server by its address: clusterIP %s of Service %s/%s (it keeps it as long as the Service lives). The source of a PersistentVolume cannot be changed: make a new one with the same path, reclaim policy Retain, for the claim.", svc.Spec.ClusterIP, svc.Namespace, svc.Name)))
	default:
		out = append(out, remedy.Words("Name the server by an address, or by a name that the nodes' resolver knows. The source of a PersistentVolume cannot be changed: make a new one with the same path, reclaim policy Retain, for the claim."))
	}
	if inside {
		return append(out, remedy.Words("Or let the DNS of every node forward the cluster domain to the cluster's DNS Service, with another server behind it: the kubelet must start without the cluster's DNS."))
	}
	return append(out, remedy.Words("Or repair /etc/resolv.conf and /etc/hosts of node "+node+"; the kubelet mounts at its next attempt."))
}
