// Package transport holds the rules of the paths between a node and the data:
// iSCSI, NVMe over fabrics and the network filesystems.
package transport

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nfsMount is one NFS mount in the host's namespace of a node.
type nfsMount struct {
	probes.Mount
	server string // as the source names it
	addr   string // as the kernel resolved it
	port   string
	volume *snapshot.Volume // nil: of no volume that the API knows
	uid    string           // of the pod whose directory it is in
}

// nfsMounts are the NFS mounts of a node below the kubelet's root, in the order of
// the table.
func nfsMounts(p *diagnosis.Pass, view *snapshot.NodeView) []nfsMount {
	var out []nfsMount
	for _, u := range view.Under(view.KubeletRoot()) {
		m, ok := asNFS(u.Mount)
		if !ok {
			continue
		}
		m.volume = p.VolumeOfPath(view.Name, m.Point)
		if path, ok := view.ParsePath(m.Point); ok {
			m.uid = path.PodUID
		}
		out = append(out, m)
	}
	return out
}

// asNFS takes an NFS line apart; see nfs(5) for addr= and port=.
func asNFS(m probes.Mount) (nfsMount, bool) {
	if m.FSType != "nfs" && m.FSType != "nfs4" {
		return nfsMount{}, false
	}
	i := strings.Index(m.Source, ":/")
	if i < 0 {
		return nfsMount{}, false
	}
	n := nfsMount{Mount: m, server: strings.Trim(m.Source[:i], "[]"), addr: m.SuperValue("addr"), port: m.SuperValue("port")}
	if n.addr == "" {
		n.addr = n.server
	}
	if n.port == "" || n.port == "0" {
		n.port = "2049"
	}
	return n, true
}

// hard tells whether requests wait for ever; softerr and soft end with an error
// after timeo × retrans. Neither word means hard (nfs(5)).
func (m nfsMount) hard() bool { return !m.HasSuper("soft") && !m.HasSuper("softerr") }

// sessions tells whether the mount uses NFSv4.1 or later, where the server knows
// the client by its host name alone (nfs4_init_uniform_client_string).
func (m nfsMount) sessions() bool {
	v := m.SuperValue("vers")
	return strings.HasPrefix(v, "4.") && v != "4.0"
}

// dial is what the server's port answered on a node.
type dial struct {
	key, answer string
}

func (d dial) asked() bool    { return d.answer != "" }
func (d dial) answered() bool { return strings.HasPrefix(d.answer, "ok") }

// failed tells whether the network or the server said no, or nothing. An error of
// the asking machine itself (EMFILE, EPERM) is no answer.
func (d dial) failed() bool {
	for _, s := range []string{"timeout", "hang", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ETIMEDOUT", "ECONNRESET"} {
		if strings.HasPrefix(d.answer, s) {
			return true
		}
	}
	return false
}

// slow tells whether the port answered after more than five seconds: packets get
// lost, and what needs several of them does not end in time.
func (d dial) slow() bool {
	_, took, _ := strings.Cut(d.answer, " ")
	t, err := time.ParseDuration(strings.ReplaceAll(took, " ", ""))
	return d.answered() && err == nil && t > 5*time.Second
}

func (d dial) evidence(node string) report.Evidence {
	return diagnosis.FromNode(node, "@dial/"+d.key, d.answer)
}

// dialOf finds the answer of a server's port in the facts of a node, by the name or
// address of the server or by what the node's resolver makes of its name.
func dialOf(view *snapshot.NodeView, port string, hosts ...string) dial {
	for _, h := range hosts {
		hosts = append(hosts, strings.Fields(view.Facts.Resolves[h])...)
	}
	for _, h := range hosts {
		if h == "" {
			continue
		}
		for _, key := range []string{h + ":" + port, "[" + h + "]:" + port} {
			if a, ok := view.Facts.Dials[key]; ok {
				return dial{key, a}
			}
		}
	}
	return dial{}
}

// serviceOf finds the Service behind a server's address or cluster DNS name, and
// says how many of its endpoints are ready; -1 when that is not known.
func serviceOf(p *diagnosis.Pass, hosts ...string) (svc *corev1.Service, ready int) {
	for _, s := range p.Cluster.Services {
		for _, h := range hosts {
			if serves(s, h) {
				return s, readyEndpoints(p, s)
			}
		}
	}
	return nil, -1
}

func serves(s *corev1.Service, host string) bool {
	if host == "" {
		return false
	}
	for _, ip := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if ip == host && ip != corev1.ClusterIPNone {
			return true
		}
	}
	name := s.Name + "." + s.Namespace
	return host == name || strings.HasPrefix(host, name+".svc")
}

func readyEndpoints(p *diagnosis.Pass, s *corev1.Service) int {
	n, known := 0, false
	for _, e := range p.Cluster.EndpointSlices {
		if e.Namespace != s.Namespace || e.Labels["kubernetes.io/service-name"] != s.Name {
			continue
		}
		known = true
		for _, x := range e.Endpoints {
			if x.Conditions.Ready == nil || *x.Conditions.Ready {
				n += len(x.Addresses)
			}
		}
	}
	for _, e := range p.Cluster.Endpoints {
		if e.Namespace != s.Namespace || e.Name != s.Name || known {
			continue
		}
		known = true
		for _, x := range e.Subsets {
			n += len(x.Addresses)
		}
	}
	if !known && p.Collected("/endpoints") && len(p.Cluster.Endpoints) > 0 {
		return 0
	}
	if !known {
		return -1
	}
	return n
}

// serviceWords says what stands behind the server's address.
func serviceWords(svc *corev1.Service, ready int) string {
	if svc == nil {
		return ""
	}
	switch {
	case ready == 0:
		return fmt.Sprintf("The address is Service %s/%s, which has no ready endpoint. ", svc.Namespace, svc.Name)
	case ready > 0:
		return fmt.Sprintf("The address is Service %s/%s with %d ready endpoints. ", svc.Namespace, svc.Name, ready)
	}
	return fmt.Sprintf("The address is Service %s/%s. ", svc.Namespace, svc.Name)
}
