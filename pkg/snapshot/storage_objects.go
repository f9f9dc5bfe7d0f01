package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CephHealth is what a CephCluster of Rook says of its cluster (CephCluster status.ceph).
type CephHealth struct {
	Namespace, Name string
	FSID            string
	Health          string
	Checked         time.Time
	Codes           map[string]string // health code → its message
}

// CephClusters are the Ceph clusters that Rook looks after.
func (x *Index) CephClusters() []CephHealth {
	var out []CephHealth
	for _, u := range x.others("ceph.rook.io", "CephCluster") {
		h := CephHealth{Namespace: u.GetNamespace(), Name: u.GetName(), Codes: map[string]string{}}
		h.FSID = textAt(u, "status", "ceph", "fsid")
		h.Health = textAt(u, "status", "ceph", "health")
		h.Checked, _ = time.Parse(time.RFC3339, textAt(u, "status", "ceph", "lastChecked"))
		details, _, _ := unstructured.NestedMap(u.Object, "status", "ceph", "details")
		for code, d := range details {
			m, _ := d.(map[string]any)
			h.Codes[code], _ = m["message"].(string)
		}
		out = append(out, h)
	}
	return out
}

// NetworkFence shuts addresses out of a storage (csi-addons: spec.fenceState, status.result).
type NetworkFence struct {
	Name, Driver string
	CIDRs        []string
	Lifted       bool // it was in force once
}

// NetworkFences are those that are in force, and those that were.
func (x *Index) NetworkFences() []NetworkFence {
	var out []NetworkFence
	for _, u := range x.others("csiaddons.openshift.io", "NetworkFence") {
		if textAt(u, "status", "result") != "Succeeded" {
			continue
		}
		cidrs, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "cidrs")
		out = append(out, NetworkFence{Name: u.GetName(), Driver: textAt(u, "spec", "driver"), CIDRs: cidrs, Lifted: textAt(u, "spec", "fenceState") != "Fenced"})
	}
	return out
}

// NodePools are the names of the pools or volume groups that a node's driver found
// there, as ZFSNode and LVMNode of OpenEBS list them; known is false without such an
// object. A group of which a member is missing is in missing, too.
func (x *Index) NodePools(kind, node string) (pools, missing []string, known bool) {
	group, list := "zfs.openebs.io", "pools"
	if kind == "LVMNode" {
		group, list = "local.openebs.io", "volumeGroups"
	}
	for _, u := range x.others(group, kind) {
		if u.GetName() != node {
			continue
		}
		known = true
		items, _, _ := unstructured.NestedSlice(u.Object, list)
		for _, i := range items {
			m, _ := i.(map[string]any)
			name, _ := m["name"].(string)
			pools = append(pools, name)
			if n, ok := m["missingPvCount"].(int64); ok && n > 0 {
				missing = append(missing, name)
			}
		}
	}
	return pools, missing, known
}

func (x *Index) others(group, kind string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range x.Cluster.Others {
		if u != nil && u.GetKind() == kind && u.GroupVersionKind().Group == group {
			out = append(out, u)
		}
	}
	return out
}

func textAt(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}
