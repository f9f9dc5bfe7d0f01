package around

import (
	"cmp"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Taken tells that a device which a fresh complaint about the volume on a node names is one that
// another volume has mounted there: the driver reached for a disk that is not free.
func Taken(x *snapshot.Index, v *snapshot.Volume, node string, texts []evidence.Text) []report.Evidence {
	view := x.View(node)
	if view == nil {
		return nil
	}
	for _, t := range texts {
		if !t.Fresh || t.Node != "" && t.Node != node {
			continue
		}
		for _, name := range t.Devices {
			dev, ok := view.NumberAt(name)
			if !ok {
				continue
			}
			for _, m := range view.VolumePaths() {
				if m.Mount.Dev != dev {
					continue
				}
				if o := x.VolumeOfPath(node, m.Mount.Point); o != nil && !o.Same(v) {
					return []report.Evidence{evidence.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Mount.Line),
						fmt.Sprintf("%s (%s) is mounted for volume %s: %s", name, dev, cmp.Or(o.PVName(), o.Spoken()), m.Mount.Raw))}
				}
			}
		}
	}
	return nil
}
