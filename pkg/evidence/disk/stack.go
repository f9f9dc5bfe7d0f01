// Package disk answers questions about one block device of one node: is it mounted,
// open, held, in use in any other way, and is it still the one that it was.
package disk

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stack is a device with its partitions and everything that lies on them, itself
// first: who mounts, opens or swaps to any of them uses the device.
func stack(view *snapshot.NodeView, dev probes.Dev) []*probes.BlockDevice {
	base := view.Device(dev)
	if base == nil {
		return nil
	}
	out := []*probes.BlockDevice{base}
	add := func(b *probes.BlockDevice) {
		if !slices.ContainsFunc(out, func(o *probes.BlockDevice) bool { return o.Name == b.Name }) {
			out = append(out, b)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, p := range view.PartitionsOf(out[i].Dev) {
			add(p)
		}
		for _, h := range view.HoldersOf(out[i].Dev) {
			add(h.Device)
		}
	}
	return out
}
