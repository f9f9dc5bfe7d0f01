package nfs

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Hard are NFS mounts of volumes that wait for ever when their server goes.
type Hard struct {
	Names   []string // what is mounted: sources, or volumes where no mount was seen
	Volumes []*snapshot.Volume
	Is      evidence.Answer // that there are some
}

func (h *Hard) add(name string, v *snapshot.Volume) {
	if !slices.Contains(h.Names, name) {
		h.Names = append(h.Names, name)
	}
	if v != nil && !slices.Contains(h.Volumes, v) {
		h.Volumes = append(h.Volumes, v)
	}
}

// Longhorn tells whether a share of Longhorn is among them, Others whether another volume is.
func (h *Hard) Longhorn() bool { return slices.ContainsFunc(h.Volumes, (*snapshot.Volume).IsLonghorn) }

// Others tells whether a volume is among them that is none of Longhorn's.
func (h *Hard) Others() bool {
	return slices.ContainsFunc(h.Volumes, func(v *snapshot.Volume) bool { return !v.IsLonghorn() })
}

// HardMounts reads the options of the mounts of a node that was looked at.
func HardMounts(pl *evidence.Place) Hard {
	var out Hard
	if pl.View == nil {
		return out
	}
	var facts []report.Evidence
	for _, m := range pl.View.VolumePaths() {
		if isNFS(m.Mount) && m.Mount.HasSuper("hard") && !m.Mount.HasSuper("soft") && !m.Mount.HasSuper("softerr") {
			facts = append(facts, evidence.FromMount(pl.Node, nil, m.Mount))
			out.add(m.Mount.Source, pl.X.VolumeOfPath(pl.Node, m.Mount.Point))
		}
	}
	out.Is = evidence.When(len(facts) > 0, facts...)
	return out
}

// HardByClass are the shares of Longhorn on a node that was not looked at whose mounts
// must have got such options: by the nfsOptions of the volume, else by the release.
func HardByClass(pl *evidence.Place) Hard {
	var out Hard
	var facts []report.Evidence
	version := pl.X.LonghornVersion()
	for _, v := range pl.X.VolumesOn(pl.Node) {
		if !v.RegularRWX() || len(v.LiveConsumersOn(pl.Node)) == 0 {
			continue
		}
		options := v.Attribute("nfsOptions")
		switch {
		case slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return strings.TrimSpace(o) == "hard" }):
			facts = append(facts, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes[nfsOptions]", options))
		case options == "" && hardByDefault(version):
			facts = append(facts, evidence.FromAPI("Longhorn", "version", version+", whose defaults are vers=4.1,noresvport,intr,hard"))
		default:
			continue
		}
		out.add(v.PVName(), v)
	}
	out.Is = evidence.When(len(facts) > 0, facts...)
	return out
}

// hardByDefault tells whether a release of Longhorn mounts its shares hard by default:
// 1.4.0 to 1.4.3, 1.5.0 and 1.5.1. That of 1.5.2 is soft, by way of a misspelt softerr (longhorn/longhorn#6655, #7104).
func hardByDefault(version string) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	return slices.Contains([]string{"1.4.0", "1.4.1", "1.4.2", "1.4.3", "1.5.0", "1.5.1"}, version)
}

func isNFS(m probes.Mount) bool { return m.FSType == "nfs" || m.FSType == "nfs4" }
