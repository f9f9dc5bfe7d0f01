package volume

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// Name is the name that people use for a volume.
func Name(v *snapshot.Volume) string {
	switch lh := v.LH(); {
	case lh != nil:
		return lh.Name
	case v.PVName() != "":
		return v.PVName()
	}
	return v.Spoken()
}
