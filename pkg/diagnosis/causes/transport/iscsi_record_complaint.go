package transport

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// complaintOf is what iscsiadm of one node said about its database.
type complaintOf struct {
	parameter string // that it does not know
	file      string // that it calls invalid
	evidence  []report.Evidence
}

// The words of idbm_recinfo_config and idbm_rec_update_param in usr/idbm.c.
var (
	unknownParameter = regexp.MustCompile(`Unknown parameter name ([A-Za-z0-9_.\[\]-]+)`)
	invalidFile      = regexp.MustCompile(`config file (\S+?) invalid`)
)

// recordComplaint reads the fresh texts of a node.
func recordComplaint(p *diagnosis.Pass, node string) complaintOf {
	var c complaintOf
	for _, t := range iscsiTexts(p, node) {
		name, file := "", ""
		if m := unknownParameter.FindStringSubmatch(t.Raw); m != nil {
			name = strings.TrimRight(m[1], ".")
		}
		if m := invalidFile.FindStringSubmatch(t.Raw); m != nil {
			file = m[1]
		}
		if name == "" && file == "" {
			continue
		}
		if len(c.evidence) == 0 {
			c = complaintOf{name, file, []report.Evidence{t.Evidence()}}
		}
		if c.parameter == "" {
			c.parameter = name
		}
	}
	return c
}

// unknownParameters are all that some node's iscsiadm refused, sorted.
func unknownParameters(said map[string]complaintOf) []string {
	var out []string
	for _, c := range said {
		if c.parameter != "" && !slices.Contains(out, c.parameter) {
			out = append(out, c.parameter)
		}
	}
	slices.Sort(out)
	return out
}

// everyNode lists all nodes of the cluster and of the snapshot: where nobody
// attached anything, nobody complained.
func everyNode(p *diagnosis.Pass) []string {
	out := viewNames(p)
	for _, n := range p.Cluster.Nodes {
		if !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	}
	slices.Sort(out)
	return out
}

// badElsewhere lists "node: path" of the first bad record of every probed node.
func badElsewhere(p *diagnosis.Pass, unknown []string) []string {
	var out []string
	for _, n := range viewNames(p) {
		view := p.View(n)
		if bad := badRecords(view, unknown); len(bad) > 0 && !works(view, bad) {
			out = append(out, n+": "+bad[0].Path)
		}
	}
	return out
}
