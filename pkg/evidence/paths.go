package evidence

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// VolumePaths are the mounts of the place's volume on its node. Of a place that is a pod,
// they are those of volumes that stand in its own spec; of a place that is a node, those of
// no volume and of no pod that the API knows: who is known is asked as one.
func (p *Place) VolumePaths() []snapshot.VolumeMount {
	switch {
	case p.View == nil:
		return nil
	case p.Volume != nil:
		return p.X.VolumeMounts(p.Volume, p.Node)
	}
	return slices.DeleteFunc(slices.Clone(p.View.VolumePaths()), func(m snapshot.VolumeMount) bool {
		switch {
		case p.X.VolumeOfPath(p.Node, m.Mount.Point) != nil:
			return true
		case p.Pod != nil:
			return !snapshot.SameUID(m.Path.PodUID, string(p.Pod.UID))
		}
		return p.X.PodByUID(m.Path.PodUID) != nil
	})
}
