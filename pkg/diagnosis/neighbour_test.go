package diagnosis_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nearby are the cases whose answer rests on what every node or address of the cluster is like.
var nearby = map[string]string{
	"rbd-watcher-of-old-cluster":            "a foreign address may be one that the pods of the other cluster get",
	"multipathd-waits-for-the-second-path":  "whether multipathd may be stopped depends on who else has a SAN",
	"local-path-pod-meets-tainted-nodes":    "the scheduler's reasons are those of all nodes",
	"eks-in-tree-volume-without-the-driver": "the others may have the driver",
}

// TestNeighboursChangeNothing puts an incident of other drivers, on nodes of its own, into the cluster of
// each case: what is found of the question stays.
func TestNeighboursChangeNothing(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		if nearby[c.Name] != "" || c.Ask.Kind == "cluster" || !corpus.Tried(4, c.Name) {
			return
		}
		s := shared(t, dir)
		want := found(recorded(t, c), func(s string) string { return s })
		others(t, c, s, func(name, at string, _ *snapshot.Snapshot) bool {
			other := away(t, s, at, "", "")
			if other == nil {
				return false
			}
			got := found(evaluate(c, corpus.Merged(s, other)), func(s string) string { return s })
			if d := diff.Diff(want, got); d != "" {
				t.Errorf("beside %s (-want +got):\n%s", name, d)
			}
			return true
		})
	})
}

// others tries cases of other drivers beside one, in an order of its own, until one of them fits, or four.
func others(t *testing.T, c *corpus.Case, s *snapshot.Snapshot, try func(name, at string, other *snapshot.Snapshot) bool) {
	t.Helper()
	root, names := cases(t)
	left := 1
	if allLosses() {
		left = 4
	}
	for _, name := range slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Compare(corpus.Hash(c.Name, a), corpus.Hash(c.Name, b))
	}) {
		at := filepath.Join(root, name)
		if left == 0 {
			return
		}
		if other := shared(t, at); name != c.Name && strangers(s, other) && try(name, at, other) {
			left--
		}
	}
}

// strangers tells whether two clusters have no driver in common, and nothing of either is unknown
// for which the other has an answer.
func strangers(a, b *snapshot.Snapshot) bool {
	ours, theirs := drivers(a), drivers(b)
	return len(ours) > 0 && len(theirs) > 0 && len(a.Cluster.CSINodes) > 0 && len(a.Cluster.CSIDrivers) > 0 &&
		!slices.ContainsFunc(theirs, func(d string) bool { return slices.Contains(ours, d) }) &&
		!slices.ContainsFunc(b.Gaps, func(g snapshot.Gap) bool { return !strings.HasPrefix(g.Need, "node/") })
}

func drivers(s *snapshot.Snapshot) (out []string) {
	for _, pv := range s.Cluster.PVs {
		if pv.Spec.CSI != nil {
			out = append(out, pv.Spec.CSI.Driver)
		}
	}
	for _, sc := range s.Cluster.StorageClasses {
		out = append(out, sc.Provisioner)
	}
	for _, d := range s.Cluster.CSIDrivers {
		out = append(out, d.Name)
	}
	for _, n := range s.Cluster.CSINodes {
		for _, d := range n.Spec.Drivers {
			out = append(out, d.Name)
		}
	}
	if len(s.Cluster.Longhorn.Nodes) > 0 {
		out = append(out, snapshot.LonghornDriver)
	}
	return out
}

// away is a case with other names and addresses than a cluster has, or nil. Its node from, if any, is
// the cluster's node to.
func away(t *testing.T, a *snapshot.Snapshot, dir, from, to string) *snapshot.Snapshot {
	t.Helper()
	b, words := shared(t, dir), map[string]string{}
	for kind, list := range corpus.NamesOf(b) {
		for _, n := range list {
			if slices.Contains([]string{"node", "namespace", "claim", "pv", "workload", "class"}, kind) && replaceable(kind, n) {
				words[n] = "nb-" + n
			}
		}
	}
	if from != "" {
		words[from] = to
	}
	ours := identities(a)
	for i, ip := range addresses(b) {
		if ours["ip/"+ip] {
			words[ip] = "198.18." + strconv.Itoa(i/250) + "." + strconv.Itoa(1+i%250)
		}
	}
	renamed := filepath.Join(t.TempDir(), "other")
	if err := corpus.NewRenaming(b, words).Write(dir, renamed); err != nil {
		t.Fatal(err)
	}
	moved := fresh(t, renamed)
	for _, n := range moved.Cluster.Nodes {
		n.Spec.PodCIDR, n.Spec.PodCIDRs = "", nil
	}
	for id := range identities(moved) {
		if ours[id] && id != "node/"+to {
			return nil
		}
	}
	return moved
}

// identities are what no two clusters may share to be merged.
func identities(s *snapshot.Snapshot) map[string]bool {
	out := map[string]bool{}
	for _, ip := range addresses(s) {
		out["ip/"+ip] = true
	}
	for _, n := range s.Cluster.Nodes {
		out["node/"+n.Name], out["uid/"+string(n.UID)] = true, true
	}
	for _, v := range s.Cluster.PVs {
		out["pv/"+v.Name], out["uid/"+string(v.UID)] = true, true
	}
	for _, v := range s.Cluster.Claims {
		out["namespace/"+v.Namespace], out["uid/"+string(v.UID)] = true, true
	}
	for _, p := range s.Cluster.Pods {
		out["pod/"+p.Namespace+"/"+p.Name], out["uid/"+string(p.UID)] = true, true
	}
	delete(out, "uid/")
	return out
}

func addresses(s *snapshot.Snapshot) []string {
	var out []string
	for _, n := range s.Cluster.Nodes {
		for _, a := range n.Status.Addresses {
			if a.Type != "Hostname" {
				out = append(out, a.Address)
			}
		}
	}
	for _, p := range s.Cluster.Pods {
		out = append(out, p.Status.PodIP, p.Status.HostIP)
	}
	for _, v := range s.Cluster.Services {
		out = append(out, v.Spec.ClusterIP)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(ip string) bool { return ip == "" || ip == "None" })
}
