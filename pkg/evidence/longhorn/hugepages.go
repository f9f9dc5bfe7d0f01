package longhorn

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hugepages is where the kernel counts those of 2 MiB
// (Documentation/admin-guide/mm/hugetlbpage.rst).
const hugepages = "sys/kernel/mm/hugepages/hugepages-2048kB/"

// allocation is how SPDK and DPDK say that they get no memory.
var allocation = pattern.MustCompile(`(?i)(cannot|can't|could not|couldn't|failed to|unable to|not enough) .{0,40}(alloc|memory|hugepage|huge page|mempool|memzone|memseg)|cannot allocate memory|no free .{0,20}hugepages|\bENOMEM\b|rte_malloc.*fail|out of memory`)

func noMemory(text string) bool {
	low := strings.ToLower(text)
	return evidence.ContainsAny(low, "alloc", "mem", "huge") && allocation.MatchString(text)
}

// PagesShort asks whether Longhorn itself says that a node lacks huge pages; says are its
// words.
func PagesShort(x *snapshot.Index, node string) (says string, a evidence.Answer) {
	n := x.LHNode(node)
	if n == nil {
		return "", evidence.Not(Read(x, "nodes").Nothing())
	}
	c, ok := n.Conditions.Get("HugePagesAvailable")
	says = strings.TrimSpace(c.Reason + " " + c.Message)
	return says, evidence.When(ok && c.Status == "False", evidence.FromAPI("Node.longhorn.io "+node, "status.conditions[HugePagesAvailable]", strings.TrimSpace("False "+says)))
}

// PagesUsed asks whether no huge page of a node is free, and says how many there are. SPDK
// takes its pages when it starts: none free is normal while it works.
func PagesUsed(x *snapshot.Index, node string) (numbers string, a evidence.Answer) {
	r := evidence.Tables(x, node, probes.Files)
	view := x.View(node)
	if view == nil {
		return "", evidence.Unseen(r.Lacks()...)
	}
	free, ok := view.Facts.Files[hugepages+"free_hugepages"]
	if !ok || free.Err != "" {
		return "", evidence.Unseen(evidence.Lack{Need: "node/" + node + "/" + string(probes.Files), Node: node, Why: "how many huge pages are free was not read"})
	}
	numbers = strings.TrimSpace(free.Content) + " of " + strings.TrimSpace(view.Facts.Files[hugepages+"nr_hugepages"].Content)
	return numbers, evidence.When(strings.TrimSpace(free.Content) == "0", evidence.FromNode(node, hugepages+"free_hugepages", numbers))
}

// NoMemory asks for a fresh error of an allocation: in the logs of the node's
// instance-managers that have SPDK in them, or in what was said about the volume.
func NoMemory(pl *evidence.Place, node string) evidence.Answer {
	for _, im := range pl.X.InstanceManagersOn(node) {
		if im.DataEngine == "v1" {
			continue
		}
		if line, ok := logLine(pl.X, im.Namespace, im.Name, freshFor, noMemory); ok {
			return evidence.Yes(line)
		}
	}
	return evidence.Any(pl.Refused().Say(func(t evidence.Text) bool {
		return (t.Node == "" || t.Node == node) && noMemory(t.Raw)
	}), evidence.Unseen(evidence.Lack{Need: "logs", Why: "a fresh allocation error in the log of the v2 instance-manager on " + node}))
}

// QueueReset asks for the kernel's failing NVMe connects: -104 is ECONNRESET, always at
// the same queue when SPDK has no memory for one more.
func QueueReset(x *snapshot.Index, node string) evidence.Answer {
	if view := x.View(node); view != nil {
		for _, l := range view.Facts.Kernel {
			if strings.Contains(l.Text, "nvme") && strings.Contains(l.Text, "-104") && !l.At.IsZero() && x.Age(l.At) < freshFor {
				return evidence.Yes(evidence.FromKernel(node, l))
			}
		}
	}
	return evidence.No()
}

// V2Engines counts the engines of SPDK that run on a node.
func V2Engines(x *snapshot.Index, node string) int {
	return len(evidence.Keep(x.Cluster.Longhorn.Engines, func(e *snapshot.LHEngine) bool {
		return e.DataEngine == "v2" && e.NodeID == node && e.CurrentState == "running"
	}))
}
