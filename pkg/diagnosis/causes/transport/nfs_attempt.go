package transport

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mountFails reports a server that does not answer the node of a waiting pod, where
// nothing is mounted yet: the mount itself waits or fails.
func mountFails(p *diagnosis.Pass, v *snapshot.Volume) bool {
	server, _ := mountedServer(p, v)
	named, _ := serverOf(v)
	if server == "" {
		return false
	}
	found := false
	for _, w := range v.Waiting() {
		view := p.View(w.Node())
		if view == nil {
			continue
		}
		svc, ready := serviceOf(p, server, named)
		hosts := []string{server, named}
		if svc != nil {
			hosts = append(hosts, svc.Spec.ClusterIP)
		}
		d := dialOf(view, nfsPort(v), hosts...)
		if !d.failed() {
			continue
		}
		found = true
		tried, evidence := attempt(p, v, view, hosts)
		certainty := report.Likely
		if tried {
			certainty = report.Certain
		}
		f := p.Find(certainty, diagnosis.NodeSubject(view.Name)).On(v).Located(view.Name)
		f.Pod(w.Pod)
		f.Object("server", server)
		f.Sayf("Pod %s/%s waits on node %s for volume %s of NFS server %s, and TCP port %s of the server does not answer the node: %s. %sThe mount cannot succeed before it does.",
			w.Pod.Namespace, w.Pod.Name, view.Name, volumeName(v), server, nfsPort(v), d.answer, serviceWords(svc, ready))
		f.Fact(d.evidence(view.Name))
		f.Fact(evidence...)
		if !tried {
			f.Missing("an attempt to mount it: neither a text nor a process of the node shows one")
		}
		f.Unless("an answer of the server's port on this node")
		f.Advise(remedy.Words(fmt.Sprintf("Bring the server %s back, or its network. The kubelet mounts it at its next attempt.", server)))
		p.Report(f)
	}
	return found
}

// nfsPort is the port that the PV's mount options name, or NFS's own.
func nfsPort(v *snapshot.Volume) string {
	if v.PV != nil {
		for _, o := range v.PV.Spec.MountOptions {
			if n, ok := strings.CutPrefix(o, "port="); ok {
				return n
			}
		}
	}
	return "2049"
}

// attempt finds a fresh text or a process that shows that the mount was tried.
func attempt(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, hosts []string) (bool, []report.Evidence) {
	for _, t := range p.Texts(v) {
		if !t.Fresh || t.Node != view.Name && t.OnNode != view.Name {
			continue
		}
		for _, k := range []message.Kind{message.NFSTimeout, message.NFSRefused, message.NFSNoRoute, message.Deadline, message.AbortedPending} {
			if t.Is(k) {
				return true, []report.Evidence{t.Evidence()}
			}
		}
	}
	for i := range view.Facts.Processes {
		if q := &view.Facts.Processes[i]; mounting(q, hosts) {
			return true, []report.Evidence{diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/cmdline", q.PID), strings.Join(q.Cmdline, " "))}
		}
	}
	return false, nil
}

func mounting(q *probes.Process, hosts []string) bool {
	if !strings.HasPrefix(q.Comm, "mount") {
		return false
	}
	line := strings.Join(q.Cmdline, " ")
	for _, h := range hosts {
		if h != "" && strings.Contains(line, h+":/") {
			return true
		}
	}
	return false
}
