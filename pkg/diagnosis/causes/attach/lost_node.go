package attach

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// leaseGrace is how long a kubelet may be silent before the node lifecycle
// controller calls it not ready (node-monitor-grace-period, 40 s).
const leaseGrace = 40 * time.Second

// lostNode is a node that has a volume and does not report.
type lostNode struct {
	Name     string
	Volume   *snapshot.Volume
	Ready    snapshot.Readiness
	Silent   bool          // only its lease is old; the condition still says Ready
	At       attachment    // zero when only pods tie the volume to the node
	Pods     []*corev1.Pod // of the volume on that node, also those being deleted
	Waiters  []*corev1.Pod // of the volume on other nodes
	Shutdown bool          // the cloud provider's taint says that the machine is off
}

const (
	taintShutdown     = "node.cloudprovider.kubernetes.io/shutdown"
	taintOutOfService = "node.kubernetes.io/out-of-service"
)

// lostNodes finds the nodes that have a volume of the question and do not report.
func lostNodes(p *diagnosis.Pass, v *snapshot.Volume) []lostNode {
	var out []lostNode
	for _, name := range p.NodesOf(v) {
		n := p.Node(name)
		if n == nil {
			continue
		}
		l := lostNode{Name: n.Name, Volume: v, Ready: p.NodeReady(n.Name)}
		if l.Ready.Ready || !l.Ready.Known {
			l.Silent = l.Ready.Known && l.Ready.LeaseAge > leaseGrace && !clockSkewed(p)
			if !l.Silent {
				continue
			}
		}
		if tainted(n, taintOutOfService) {
			continue // the controller detaches at once: nobody waits for this node
		}
		l.Shutdown = tainted(n, taintShutdown)
		var attached bool
		l.At, attached = attachedOn(p, v, n.Name)
		l.Pods, l.Waiters = unfinishedOn(v, n.Name), waitersAwayFrom(v, n.Name)
		if !attached && !sharedFrom(v, n.Name) && len(deleted(l.Pods)) == 0 && !heldByPods(p, l) {
			continue
		}
		if blocks(p, l) {
			out = append(out, l)
		}
	}
	return out
}

// heldByPods tells whether pods alone tie a volume to a node that others wait for: what is
// mounted without being attached has nothing else in the API.
func heldByPods(p *diagnosis.Pass, l lostNode) bool {
	return l.Volume.Exclusive() && !l.Volume.AttachRequired(p.Index) && len(l.Pods) > 0 && len(l.Waiters) > 0
}

// clockSkewed tells whether every kubelet looks silent: then the clock that dated the
// snapshot is ahead of the cluster's, not all nodes down.
func clockSkewed(p *diagnosis.Pass) bool {
	seen := 0
	for _, n := range p.Cluster.Nodes {
		r := p.NodeReady(n.Name)
		if r.LeaseAge >= 0 && r.LeaseAge <= leaseGrace {
			return false
		}
		if r.LeaseAge > leaseGrace && r.Ready {
			seen++
		}
	}
	return seen > 1
}

// blocks tells whether the silence of the node keeps the volume from anybody. A
// volume that several nodes may have is not kept from the others, unless Longhorn
// shares it from that node; a live user on a Ready node shows that it is free.
func blocks(p *diagnosis.Pass, l lostNode) bool {
	if l.Volume.Exclusive() || sharedFrom(l.Volume, l.Name) {
		for _, c := range l.Volume.Running() {
			if c.Pod.Spec.NodeName != l.Name && c.Pod.DeletionTimestamp == nil && p.NodeReady(c.Pod.Spec.NodeName).Ready && !c.Waiting() && l.Volume.Exclusive() {
				return false
			}
		}
		return len(l.Pods) > 0 || len(l.Waiters) > 0 || l.At.VA != nil && l.At.VA.DeletionTimestamp != nil || p.Sweep()
	}
	return len(deleted(l.Pods)) > 0
}

