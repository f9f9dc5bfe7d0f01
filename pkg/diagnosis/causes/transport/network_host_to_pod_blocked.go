package transport

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed network_host_to_pod_blocked.md
var networkHostToPodBlockedDoc string

// NetworkHostToPodBlocked finds nodes whose own network namespace cannot reach a pod
// that serves storage, although the pod is well.
var NetworkHostToPodBlocked = &diagnosis.Rule{
	Name: "network-host-to-pod-blocked", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"attach-failed", "volume-attach-loop", "mount-failed", "volume-hung", "volume-io-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"iscsi-session-lost", "nfs-server-unreachable", "longhorn-share-manager-down", "longhorn-control-plane-down"},
	Doc:      networkHostToPodBlockedDoc,
	Run: func(p *diagnosis.Pass) {
		var blocked []storagePath
		for _, s := range storagePaths(p) {
			if s.judge(p) {
				blocked = append(blocked, s)
			}
		}
		for _, s := range blocked {
			pathBlocked(p, s)
		}
	},
}

// storagePath is the way from a node's own network to a pod that serves storage.
type storagePath struct {
	node    string
	volumes []*snapshot.Volume
	server  *corev1.Pod
	service string // the address that the client uses when it is not the pod's
	port    string

	pod, svc dial
	said     report.Evidence
	policy   *blockingPolicy
}

// storagePaths lists the ways that volumes of the question need: to the instance
// manager of the engine (v1 engines log in to their own node's), and to the share.
func storagePaths(p *diagnosis.Pass) []storagePath {
	var out []storagePath
	for _, node := range p.Nodes() {
		for _, im := range p.InstanceManagersOn(node) {
			pod := p.Pod(p.LonghornNamespace(), im.Name)
			mine := enginesIn(p, node, im)
			if pod != nil && len(mine) > 0 {
				out = append(out, storagePath{node: node, volumes: mine, server: pod, port: "3260"})
			}
		}
	}
	for _, v := range p.Volumes() {
		for _, server := range shareServers(p, v) {
			service, _ := mountedServer(p, v)
			for _, node := range p.NodesOf(v) {
				if slices.Contains(p.Nodes(), node) && len(v.LiveConsumersOn(node)) > 0 {
					out = append(out, storagePath{node: node, volumes: []*snapshot.Volume{v}, server: server, service: service, port: nfsPort(v)})
				}
			}
		}
	}
	return out
}

// enginesIn are the volumes of the question whose v1 engine an instance manager runs,
// and whose disk a pod of the node waits for or uses.
func enginesIn(p *diagnosis.Pass, node string, im *snapshot.LHInstanceManager) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, v := range p.Volumes() {
		if !v.IsLonghorn() || !usesISCSI(p, v) || !wantedOn(p, v, node) && len(v.LiveConsumersOn(node)) == 0 {
			continue
		}
		e := p.EngineActive(v)
		if e != nil && (e.InstanceManager == im.Name || e.InstanceManager == "" && e.NodeID == node) {
			out = append(out, v)
		}
	}
	return out
}

// shareServers are the pods that offer a volume over NFS: the share-manager, or what
// stands behind the Service that the PV names.
func shareServers(p *diagnosis.Pass, v *snapshot.Volume) []*corev1.Pod {
	if sm := p.ShareManagerPod(v); sm != nil {
		return []*corev1.Pod{sm}
	}
	server, _ := mountedServer(p, v)
	named, _ := serverOf(v)
	if server == "" && named == "" {
		return nil
	}
	svc, _ := serviceOf(p, server, named)
	var first []*corev1.Pod
	for _, pod := range p.Cluster.Pods {
		if pod.DeletionTimestamp != nil || !(behind(svc, pod) || pod.Status.PodIP != "" && pod.Status.PodIP == server && offersNFS(pod)) {
			continue
		}
		if snapshot.PodServes(pod) {
			return []*corev1.Pod{pod} // an NFS server has one active pod
		}
		if first == nil {
			first = []*corev1.Pod{pod}
		}
	}
	return first
}

// offersNFS tells whether a pod declares the port: the address of a server that died
// may be another pod's now.
func offersNFS(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(q corev1.ContainerPort) bool { return q.ContainerPort == 2049 })
	})
}

// judge tells whether the way is blocked: the address that the client uses does not
// answer the node, and the pod behind it is Ready on a Ready node.
func (s *storagePath) judge(p *diagnosis.Pass) bool {
	if !snapshot.PodServes(s.server) || s.server.Status.PodIP == "" || !p.NodeReady(s.server.Spec.NodeName).Ready || !p.NodeReady(s.node).Ready {
		return false
	}
	s.policy = policyAgainst(p, s.server, s.node, s.port)
	if view := p.View(s.node); view != nil {
		s.pod = dialOf(view, s.port, s.server.Status.PodIP)
		if s.service != "" && s.service != s.server.Status.PodIP {
			s.svc = dialOf(view, s.port, s.service)
		}
	}
	if s.pod.answered() || !s.pod.asked() && s.answersElsewhere(p, s.server.Status.PodIP+":"+s.port) {
		s.policy = nil // it keeps no node off
	}
	used := s.pod
	if s.svc.asked() {
		used = s.svc
	}
	switch {
	case used.failed() && used.answer == "ECONNREFUSED" && !s.pod.answered():
		// Nobody listens before the server is started: a refusal is a word of the
		// network only when the same address answers somebody else.
		return s.answersElsewhere(p, used.key)
	case used.failed() || used.slow():
		return true
	case used.asked():
		return false
	}
	s.said = s.saidUnreached(p)
	return s.policy != nil && (s.said.Text != "" || p.Sweep() && p.Suffers(s.volumes[0], "attach-failed", "mount-failed"))
}

