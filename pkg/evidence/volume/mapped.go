package volume

import (
	"maps"
	"slices"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OnProbed asks whether some node that was probed has the volume's device or a mount of it.
func OnProbed(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	var facts []report.Evidence
	for _, d := range x.Devices(v) {
		if d.Block != nil && x.Node(d.Node) != nil {
			facts = append(facts, evidence.FromNode(d.Node, d.Locator, d.How))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(x.NodeViews)) {
		if x.Node(n) == nil {
			continue
		}
		for _, m := range x.VolumeMounts(v, n) {
			facts = append(facts, evidence.FromNode(n, "proc/1/mountinfo", m.Mount.Raw))
		}
	}
	return evidence.Reading{}.Found(facts...)
}

// Probed says whether nodes were probed: those given, else all of the cluster.
func Probed(x *snapshot.Index, nodes ...string) evidence.Answer {
	whole := evidence.Resource(x, "/nodes")
	if len(nodes) == 0 {
		for _, n := range x.Cluster.Nodes {
			nodes = append(nodes, n.Name)
		}
	}
	for _, n := range nodes {
		whole = whole.And(evidence.NodePlace(x, n).Probed())
	}
	return whole.Nothing()
}

// LeftOn asks whether an attachment is to be undone on a machine whose Node object is gone.
func LeftOn(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	if va.DeletionTimestamp == nil || x.Node(va.Spec.NodeName) != nil {
		return evidence.No()
	}
	return evidence.Resource(x, "/nodes").Nothing(
		evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", va.DeletionTimestamp.UTC().Format(time.RFC3339)),
		evidence.FromAPI("Node "+va.Spec.NodeName, "", "not found"))
}

// MountedOnLost asks whether the recording of a machine shows that the volume is mounted there now.
func MountedOnLost(x *snapshot.Index, v *snapshot.Volume, machine string) (where string, a evidence.Answer) {
	view := x.View(machine)
	if view == nil {
		return "", evidence.No()
	}
	if now := evidence.OfNow(x, view); !now.Yes() {
		return "", now
	}
	if d, ok := x.DeviceOn(v, machine); ok {
		for _, dev := range d.Numbers() {
			for _, u := range view.Uses(dev) {
				return u.Mount.Point, evidence.Yes(evidence.FromMount(machine, u.NS, u.Mount))
			}
		}
	}
	for _, m := range x.VolumeMounts(v, machine) {
		return m.Mount.Point, evidence.Yes(evidence.FromNode(machine, "mountinfo", m.Mount.Raw))
	}
	return "", evidence.TablesFor(x, v, machine, probes.Mounts).Found()
}
