package transport

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_server_unreachable.md
var nfsServerUnreachableDoc string

// NFSServerUnreachable finds mounts whose NFS server does not answer.
var NFSServerUnreachable = &diagnosis.Rule{
	Name: "nfs-server-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("reach")},
	Explains: []string{"volume-hung", "mount-failed", "unmount-blocked", "pod-stuck-terminating", "pod-waiting-for-volume", "detach-stuck", "volume-io-error"},
	YieldsTo: []string{"longhorn-share-manager-down", "longhorn-share-manager-misplaced", "network-host-to-pod-blocked"},
	Offers:   []string{"unmount-lazy"},
	Doc:      nfsServerUnreachableDoc,
	Run: func(p *diagnosis.Pass) {
		var found []*silentNode
		for _, node := range nodesOfNFS(p) {
			view := p.View(node)
			if view == nil {
				if expectsNFS(p, node) {
					p.Probed(node)
				}
				continue
			}
			if s := silentOn(p, view); s != nil {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			reportSilent(p, found)
			return
		}
		for _, v := range p.Volumes() {
			if !mountFails(p, v) && !serverWithoutEndpoints(p, v) {
				silentByText(p, v)
			}
		}
	},
}

// silentNode is a node with mounts of servers that do not answer.
type silentNode struct {
	view    *snapshot.NodeView
	servers []silentServer
	tasks   []task
	blocked bool // the kubelet itself hangs: everything on the node waits
}

// silentServer is one of them.
type silentServer struct {
	mounts []nfsMount
	dial   dial
	kernel string // the kernel's last complaint
	line   string
	waits  bool // a task waits for an answer of the network, and the mount does not answer
}

// nodesOfNFS are the question's nodes, those of waiting and ending pods first.
func nodesOfNFS(p *diagnosis.Pass) []string {
	var first, rest []string
	for _, n := range p.Nodes() {
		if troubled(p, n) {
			first = append(first, n)
		} else {
			rest = append(rest, n)
		}
	}
	return append(first, rest...)
}

func troubled(p *diagnosis.Pass, node string) bool {
	for _, v := range p.VolumesAt(node) {
		for _, c := range v.LiveConsumersOn(node) {
			if c.Waiting() || c.Terminating() {
				return true
			}
		}
	}
	return false
}

// expectsNFS tells whether a pod on the node has trouble with a volume over NFS.
func expectsNFS(p *diagnosis.Pass, node string) bool {
	for _, v := range p.VolumesAt(node) {
		if server, _ := serverOf(v); server != "" || v.RegularRWX() {
			for _, c := range v.LiveConsumersOn(node) {
				if c.Waiting() || c.Terminating() || p.Suffers(v, "volume-hung", "volume-io-error") {
					return true
				}
			}
		}
	}
	return false
}

// silentOn collects the servers of a node that do not answer, and that concern the
// question: a volume of it is mounted from there, or the kubelet hangs on one.
func silentOn(p *diagnosis.Pass, view *snapshot.NodeView) *silentNode {
	s := &silentNode{view: view, tasks: nfsTasks(view)}
	for _, t := range s.tasks {
		s.blocked = s.blocked || t.kubelet
	}
	byServer := map[string]int{}
	mine := false
	for _, m := range nfsMounts(p, view) {
		x := silence(view, m, s.tasks)
		if x == nil {
			continue
		}
		mine = mine || m.volume != nil && p.InScope(m.volume)
		if i, ok := byServer[m.addr+" "+m.port]; ok {
			s.servers[i].mounts = append(s.servers[i].mounts, m)
			continue
		}
		byServer[m.addr+" "+m.port] = len(s.servers)
		s.servers = append(s.servers, *x)
	}
	if len(s.servers) == 0 || !mine && !s.blocked && !p.Sweep() {
		return nil
	}
	return s
}

// silence judges the server of one mount: a failed dial is proof, a complaint of
// the kernel without a later "OK" or a task that waits for the network is a strong
// hint, an answer refutes all.
func silence(view *snapshot.NodeView, m nfsMount, tasks []task) *silentServer {
	s := &silentServer{mounts: []nfsMount{m}, dial: dialOf(view, m.port, m.addr, m.server)}
	s.kernel, s.line = complaint(view, m)
	st, asked := view.Statfs(m.Point)
	switch {
	case s.dial.failed():
		return s
	case s.dial.answered(), asked && st.Err == "":
		return nil
	}
	// Without a dial: a mount that does not answer, and a task that waits for the
	// network and not for the state of an open file.
	s.waits = asked && st.Err == "hang" && slices.ContainsFunc(tasks, func(t task) bool { return strings.HasPrefix(t.where, "rpc_wait_bit") })
	if s.kernel == "" && !s.waits {
		return nil
	}
	return s
}

// proven tells whether the failed dial stands alone. A UDP mount says nothing about a
// TCP port (nfs(5), proto=), and a statfs that returned was answered by the server.
func (s silentServer) proven(view *snapshot.NodeView) bool {
	for _, m := range s.mounts {
		if st, ok := view.Statfs(m.Point); ok && st.Err == "" && m.Point != "" {
			return false
		}
	}
	return s.dial.failed() && !strings.HasPrefix(s.mounts[0].SuperValue("proto"), "udp")
}

func reportSilent(p *diagnosis.Pass, found []*silentNode) {
	first := found[0]
	if p.Sweep() {
		for _, s := range found {
			p.Report(s.finding(p))
		}
		return
	}
	f := first.finding(p)
	for _, s := range found[1:] {
		f.Located(s.view.Name)
		f.Also = append(f.Also, "also on node "+s.view.Name+": "+s.words())
		for _, x := range s.servers {
			f.Fact(x.dial.evidence(s.view.Name))
		}
	}
	p.Report(f)
}

// certainty is certain when one of the servers is proven to be silent.
func (s *silentNode) certainty() report.Certainty {
	for _, x := range s.servers {
		if x.proven(s.view) {
			return report.Certain
		}
	}
	return report.Likely
}

func (s *silentNode) finding(p *diagnosis.Pass) *diagnosis.Finding {
	node := s.view.Name
	f := p.Find(s.certainty(), diagnosis.NodeSubject(node)).Located(node)
	if s.blocked {
		f.Node(node) // whatever waits for this kubelet waits for the server
	}
	text := s.words()
	for _, x := range s.servers {
		m := x.mounts[0]
		if nfs.Local(m.addr) { // each mount has a tunnel of its own: no server that others share
			fw := nfs.ForwarderOf(p.Index, node, m.volume)
			text += fw.Words(p.Index)
			f.Fact(fw.Facts...)
			f.Pod(fw.Plugin)
		} else {
			f.Object("server", m.addr)
			text += serviceWords(serviceOf(p, m.addr, m.server))
		}
		for _, m := range x.mounts {
			s.about(f, m)
			f.Fact(diagnosis.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Line), m.Raw))
			if st, ok := s.view.Statfs(m.Point); ok && st.Err != "" {
				f.Fact(diagnosis.FromNode(node, "@statfs"+m.Point, st.Err))
			}
		}
		if x.dial.asked() {
			f.Fact(x.dial.evidence(node))
		} else {
			f.Missing("an answer of TCP port " + m.port + " of " + m.addr + " on node " + node)
		}
		if x.kernel != "" {
			f.Fact(diagnosis.FromNode(node, x.line, x.kernel))
		}
		if x.dial.failed() && !x.proven(s.view) {
			f.Missing("why a request of " + m.addr + " was answered although its port is silent")
		}
	}
	if len(s.tasks) > 0 {
		text += "Hanging in the kernel: " + taskWords(p, s.view, s.tasks) + ". "
	}
	if s.blocked {
		text += "The kubelet itself hangs on it: pods of this node that use no NFS wait, too. "
	}
	for _, t := range s.tasks {
		f.Fact(t.evidence(node))
	}
	f.Sayf("%s", strings.TrimSpace(text))
	f.Unless("an answer of the server's port on this node; then the server or its state is at fault (nfs-state-hang, nfs-handle-stale)")
	s.advise(p, f)
	return f
}

