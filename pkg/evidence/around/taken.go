package around

import (
	"cmp"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// aDevice is a device in a sentence.
var aDevice = pattern.MustCompile(`/dev/[A-Za-z0-9_./:+-]*[A-Za-z0-9_]`)

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
		for _, name := range aDevice.FindAllString(t.Raw, -1) {
			dev, ok := view.NumberAt(name)
			if !ok {
				continue
			}
			for _, m := range view.VolumePaths() {
				if o := x.VolumeOfPath(node, m.Mount.Point); m.Mount.Dev == dev && o != nil && !o.Same(v) {
					return []report.Evidence{evidence.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", m.Mount.Line),
						fmt.Sprintf("%s (%s) is mounted for volume %s: %s", name, dev, cmp.Or(o.PVName(), o.Spoken()), m.Mount.Raw))}
				}
			}
		}
	}
	return nil
}
