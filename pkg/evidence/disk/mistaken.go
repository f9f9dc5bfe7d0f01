package disk

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Mistaken tells whether what has the name of a volume of Longhorn's v1 engine is
// provably another disk.
func Mistaken(pl *evidence.Place, d snapshot.VolumeDevice) bool {
	v := pl.Volume
	return v.Longhorn != nil && !isV2(v) && !d.Proven && d.Block != nil && foreign(pl, d.Block) != ""
}

// foreign says whose disk a device provably is, as a sentence goes on, when it is not that
// of the place's Longhorn volume.
func foreign(pl *evidence.Place, d *probes.BlockDevice) string {
	own := "/dev/longhorn/" + LonghornName(pl.Volume)
	if s := pl.View.SessionOfDisk(d.Name); s != nil && s.Target != "" {
		if strings.HasSuffix(s.Target, ":"+strings.ReplaceAll(LonghornName(pl.Volume), "_", ":")) {
			return ""
		}
		return " but that of target " + s.Target
	}
	for _, n := range pl.View.NodesOf(d.Dev) {
		if strings.HasPrefix(n.Path, "/dev/longhorn/") && n.Path != own {
			return ": " + n.Path + " has that number, too"
		}
	}
	if (strings.TrimSpace(d.Vendor) != "IET" || strings.TrimSpace(d.Model) != "VIRTUAL-DISK") && d.DM == nil && d.LoopFile == "" {
		return " and no Longhorn disk"
	}
	return ""
}

// LonghornName is what Longhorn calls a volume.
func LonghornName(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	return v.Handle
}

func isV2(v *snapshot.Volume) bool { return v.LH() != nil && v.LH().DataEngine == "v2" }
