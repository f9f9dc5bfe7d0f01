package remedy

import (
	"strconv"
)

// BootOn lets a node boot whose unit logs in to the records of targets that are not there.
func BootOn(node, unit string, records int) []Step {
	return Sentences(
		"Wait for the time-outs (about two minutes for each of the "+strconv.Itoa(records)+" records), or on the console of node "+node+" remove the records of Longhorn's targets that have no session.",
		"Then disable "+unit+" (not iscsid), unless the node needs automatic logins to real targets: Longhorn logs in by itself.",
	)
}
