package remedy

import (
	"slices"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BootOn lets a node boot whose unit logs in to the records of targets that are not there.
func BootOn(node, unit string, records int) []Step {
	return Sentences(
		"Wait for the time-outs (about two minutes for each of the "+strconv.Itoa(records)+" records), or on the console of node "+node+" remove the records of Longhorn's targets that have no session.",
		"Then disable "+unit+" (not iscsid), unless the node needs automatic logins to real targets: Longhorn logs in by itself.",
	)
}

// Calm is how logins stop to scan, where one of the disks came with one; a sentence, or nothing.
func Calm(view *snapshot.NodeView, disks ...*probes.BlockDevice) string {
	if !slices.ContainsFunc(disks, func(b *probes.BlockDevice) bool { return view.SessionOfDisk(b.Name) != nil }) {
		return ""
	}
	return " Set node.session.scan = manual, so that logins stop scanning every LUN."
}
