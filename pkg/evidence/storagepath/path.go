// Package storagepath answers questions about the way from a node's own network to a pod
// of the cluster that serves storage.
package storagepath

import (
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Path is such a way.
type Path struct {
	pl       *evidence.Place
	Server   *corev1.Pod
	service  string // the address that the client uses when it is not the pod's
	Port     string
	pod, svc reach.Dial
	Policy   *Policy         // that keeps the node off; nil: none was seen
	Blocked  evidence.Answer // that nothing gets through
	Fails    evidence.Answer // that a connection fails, and is not only slow, or only said to
}

// Of lists the ways that the place's volume needs there, as far as they are blocked: to the
// instance manager of its engine (v1 engines log in to their own node's), and to the share.
func Of(pl *evidence.Place) []Path {
	var out []Path
	for _, p := range needed(pl) {
		if p.judge(); p.Blocked.Yes() {
			out = append(out, p)
		}
	}
	return out
}

func needed(pl *evidence.Place) []Path {
	var out []Path
	v, live := pl.Volume, len(pl.Volume.LiveConsumersOn(pl.Node)) > 0
	if e := pl.X.EngineActive(v); e != nil && v.IsLonghorn() && iscsi.Uses(pl.X, v, pl.Texts) && (live || iscsi.Wanted(pl).Yes()) {
		for _, im := range pl.X.InstanceManagersOn(pl.Node) {
			pod := pl.X.Pod(pl.X.LonghornNamespace(), im.Name)
			if pod != nil && (e.InstanceManager == im.Name || e.InstanceManager == "" && e.NodeID == pl.Node) {
				out = append(out, Path{pl: pl, Server: pod, Port: "3260"})
			}
		}
	}
	if !live {
		return out
	}
	if server := shareServer(pl); server != nil {
		out = append(out, Path{pl: pl, Server: server, service: address(pl, server), Port: v.NFSPort()})
	}
	if share, ok := smb.ShareOf(pl); ok && csi.InHostNetwork(pl).Yes() {
		svc := reach.ServiceOf(pl.X, share.Server)
		if server := behind(pl.X, svc, share.Server, share.Port); server != nil {
			p := Path{pl: pl, Server: server, service: share.Server, Port: share.Port}
			if svc.Service != nil && net.ParseIP(share.Server) == nil {
				p.service = svc.Spec.ClusterIP
			}
			out = append(out, p)
		}
	}
	return out
}

// address is where the clients look for the server. That of a Service which was deleted and
// made again leads to nobody (longhorn/longhorn#9022): its silence says nothing of the way to the pod.
func address(pl *evidence.Place, server *corev1.Pod) string {
	addr, mounted := nfs.MountedServer(pl.X, pl.Volume)
	if named, _ := pl.Volume.NFSServer(); mounted && addr != named && addr != pl.Volume.ShareAddress() && !reach.ServiceOf(pl.X, addr).Selects(server) {
		return ""
	}
	return addr
}

// shareServer is the pod that offers a volume over NFS: the share-manager, or what stands
// behind the Service that the PV names.
func shareServer(pl *evidence.Place) *corev1.Pod {
	if sm := pl.X.ShareManagerPod(pl.Volume); sm != nil {
		return sm
	}
	server, _ := nfs.MountedServer(pl.X, pl.Volume)
	named, _ := pl.Volume.NFSServer()
	if server == "" && named == "" {
		return nil
	}
	return behind(pl.X, reach.ServiceOf(pl.X, server, named), server, nfsPort)
}

const nfsPort = "2049"

// behind is the pod of a Service, or with an address, that serves a share: such a server has one active pod.
func behind(x *snapshot.Index, svc reach.Service, address, port string) *corev1.Pod {
	var first *corev1.Pod
	for _, pod := range x.Cluster.Pods {
		if pod.DeletionTimestamp != nil || !(svc.Selects(pod) || pod.Status.PodIP != "" && pod.Status.PodIP == address && offers(pod, port)) {
			continue
		}
		if snapshot.PodServes(pod) {
			return pod
		}
		if first == nil {
			first = pod
		}
	}
	return first
}

// offers tells whether a pod declares the port: the address of a server that died
// may be another pod's now.
func offers(pod *corev1.Pod, port string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(q corev1.ContainerPort) bool { return strconv.Itoa(int(q.ContainerPort)) == port })
	})
}

