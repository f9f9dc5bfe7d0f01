package disk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// looked is the node with the stack of a device, or what keeps it from being seen.
func looked(x *snapshot.Index, on string, dev probes.Dev, tables ...probes.Table) (*snapshot.NodeView, []*probes.BlockDevice, evidence.Reading) {
	whole := node.Whole(x, on, append(tables, probes.Block)...)
	view := x.View(on)
	if view == nil {
		return nil, nil, whole
	}
	all := stack(view, dev)
	if len(all) == 0 {
		whole = whole.And(evidence.Partial(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: "no device has the number " + dev.String()}))
	}
	return view, all, whole
}

// Unmounted asks whether no mount table of the node has the device, or anything
// that lies on it, and no filesystem of it is alive without a mount that was seen.
func Unmounted(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	view, all, whole := looked(x, on, dev, probes.Mounts, probes.Superblocks)
	for _, b := range all {
		for _, u := range view.Uses(b.Dev) {
			return evidence.No(evidence.FromMount(on, u.NS, u.Mount))
		}
		if s := view.Superblock(b.Dev); s != nil {
			return evidence.No(evidence.FromNode(on, s.Locator, "the filesystem is alive"))
		}
	}
	if view == nil {
		return whole.Nothing()
	}
	return whole.Nothing(evidence.FromNode(on, "proc/*/mountinfo", fmt.Sprintf("no line with %s in %d mount namespaces", numbers(all), len(view.Facts.Namespaces))))
}

// Closed asks whether no process has the device, a file on it, or anything that
// lies on it open.
func Closed(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	view, all, whole := looked(x, on, dev, probes.Descriptors)
	for _, b := range all {
		for _, o := range view.Openers(b.Dev) {
			return evidence.No(evidence.FromNode(on, o.Descriptor.Path, fmt.Sprintf("%s (%s)", o.Descriptor.Target, o.Process.Comm)))
		}
	}
	if view == nil {
		return whole.Nothing()
	}
	return whole.Nothing(evidence.FromNode(on, "proc/*/fd", fmt.Sprintf("nothing on %s open in %d processes", numbers(all), len(view.Facts.Processes))))
}

// Bare asks whether nothing lies on the device besides what is named: no map, array,
// loop or cache, and no swap.
func Bare(x *snapshot.Index, on string, dev probes.Dev, besides ...string) evidence.Answer {
	view, all, whole := looked(x, on, dev, probes.Swaps)
	for i, b := range all {
		if s := view.Swap(b.Dev); s != nil {
			return evidence.No(evidence.FromNode(on, "proc/swaps", s.Path))
		}
		if i > 0 && b.Parent != all[0].Name && !slices.Contains(besides, b.Name) {
			return evidence.No(evidence.FromNode(on, "sys/class/block/"+all[0].Name+"/holders", b.Name))
		}
	}
	if len(all) == 0 {
		return whole.Nothing()
	}
	return whole.Nothing(evidence.FromNode(on, "sys/class/block/"+all[0].Name+"/holders", cmp.Or(strings.Join(all[0].Holders, " "), "empty")))
}

// Alone is Bare, and no exclusive open was refused: a pool of ZFS and the backstore of a target
// leave no holder.
func Alone(x *snapshot.Index, on string, dev probes.Dev, besides ...string) evidence.Answer {
	bare, view := Bare(x, on, dev, besides...), x.View(on)
	if b := view.Device(dev); b != nil {
		return evidence.All(bare, evidence.Not(Refused(view, b)))
	}
	return bare
}

// Refused asks whether an exclusive open of a device was refused on which nothing was seen to lie.
func Refused(view *snapshot.NodeView, b *probes.BlockDevice) evidence.Answer {
	claim := view.Facts.Claims[b.Dev]
	return evidence.When(claim != "" && claim != "free" && len(b.Holders) == 0, evidence.FromNode(view.Name, "@claim/"+b.Dev.String(), claim))
}

// Unclaimed is Claimable for what the kernel takes away while it is in use, too (a disk of SCSI): what was seen
// to lie on it explains a refusal, and is asked for by itself.
func Unclaimed(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	if b := x.View(on).Device(dev); b != nil && len(b.Holders) > 0 {
		return evidence.Yes()
	}
	return Claimable(x, on, dev)
}

// Free asks whether nothing at all uses the device.
func Free(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	return evidence.All(Unmounted(x, on, dev), Closed(x, on, dev), Alone(x, on, dev))
}

// Claimable asks whether an exclusive open of the device succeeded: the kernel then
// knows no mount, holder or claim in any namespace (blkdev_get_by_dev, FMODE_EXCL).
func Claimable(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	whole := node.Whole(x, on, probes.Contents)
	view := x.View(on)
	if view == nil {
		return whole.Nothing()
	}
	switch claim := view.Facts.Claims[dev]; claim {
	case "":
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Contents), Node: on, Why: "no exclusive open was tried"})
	case "free":
		return evidence.Yes(evidence.FromNode(on, "@claim/"+dev.String(), claim))
	default:
		return evidence.No(evidence.FromNode(on, "@claim/"+dev.String(), claim))
	}
}

func numbers(all []*probes.BlockDevice) string {
	out := evidence.Each(all, func(b *probes.BlockDevice) string { return b.Dev.String() })
	return strings.Join(out, ", ")
}
