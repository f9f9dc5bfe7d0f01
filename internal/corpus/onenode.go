package corpus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OnOneNode is a cluster with another one in it, of which a node of the same name is the same
// machine: what is attached, mounted and running there is both's. Nil is a node without a recording
// in either, or two of which no machine can be made.
func OnOneNode(a, b *snapshot.Snapshot, node string) *snapshot.Snapshot {
	one, other := a.Nodes[node], b.Nodes[node]
	if one == nil || other == nil {
		return nil
	}
	text, ok := bothOf(entriesIn(one.Recording), entriesIn(other.Recording))
	if !ok {
		return nil
	}
	h, err := host.ParseRecording([]byte(text))
	if err != nil {
		return nil
	}
	m, record := Merged(a, b), *one
	record.Facts, record.Recording = gather(h, agent.Probes), []byte(text)
	m.Nodes[node] = &record
	addDrivers(m, a, b, node)
	addVolumes(m, b, node)
	return m
}

// addDrivers registers the drivers of both at a node whose registrations the first cluster knows.
func addDrivers(m, a, b *snapshot.Snapshot, node string) {
	named := func(n *storagev1.CSINode) bool { return n.Name == node }
	if !slices.ContainsFunc(a.Cluster.CSINodes, named) {
		m.Cluster.CSINodes = slices.DeleteFunc(slices.Clone(m.Cluster.CSINodes), named)
		return
	}
	i, j := slices.IndexFunc(m.Cluster.CSINodes, named), slices.IndexFunc(b.Cluster.CSINodes, named)
	if j >= 0 {
		n := m.Cluster.CSINodes[i].DeepCopy()
		n.Spec.Drivers = append(n.Spec.Drivers, b.Cluster.CSINodes[j].Spec.Drivers...)
		m.Cluster.CSINodes[i] = n
	}
}

// addVolumes reports what both have attached to a node, and use there.
func addVolumes(m, b *snapshot.Snapshot, node string) {
	named := func(n *corev1.Node) bool { return n.Name == node }
	i, j := slices.IndexFunc(m.Cluster.Nodes, named), slices.IndexFunc(b.Cluster.Nodes, named)
	if i >= 0 && j >= 0 {
		n, other := m.Cluster.Nodes[i].DeepCopy(), b.Cluster.Nodes[j].Status
		n.Status.VolumesAttached = append(n.Status.VolumesAttached, other.VolumesAttached...)
		n.Status.VolumesInUse = append(n.Status.VolumesInUse, other.VolumesInUse...)
		m.Cluster.Nodes[i] = n
	}
}
