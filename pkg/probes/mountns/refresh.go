package mountns

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
)

// Refresh adds to the first table what was mounted since it was read. What was unmounted
// since stays: other tables were read with it.
func Refresh(h host.Host, f *probes.Facts) {
	if h.Recorded() || len(f.Namespaces) == 0 || f.Namespaces[0].TablePID == 0 {
		return
	}
	ns := &f.Namespaces[0]
	file := process.Dir(&probes.Process{PID: ns.TablePID}) + "mountinfo"
	text, err := h.ReadFile(file, tableLimit)
	if err != nil {
		return
	}
	type mount struct {
		point string
		dev   probes.Dev
	}
	known := map[mount]bool{}
	for i := range ns.Mounts {
		known[mount{ns.Mounts[i].Point, ns.Mounts[i].Dev}] = true
	}
	var p Parser
	now, _ := p.Parse(string(text))
	list, lines := slices.Clip(ns.Mounts), ""
	for _, m := range now {
		if known[mount{m.Point, m.Dev}] {
			continue
		}
		m.Line = len(list) + 1
		list, lines = append(list, m), lines+m.Raw+"\n"
	}
	if lines != "" {
		ns.Mounts = list
		host.Amend(h, file, lines)
	}
}