// judge asks whether the address that the client uses does not answer the node, and the
// pod behind it is Ready on a Ready node.
func (p *Path) judge() {
	x, ip := p.pl.X, p.Server.Status.PodIP
	if p.Blocked = evidence.No(); !snapshot.PodServes(p.Server) || ip == "" || !x.NodeReady(p.Server.Spec.NodeName).Ready || !x.NodeReady(p.pl.Node).Ready {
		return
	}
	p.pod = reach.Of(p.pl.View, p.Port, ip)
	if p.service != "" && p.service != ip {
		p.svc = reach.Of(p.pl.View, p.Port, p.service)
	}
	key := ip + ":" + p.Port
	if !p.pod.Answered() && (p.pod.Asked() || !p.elsewhere(key)) { // else a policy keeps no node off
		p.Policy = policyAgainst(x, p.Server, p.pl.Node, p.Port)
	}
	used := p.pod
	if p.svc.Asked() {
		used, key = p.svc, p.service+":"+p.Port
	}
	facts := evidence.Yes(p.svc.Evidence(p.pl.Node), p.pod.Evidence(p.pl.Node))
	if p.Policy != nil {
		facts = facts.With(evidence.FromAPI("NetworkPolicy "+p.Policy.Namespace+"/"+p.Policy.Name, "spec", p.Policy.spec))
	}
	p.Fails = evidence.Yes()
	switch {
	case used.Failed() && used.Answer() == "ECONNREFUSED" && !p.pod.Answered():
		// Nobody listens before the server is started: a refusal is a word of the
		// network only when the same address answers somebody else.
		if p.elsewhere(key) {
			p.Blocked = facts
		}
	case used.Failed():
		p.Blocked = facts
	case used.Slow():
		p.Blocked = facts
		p.Fails = evidence.Unseen(evidence.Lack{Need: "a connection that fails, not only one that is slow", Node: p.pl.Node, Why: "it answers in the end"})
	case !used.Asked():
		if said := p.said(); said.Yes() && p.Policy != nil {
			p.Blocked = facts.With(said.Facts()...)
		}
		p.Fails = evidence.Unseen(append(p.pl.Probed().Lacks(), evidence.Lack{Need: "node/" + p.pl.Node + "/reach", Node: p.pl.Node, Why: "a connection to " + ip + ":" + p.Port + " was not tried"})...)
	}
}

// said asks whether the client says freshly that the server's address does not answer, or
// its attach or mount fails.
func (p *Path) said() evidence.Answer {
	if p.Port == "3260" {
		if _, said := iscsi.Unreached(p.pl); said.Yes() {
			return said
		}
	}
	if said := p.pl.Refused().Say(func(t evidence.Text) bool {
		return p.Port != "3260" && (t.Node == p.pl.Node || t.OnNode == p.pl.Node) && (t.Is(message.NFSTimeout) || t.Is(message.NFSNoRoute))
	}); said.Yes() {
		return said
	}
	if p.Policy == nil || !p.bites() {
		return evidence.No()
	}
	return p.pl.Refused().Say(func(t evidence.Text) bool {
		return !t.Ordinary && (strings.HasPrefix(t.Op, "AttachVolume") || t.Mounts() || strings.Contains(t.Locator, "attachError"))
	})
}

// bites tells whether another node was seen not to reach the port of a pod that the same
// policy selects: then any failure of an attach or a mount here is one of it.
func (p *Path) bites() bool {
	for _, pod := range p.pl.X.Cluster.Pods {
		if pod.Status.PodIP == "" || pod.Namespace != p.Policy.Namespace || !selects(p.Policy.pods, pod) {
			continue
		}
		for name, view := range p.pl.X.NodeViews {
			if name != p.pl.Node && reach.Of(view, p.Port, pod.Status.PodIP).Failed() {
				return true
			}
		}
	}
	return false
}

// elsewhere tells whether another node reaches the same address and port.
func (p *Path) elsewhere(key string) bool {
	for name, view := range p.pl.X.NodeViews {
		if name != p.pl.Node && strings.HasPrefix(view.Facts.Dials[key], "ok") {
			return true
		}
	}
	return false
}

// How says which branch of the case it is, and the answer that was got.
func (p *Path) How() (branch, answer string) {
	switch {
	case p.svc.Failed() && p.pod.Answered():
		return "service", p.service + " (" + p.svc.Answer() + ")"
	case p.svc.Failed():
		return "silent", "its service address " + p.service + " says " + p.svc.Answer()
	case p.pod.Failed():
		return "silent", p.pod.Answer()
	case p.svc.Slow():
		return "slow", p.svc.Answer()
	case p.pod.Slow():
		return "slow", p.pod.Answer()
	}
	return "silent", "no answer of node " + p.pl.Node + " was recorded, and its client says so"
}
