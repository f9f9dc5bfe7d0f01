package noise

import (
	"fmt"
	"path"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// apparmorDenialUnrelated: denials of programs that have nothing to do with a
// volume, or of operations that no mount needs.
var apparmorDenialUnrelated = &diagnosis.NoiseRule{Name: "apparmor-denial-unrelated", Run: func(p *diagnosis.Pass) {
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil {
			continue
		}
		count, example := 0, ""
		for _, l := range denials(view, "apparmor-denied", `apparmor="DENIED"`) {
			f := audit(l)
			op := f["operation"]
			if op == "ptrace" || op == "signal" || !storage[f["comm"]] && !storage[path.Base(f["profile"])] && !onVolume(f["name"]) {
				count++
				example = fmt.Sprintf("%s of %s (profile %s)", op, f["comm"], f["profile"])
			}
		}
		if count > 0 {
			p.AddNoise(diagnosis.NodeSubject(node), fmt.Sprintf("AppArmor on node %s denied %s, the last one %s.", node, times(count, "operation"), example),
				"the programs take no part in attaching or mounting, or the operation is none that a mount needs")
		}
	}
}}

// onVolume tells whether a denied path belongs to a volume: then the profile is that
// of whoever mounts it.
func onVolume(name string) bool {
	return evidence.ContainsAny(name, "/kubernetes.io~", "/kubernetes.io/csi/", "/volume-subpaths/", "/volumeDevices/", "/dev/longhorn/")
}
