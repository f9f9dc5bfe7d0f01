package launch

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// rivals are the nodes whose pods use volumes of the same iSCSI portal, where they are
// few enough to be looked at in one go: two nodes with one initiator name disturb each
// other there, and only both names show it.
func rivals(x *snapshot.Index, v *snapshot.Volume) []string {
	portal := portalOf(v)
	if portal == "" || len(v.Live()) == 0 {
		return nil
	}
	var out []string
	for _, o := range x.Volumes {
		if portalOf(o) != portal {
			continue
		}
		for _, c := range o.Live() {
			if n := c.Node(); n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	if len(out) > parallel {
		return nil
	}
	slices.Sort(out)
	return out
}

// portalOf is the iSCSI portal that a volume's PV names, in-tree or in the attributes of
// a CSI driver.
func portalOf(v *snapshot.Volume) string {
	if v.PV == nil || v.IsLonghorn() {
		return ""
	}
	if s := v.PV.Spec.ISCSI; s != nil {
		return s.TargetPortal
	}
	for _, name := range []string{"portal", "targetPortal"} {
		if p := v.Attribute(name); p != "" {
			return strings.TrimSpace(p)
		}
	}
	return ""
}
