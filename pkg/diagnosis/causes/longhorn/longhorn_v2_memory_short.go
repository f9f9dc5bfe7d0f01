package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_v2_memory_short.md
var longhornV2MemoryShortDoc string

// V2MemoryShort finds nodes on which the v2 data engine (SPDK) lacks huge pages.
var V2MemoryShort = &diagnosis.Rule{
	Name: "longhorn-v2-memory-short", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/nodes")},
	Explains: []string{"attach-failed", "volume-attach-loop", "volume-io-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-instance-manager-restarted", "longhorn-v2-engine-stuck"},
	Doc:      longhornV2MemoryShortDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || lh.DataEngine != "v2" || !p.Suffers(v, "attach-failed", "volume-attach-loop", "volume-io-error", "pod-waiting-for-volume") {
				continue
			}
			for _, n := range partNodes(p, v) {
				memoryShort(p, v, n)
			}
		}
	},
}

// partNodes are the nodes with an engine or a replica of the volume, present or wanted.
func partNodes(p *diagnosis.Pass, v *snapshot.Volume) []string {
	out := wantedNodes(v)
	for _, i := range instancesOf(v) {
		if i.NodeID != "" && !slices.Contains(out, i.NodeID) {
			out = append(out, i.NodeID)
		}
	}
	for _, n := range p.DeviceNodes(v) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// allocation is how SPDK and DPDK say that they get no memory.
var allocation = regexp.MustCompile(`(?i)(cannot|can't|could not|couldn't|failed to|unable to|not enough) .{0,40}(alloc|memory|hugepage|huge page|mempool|memzone|memseg)|cannot allocate memory|no free .{0,20}hugepages|\bENOMEM\b|rte_malloc.*fail|out of memory`)

const hugepages = "sys/kernel/mm/hugepages/hugepages-2048kB/"

func memoryShort(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	var evidence []report.Evidence
	short := false
	if n := p.LHNode(node); n != nil {
		if c, ok := n.Conditions.Get("HugePagesAvailable"); ok && c.Status == "False" {
			short = true
			evidence = append(evidence, diagnosis.FromAPI("Node.longhorn.io "+node, "status.conditions[HugePagesAvailable]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
		}
	}
	none, numbers := noFreePages(p, node)
	evidence = append(evidence, numbers...)
	error, errors := allocationError(p, v, node)
	queue := queueErrors(p, node)
	c := report.Likely
	switch {
	case (short || none) && error:
		c = report.Certain
	case short, none && queue.Text != "":
	case error && len(numbers) == 0: // how many pages are free was not seen
	default:
		return // SPDK takes its pages when it starts: none free is normal while it works
	}
	f := p.Find(c, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Sayf("The v2 data engine (SPDK) on node %s has too few huge pages for volume %s: %s. Volumes of the v1 engine on the node are not touched.",
		node, v.LH().Name, hugepageWords(p, node, short, v2Engines(p, node)))
	f.Fact(evidence...).Fact(errors...).Fact(queue)
	if !error {
		f.NotConfirmed = append(f.NotConfirmed, "a fresh allocation error in the log of the v2 instance-manager on "+node)
		p.Probed(node)
	}
	f.Unless("free huge pages on the node, and an engine that starts")
	f.Advise(remedy.Words("Raise the number of 2 MiB huge pages on node " + node + " (2 GiB are 1024 pages, more with the number of v2 volumes), restart the kubelet so that it reports them, and restart the v2 instance-manager while the v2 volumes of the node are detached. Verify: condition HugePagesAvailable True."))
	p.Report(f)
}

// noFreePages reads the counters of the node; Documentation/admin-guide/mm/hugetlbpage.rst.
func noFreePages(p *diagnosis.Pass, node string) (bool, []report.Evidence) {
	view := p.View(node)
	if view == nil {
		return false, nil
	}
	free, ok := view.Facts.Files[hugepages+"free_hugepages"]
	if !ok || free.Err != "" {
		return false, nil
	}
	all := strings.TrimSpace(view.Facts.Files[hugepages+"nr_hugepages"].Content)
	text := strings.TrimSpace(free.Content)
	return text == "0", []report.Evidence{diagnosis.FromNode(node, hugepages+"free_hugepages", text+" of "+all)}
}

// allocationError looks for a fresh one in the logs of the node's instance-managers
// and in what was said about the volume.
func allocationError(p *diagnosis.Pass, v *snapshot.Volume, node string) (bool, []report.Evidence) {
	for _, im := range p.InstanceManagersOn(node) {
		if im.DataEngine == "v1" {
			continue // no SPDK in it
		}
		for _, log := range p.LogsOf(im.Namespace, im.Name) {
			for i := len(log.Lines) - 1; i >= 0; i-- {
				line := log.Lines[i]
				at := message.Date(line, p.TakenAt)
				if allocation.MatchString(line) && !at.IsZero() && p.Age(at) < freshFor {
					return true, []report.Evidence{{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", log.Namespace, log.Pod, log.Container, i+1), Text: line}}
				}
			}
		}
	}
	for _, t := range p.Texts(v) {
		if t.Fresh && allocation.MatchString(t.Raw) && (t.Node == "" || t.Node == node) {
			return true, []report.Evidence{t.Evidence()}
		}
	}
	return false, nil
}

// queueErrors finds the kernel's failing NVMe connects: -104 is ECONNRESET, always at
// the same queue when SPDK has no memory for one more.
func queueErrors(p *diagnosis.Pass, node string) report.Evidence {
	view := p.View(node)
	if view == nil {
		return report.Evidence{}
	}
	for _, l := range view.Facts.Kernel {
		if strings.Contains(l.Text, "nvme") && strings.Contains(l.Text, "-104") && !l.At.IsZero() && p.Age(l.At) < freshFor {
			return diagnosis.FromNode(node, "@kmsg", l.Text)
		}
	}
	return report.Evidence{}
}

func v2Engines(p *diagnosis.Pass, node string) int {
	n := 0
	for _, e := range p.Cluster.Longhorn.Engines {
		if e.DataEngine == "v2" && e.NodeID == node && e.CurrentState == "running" {
			n++
		}
	}
	return n
}

func hugepageWords(p *diagnosis.Pass, node string, short bool, engines int) string {
	var out []string
	if short {
		c, _ := p.LHNode(node).Conditions.Get("HugePagesAvailable")
		out = append(out, "Longhorn's condition HugePagesAvailable is False ("+strings.TrimSpace(c.Reason+" "+c.Message)+")")
	}
	if none, ev := noFreePages(p, node); none {
		out = append(out, "free huge pages: "+ev[0].Text)
	}
	if len(out) == 0 {
		out = append(out, "its instance-manager says that it gets no memory; how many pages are free was not seen")
	}
	return strings.Join(append(out, fmt.Sprintf("%d v2 engines run there", engines)), "; ")
}