// saidUnreached is the fresh word of the client that the server's address does not answer.
func (s *storagePath) saidUnreached(p *diagnosis.Pass) report.Evidence {
	if s.port == "3260" {
		_, said := iscsi.Unreached(&evidence.Place{X: p.Index, Volume: s.volumes[0], Node: s.node, View: p.View(s.node), Texts: p.TextsOn(s.node)})
		for _, f := range said.Facts() {
			return f
		}
		return report.Evidence{}
	}
	for _, t := range p.Texts(s.volumes[0]) {
		if t.Fresh && (t.Node == s.node || t.OnNode == s.node) && (t.Is(message.NFSTimeout) || t.Is(message.NFSNoRoute)) {
			return t.Evidence()
		}
	}
	return report.Evidence{}
}

// answersElsewhere tells whether another node reaches the same address and port.
func (s *storagePath) answersElsewhere(p *diagnosis.Pass, key string) bool {
	return slices.ContainsFunc(viewNames(p), func(n string) bool {
		return n != s.node && strings.HasPrefix(p.View(n).Facts.Dials[key], "ok")
	})
}

func pathBlocked(p *diagnosis.Pass, s storagePath) {
	subject := diagnosis.NodeSubject(s.node)
	if s.policy != nil {
		subject = diagnosis.ObjectSubject("NetworkPolicy", s.policy.namespace, s.policy.name)
	}
	certainty := report.Certain
	if !s.pod.failed() && !s.svc.failed() {
		certainty = report.Likely
	}
	if !s.pod.asked() && !s.svc.asked() {
		p.Probed(s.node)
	}
	f := p.Find(certainty, subject).Located(s.node)
	for _, v := range s.volumes {
		f.Volume(v)
		for _, c := range v.LiveConsumersOn(s.node) {
			f.Pod(c.Pod)
		}
	}
	f.Pod(s.server)
	text := s.words()
	if s.policy != nil {
		text += s.policy.words(s.port)
		f.Fact(diagnosis.FromAPI("NetworkPolicy "+s.policy.namespace+"/"+s.policy.name, "spec", s.policy.spec))
	} else {
		text += "Connections that were open before may go on. Why the network drops it (a policy of the CNI, a firewall, address translation) was not seen."
	}
	f.Sayf("%s", text)
	for _, d := range []dial{s.svc, s.pod} {
		if d.asked() {
			f.Fact(d.evidence(s.node))
		}
	}
	f.Fact(s.said)
	switch {
	case !s.pod.asked() && !s.svc.asked():
		f.Missing("a connection from node " + s.node + " to " + s.server.Status.PodIP + ":" + s.port)
	case certainty != report.Certain:
		f.Missing("a connection that fails, not only one that is slow")
	}
	f.Unless("an answer of this address and port to the node itself; a connection from a pod proves nothing")
	f.Advise(s.remedies()...)
	p.Report(f)
}

// words say which address does not answer the node, and how.
func (s *storagePath) words() string {
	server := fmt.Sprintf("pod %s/%s (%s)", s.server.Namespace, s.server.Name, s.server.Status.PodIP)
	text := fmt.Sprintf("The host network of node %s does not reach TCP port %s of %s, although the pod is Ready: ", s.node, s.port, server)
	switch {
	case s.svc.failed() && s.pod.answered():
		text = fmt.Sprintf("The host network of node %s does not reach TCP port %s of the service address %s (%s), while %s behind it answers: the node's service rules (kube-proxy or the CNI) or its address translation lose the connection. ", s.node, s.port, s.service, s.svc.answer, server)
	case s.svc.failed():
		text += fmt.Sprintf("its service address %s says %s. ", s.service, s.svc.answer)
	case s.pod.failed():
		text += s.pod.answer + ". "
	case s.svc.slow(), s.pod.slow():
		text = fmt.Sprintf("The host network of node %s reaches TCP port %s of %s only after seconds (%s), longer than a login or a mount waits: packets on the way are lost. ", s.node, s.port, server, orDefault(s.svc.answer, s.pod.answer))
	default:
		text += "no answer of node " + s.node + " was recorded, and the attach fails. "
	}
	return text
}

func (s storagePath) remedies() []remedy.Step {
	if s.policy != nil {
		return []remedy.Step{remedy.Words(fmt.Sprintf("Let NetworkPolicy %s/%s admit TCP port %s from the addresses of the nodes (ipBlock), and from nothing else: the port gives raw access to volumes. The next attempt succeeds by itself.", s.policy.namespace, s.policy.name, s.port))}
	}
	if s.svc.failed() && s.pod.answered() {
		return []remedy.Step{remedy.Words("Look at the service rules of node " + s.node + " (kube-proxy, CNI). With flannel's VXLAN test switching the checksum offload of flannel.1 off (ethtool -K flannel.1 tx-checksum-ip-generic off, until the next boot), and update it.")}
	}
	return []remedy.Step{remedy.Words("Look for what drops connections from the host of node " + s.node + " to pods on port " + s.port + ": policies of the CNI, the host's firewall, the CNI's update. Open the port for the nodes only.")}
}