// about ties the finding to what uses the mount on the node.
func (s *silentNode) about(f *diagnosis.Finding, m nfsMount) {
	f.Volume(m.volume)
	if m.volume == nil {
		return
	}
	for _, c := range m.volume.LiveConsumersOn(s.view.Name) {
		f.Pod(c.Pod)
	}
}

// words says what is mounted and what the server's port said.
func (s *silentNode) words() string {
	var b strings.Builder
	for _, x := range s.servers {
		m := x.mounts[0]
		how := "hard, so every access waits for ever"
		if !m.hard() {
			how = "soft, so an access waits for minutes and then fails with EIO"
		}
		fmt.Fprintf(&b, "Node %s has %s mounted at %s (%s). ", s.view.Name, m.Source, m.Point, how)
		if len(x.mounts) > 1 {
			fmt.Fprintf(&b, "There are %d mounts of this server. ", len(x.mounts))
		}
		switch {
		case x.dial.failed():
			fmt.Fprintf(&b, "TCP port %s of its server %s does not answer the node: %s. ", m.port, m.addr, x.dial.answer)
		case x.kernel == "":
			fmt.Fprintf(&b, "The mount does not answer, and a task waits for the network below it; whether server %s answers on TCP port %s was not seen. ", m.addr, m.port)
		default:
			fmt.Fprintf(&b, "The kernel complains of its server %s: %q, and no OK follows. ", m.addr, x.kernel)
		}
	}
	return b.String()
}
