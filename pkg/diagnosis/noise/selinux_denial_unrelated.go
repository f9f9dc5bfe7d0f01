package noise

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
)

// selinuxDenialUnrelated: denials of programs that have nothing to do with a
// volume, or that were logged and not enforced. A denial on files of containers
// is left to the rules: it may be the volume's.
var selinuxDenialUnrelated = &diagnosis.NoiseRule{Name: "selinux-denial-unrelated", Run: func(p *diagnosis.Pass) {
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil {
			continue
		}
		enforced := !security.Enforcing(view).No() // where it was not read, a denial counts
		count, example := 0, ""
		for _, l := range denials(view, "selinux-denied", "avc:") {
			f := audit(l)
			if !strings.Contains(l, "denied") {
				continue
			}
			permitted := f["permissive"] == "1" || !enforced
			files := strings.Contains(f["tcontext"], "container_file_t") || strings.Contains(f["scontext"], "container_t")
			if permitted || !storage[f["comm"]] && !files {
				count++
				example = fmt.Sprintf("%s on %s", f["comm"], f["tclass"])
			}
		}
		if count > 0 {
			p.AddNoise(diagnosis.NodeSubject(node), fmt.Sprintf("SELinux on node %s logged %s, the last one of %s.", node, times(count, "denial"), example),
				"the programs take no part in attaching or mounting, or the denial was not enforced")
		}
	}
}}
