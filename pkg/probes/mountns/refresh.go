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
	known := map[string]bool{}
	for i := range ns.Mounts {
		known[ns.Mounts[i].Point+"\x00"+ns.Mounts[i].Dev.String()] = true
	}
	var p Parser
	now, _ := p.Parse(string(text))
	for _, m := range now {
		if known[m.Point+"\x00"+m.Dev.String()] {
			continue
		}
		m.Line = len(ns.Mounts) + 1
		ns.Mounts = append(slices.Clip(ns.Mounts), m)
		host.Amend(h, file, m.Raw+"\n")
	}
}
