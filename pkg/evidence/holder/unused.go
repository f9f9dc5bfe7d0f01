package holder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// users are the tables in which something that uses a volume can be.
var users = []probes.Table{probes.Machine, probes.Block, probes.DeviceNodes, probes.Swaps, probes.Superblocks, probes.Mounts, probes.Processes, probes.Descriptors}

// Unused asks whether nothing on a node uses a volume that should have left it: no mount,
// holder, live superblock, swap, descriptor or client map. The session that Longhorn keeps
// while a volume is attached is not use; a session or map that the node plugin makes at
// staging is. The words say what was looked at.
func Unused(x *snapshot.Index, v *snapshot.Volume, on string) (string, evidence.Answer) {
	view, whole := x.View(on), evidence.TablesFor(x, v, on, users...)
	if view == nil {
		return "Whether the node still mounts or maps it was not checked", whole.Nothing()
	}
	if ms := x.VolumeMounts(v, on); len(ms) > 0 {
		return "", evidence.No()
	}
	d, found := x.DeviceOn(v, on)
	if found && used(v, view, d) {
		return "", evidence.No()
	}
	if !view.AllNamespacesRead() {
		whole = whole.And(evidence.Partial(evidence.Lack{Need: "node/" + on + "/" + string(probes.Mounts), Node: on, Why: fmt.Sprintf("the tables of %d mount namespaces could not be read", view.Unread())}))
	}
	so := "The node was looked at: "
	if !whole.Complete() {
		so += "as far as it could be read, "
	}
	if !found {
		return so + "it has no mount and no device of the volume",
			whole.And(unidentified(v, view)).Nothing(evidence.FromNode(on, "sys/class/block", "no device of volume "+volume.Name(v)))
	}
	facts := []report.Evidence{evidence.FromNode(on, d.Locator, d.How)}
	if d.Block != nil {
		facts = append(facts, evidence.FromNode(on, "sys/class/block/"+d.Block.Name+"/holders", strings.Join(d.Block.Holders, " ")+" (empty)"))
	}
	return so + fmt.Sprintf("device %s is in no mount table, has no holder, no live superblock and no process with it open", d.Dev), whole.Nothing(facts...)
}

// unidentified notes disks that may be the volume's: where no disk was found by its
// identity, one without any, or of the volume's size, refutes nothing.
func unidentified(v *snapshot.Volume, view *snapshot.NodeView) evidence.Reading {
	var out evidence.Reading
	if v.Longhorn != nil {
		return out // Longhorn's disks are known by their session
	}
	d := disk.Compare(v, view)
	for _, name := range append(d.Blank, d.Unclaimed, d.Stranger) {
		if name != "" {
			out = out.And(evidence.Partial(evidence.Lack{Need: "whether disk " + name + " of node " + view.Name + " is the volume's", Node: view.Name, Why: "nothing on it says so"}))
		}
	}
	if d.Match {
		out = out.And(evidence.Partial(evidence.Lack{Need: "which disk of node " + view.Name + " is the volume's", Node: view.Name, Why: "one carries its name but could not be matched"}))
	}
	return out
}

// used tells whether something on the node works with a volume's device.
func used(v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) bool {
	for _, dev := range d.Numbers() {
		if len(view.Uses(dev)) > 0 || view.Superblock(dev) != nil || view.Swap(dev) != nil || len(view.Openers(dev)) > 0 {
			return true
		}
	}
	if slices.ContainsFunc(view.HoldersOf(d.Dev), func(h snapshot.Holder) bool { return d.Mapper == nil || h.Device.Dev != d.Mapper.Dev }) {
		return true
	}
	switch {
	case d.Mapper != nil && d.Mapper.DM != nil && strings.HasPrefix(d.Mapper.DM.UUID, "CRYPT-"):
		return true
	case d.Block == nil || v.Longhorn != nil:
		return false
	}
	return strings.HasPrefix(d.Block.Name, "rbd") || strings.HasPrefix(d.Block.Name, "nbd") || view.SessionOfDisk(d.Block.Name) != nil
}
