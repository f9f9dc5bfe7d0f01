package transport

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// complaint is the kernel's last "not responding" about a server that no "OK"
// follows (call_timeout in net/sunrpc/clnt.c), and where it stands.
func complaint(view *snapshot.NodeView, m nfsMount) (text, locator string) {
	for _, l := range view.KernelLines(kmsg.NFSNotResponding, kmsg.NFSOK) {
		if l.Server != m.server && l.Server != m.addr {
			continue
		}
		if l.Kind == kmsg.NFSOK {
			text, locator = "", ""
			continue
		}
		text, locator = l.Text, fmt.Sprintf("@kmsg:%d", l.Sequence)
		if !l.At.IsZero() {
			locator += " " + l.At.UTC().Format(time.RFC3339)
		}
	}
	return text, locator
}

// advise says how to get the server back, and what is left when it never comes
// back. Whether it is gone for good is no fact of a snapshot, so that part stays words.
func (s *silentNode) advise(p *diagnosis.Pass, f *diagnosis.Finding) {
	m := s.servers[0].mounts[0]
	switch {
	case nfs.Local(m.addr):
		s.adviseForwarder(p, f)
		return
	case m.volume != nil && m.volume.IsLonghorn():
		f.Advise(remedy.Words("Bring the server back: Longhorn starts the share-manager of the volume when a pod wants the volume or it is attached in Longhorn's UI. The clients then go on by themselves."))
	default:
		f.Advise(remedy.Words(fmt.Sprintf("Bring the server %s back, or its network. The clients then go on by themselves.", m.addr)))
	}
	gone := fmt.Sprintf("Only when server %s is gone for good: unmount exactly %s on node %s, by force first and lazily if that does not return", m.addr, m.Point, s.view.Name)
	for _, x := range s.servers[0].mounts[1:] {
		gone += ", likewise " + x.Point
	}
	gone += "; what was not written yet is lost."
	if s.blocked {
		gone += " Restart the kubelet afterwards if it still hangs."
	}
	f.Advise(remedy.Words(gone), remedy.Words("Delete the clients of a share before its server, else this comes back. Deleting only the API object of a pod leaves the mount where it is."))
}

// adviseForwarder: a tunnel of a plugin comes back with the plugin, from the state files
// below run/efs, or never for mounts that were made through the pod before.
func (s *silentNode) adviseForwarder(p *diagnosis.Pass, f *diagnosis.Finding) {
	m := s.servers[0].mounts[0]
	if fw := nfs.ForwarderOf(p.Index, s.view.Name, m.volume); fw.Plugin != nil {
		ns, name := fw.Plugin.Namespace, fw.Plugin.Name
		f.Advise(remedy.Check("See whether the plugin runs, and what it says of its tunnels.", remedy.Kubectl("-n", ns, "get", "pod", name, "-o", "wide"), remedy.Kubectl("-n", ns, "logs", name, "--all-containers", "--tail=100")))
	}
	f.Advise(
		remedy.Words("Its watchdog starts the tunnels again from their state files after the plugin has started: give it a few minutes. If the port stays closed, the mounts that were made through the plugin's former pod cannot be revived: delete the client pods on node "+s.view.Name+", so that they mount anew; where they cannot end, drain the node and reboot it."),
		remedy.Words("Upgrade a driver that loses its tunnels when its plugin restarts, and drain a node before that."),
	)
}

// serverOf is the NFS server and path that a PV names: in-tree, or in the
// attributes of an NFS driver.
func serverOf(v *snapshot.Volume) (server, path string) {
	if v.PV == nil {
		return "", ""
	}
	if n := v.PV.Spec.NFS; n != nil {
		return n.Server, n.Path
	}
	if v.PV.Spec.CSI == nil || v.IsLonghorn() {
		return "", ""
	}
	share := v.Attribute("share")
	if share == "" {
		share = v.Attribute("path")
	}
	if s := v.Attribute("server"); s != "" && share != "" {
		return s, share
	}
	return "", ""
}

// serverWithoutEndpoints looks at the API alone: the PV's server is a Service that
// nobody stands behind, and a pod of the volume is in trouble.
func serverWithoutEndpoints(p *diagnosis.Pass, v *snapshot.Volume) bool {
	server, path := serverOf(v)
	svc, ready := serviceOf(p, server)
	if svc == nil || ready != 0 {
		return false
	}
	for _, c := range v.Live() {
		node := c.Node()
		if node == "" || !c.Waiting() && !c.Terminating() && !p.Suffers(v, "volume-hung", "volume-io-error") {
			continue
		}
		if view := p.View(node); view != nil && dialOf(view, "2049", server, svc.Spec.ClusterIP).answered() {
			continue
		}
		f := p.Find(report.Likely, diagnosis.NodeSubject(node)).On(v).Located(node)
		f.Pod(c.Pod)
		f.Object("server", server)
		f.Sayf("Volume %s is %s:%s. %sSo pod %s/%s on node %s gets no answer.", v.PVName(), server, path, serviceWords(svc, ready), c.Pod.Namespace, c.Pod.Name, node)
		f.Fact(diagnosis.FromAPI("Service "+svc.Namespace+"/"+svc.Name, "endpoints", "none ready"))
		f.Missing("an answer of port 2049 of " + server + " on node " + node)
		f.Unless("an answer of the server's port on node " + node)
		f.Advise(remedy.Words(fmt.Sprintf("Start the pods behind Service %s/%s again. The clients then go on by themselves.", svc.Namespace, svc.Name)))
		p.Report(f)
		return true
	}
	return false
}

// silentByText takes the words of mount.nfs on a node that was not probed. Of a
// server in the cluster they may be about the way to it as well. A volume whose handle is
// the file system (EFS) names no server: then what mount was called with counts.
func silentByText(p *diagnosis.Pass, v *snapshot.Volume) {
	if server, _ := serverOf(v); server == "" && volume.KindOf(p.Index, v) != volume.NFS {
		return
	}
	silent := func(t diagnosis.Text) bool {
		return t.Is(message.NFSTimeout) || t.Is(message.NFSRefused) || t.Is(message.NFSNoRoute)
	}
	for _, r := range refusals(p, v, silent) {
		if r.view != nil {
			continue
		}
		server, path := serverOf(v)
		if server == "" {
			server, path, _ = strings.Cut(v.Handle, ":")
			if host, rest, ok := strings.Cut(r.text.MountSource, ":"); ok {
				server, path = host, rest
			}
		}
		if server == "" || nfs.Local(server) {
			continue
		}
		svc, ready := serviceOf(p, server)
		f := p.Find(report.Likely, diagnosis.NodeSubject(r.node))
		r.tie(f)
		f.Object("server", server)
		f.Sayf("Node %s cannot mount %s:%s for pod %s: by the words of mount.nfs the server does not answer. %sWhether its port answers the node now was not seen.", r.node, server, path, r.pod(), serviceWords(svc, ready))
		p.Probed(r.node)
		f.Missing("an answer of TCP port " + nfsPort(v) + " of " + server + " on node " + r.node)
		f.Unless("an answer of the server's port on this node")
		f.Advise(remedy.Words(fmt.Sprintf("See whether the server %s runs and whether TCP port %s of it answers node %s; bring it or its network back. The kubelet mounts it at its next attempt.", server, nfsPort(v), r.node)))
		p.Report(f)
	}
}
