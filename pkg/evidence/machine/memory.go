package machine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const hugePages = "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"

// HugePages asks whether a node has so many MiB of huge pages of 2 MiB.
func HugePages(x *snapshot.Index, node string, mebibytes int) evidence.Answer {
	text, _ := file(x, node, hugePages)
	pages, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return evidence.Unseen(evidence.Tables(x, node, probes.Files).And(evidence.Partial(lack(node, probes.Files, hugePages+" was not read"))).Lacks()...)
	}
	return evidence.When(2*pages >= mebibytes, evidence.FromNode(node, hugePages, strconv.Itoa(pages)))
}

// Flag asks whether the processors of a node have an instruction set (proc/cpuinfo).
func Flag(x *snapshot.Index, node, name string) evidence.Answer {
	text, ok := file(x, node, "proc/cpuinfo")
	for l := range strings.Lines(text) {
		key, list, _ := strings.Cut(l, ":")
		if strings.TrimSpace(key) != "flags" {
			continue
		}
		if slices.Contains(strings.Fields(list), name) {
			return evidence.Yes(evidence.FromNode(node, "proc/cpuinfo", "flags: "+name))
		}
		return evidence.No(evidence.FromNode(node, "proc/cpuinfo", "flags: no "+name))
	}
	why := "proc/cpuinfo was not read"
	if ok {
		why = "proc/cpuinfo has no flags"
	}
	return evidence.Unseen(evidence.Tables(x, node, probes.Files).And(evidence.Partial(lack(node, probes.Files, why))).Lacks()...)
}
