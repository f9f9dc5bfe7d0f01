package multipath

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	config "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
)

// Single asks whether multipathd runs and leaves the only path of a volume's disk without a map, although nothing
// that was read keeps it from making one, for a driver that says itself that it found none: then find_multipaths is
// not set, and what is built in decides, which is "strict" since 0.8.0 and what a distribution builds
// (multipath.conf(5)). Nobody can read that of a node, so it is no more than likely.
func Single(pl *evidence.Place, disks []*probes.BlockDevice) (why string, a evidence.Answer) {
	if pl.View == nil || len(disks) != 1 || !evidence.Any(Sought(pl), AskedFor(pl)).Yes() {
		return "", evidence.No()
	}
	m, b := pl.View.Facts.Multipath, disks[0]
	excluded, _ := config.Excluded(m.Config, diskOf(pl.View, b))
	switch {
	case !m.Active() || excluded || setting(m.Config) != "" || remembers(m, pl.View, b):
		return "", evidence.No()
	case !m.ConfigRead || !pl.Tables(probes.Maps).Complete():
		return "", evidence.No() // an exclusion, or a map, that was not read
	}
	why = "multipathd runs, find_multipaths is not set, and " + b.Name + " has one path only, of which multipathd makes no map as most distributions build it"
	return why, evidence.Yes(evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/holders", "no map over "+strings.TrimSpace(b.Name+" "+b.WWID)))
}