// Holds tells whether the API ties the volume itself to the node, not only its pods.
func (l lostNode) Holds() bool { return l.At.Node != "" || sharedFrom(l.Volume, l.Name) }

// sharedFrom tells whether Longhorn exports the volume over NFS from this node.
func sharedFrom(v *snapshot.Volume, node string) bool {
	return v.RegularRWX() && v.Longhorn != nil && v.Longhorn.Volume != nil && v.Longhorn.Volume.Status.CurrentNodeID == node
}

func tainted(n *corev1.Node, key string) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == key {
			return true
		}
	}
	return false
}

// deleted keeps the pods that are being deleted.
func deleted(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		if p.DeletionTimestamp != nil {
			out = append(out, p)
		}
	}
	return out
}

// silence says since when and with which reason the node does not report.
func (l lostNode) silence(p *diagnosis.Pass) string {
	if l.Silent {
		return fmt.Sprintf("Node %s still counts as Ready, but its kubelet has not renewed its lease for %s", l.Name, diagnosis.Duration(l.Ready.LeaseAge))
	}
	state := "Ready is False"
	if l.Ready.Unknown {
		state = "Ready is Unknown"
	}
	return fmt.Sprintf("Node %s has not been Ready for %s (%s, %s)", l.Name, ago(p, l.Ready.Since), state, l.Ready.Reason)
}

// facts quotes the node's condition, its taints, what attaches the volume and the pods.
func (l lostNode) facts(p *diagnosis.Pass) []report.Evidence {
	status := "True"
	switch {
	case l.Ready.Unknown:
		status = "Unknown"
	case !l.Ready.Ready:
		status = "False"
	}
	text := strings.TrimSpace(fmt.Sprintf("%s since %s %s %s", status, l.Ready.Since.UTC().Format(time.RFC3339), l.Ready.Reason, l.Ready.Message))
	out := []report.Evidence{diagnosis.FromAPI("Node "+l.Name, "status.conditions[Ready]", text)}
	if l.Ready.LeaseAge > leaseGrace {
		out = append(out, diagnosis.FromAPI("Lease kube-node-lease/"+l.Name, "spec.renewTime", diagnosis.Duration(l.Ready.LeaseAge)+" ago"))
	}
	if n := p.Node(l.Name); n != nil {
		for _, t := range n.Spec.Taints {
			if t.Key == taintShutdown || t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady {
				out = append(out, diagnosis.FromAPI("Node "+l.Name, "spec.taints", t.Key+":"+string(t.Effect)))
			}
		}
	}
	out = append(out, l.At.Evidence...)
	for _, pod := range append(append([]*corev1.Pod{}, l.Pods...), l.Waiters...) {
		out = append(out, diagnosis.FromAPI(podFact(pod)))
	}
	return out
}

// attachedWords says what ties the volume to the node.
func (l lostNode) attachedWords() string {
	switch {
	case l.At.VA != nil:
		return fmt.Sprintf("Volume %s is attached there (VolumeAttachment %s)", volumeName(l.Volume), l.At.VA.Name)
	case l.At.Node != "":
		return fmt.Sprintf("Volume %s is attached there (the node's volumesAttached lists it)", volumeName(l.Volume))
	case sharedFrom(l.Volume, l.Name):
		return fmt.Sprintf("Volume %s is shared over NFS from there", volumeName(l.Volume))
	}
	return fmt.Sprintf("Volume %s is used there", volumeName(l.Volume))
}

// keyed ties a finding to the volume, the pods and the attachment of a lost node.
func (l lostNode) keyed(f *diagnosis.Finding) *diagnosis.Finding {
	f.On(l.Volume).Located(l.Name)
	for _, pod := range l.Pods {
		f.Pod(pod)
	}
	for _, pod := range l.Waiters {
		f.Pod(pod)
	}
	if l.At.VA != nil {
		f.Object("va", l.At.VA.Name)
	}
	return f
}
