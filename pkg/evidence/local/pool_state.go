package local

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Absent asks whether the place's node has nothing of the pool active. but tells a part: "volume",
// other volumes of it are there and only this one is gone; "stale", it is there and lies on no disk.
func (p Pool) Absent(pl *evidence.Place) (but string, a evidence.Answer) {
	if pl.View == nil {
		return "", evidence.Unseen(pl.Probed().Lacks()...)
	}
	switch p.Kind {
	case "zfs":
		return "", p.zpoolAbsent(pl)
	case "md":
		return "", p.arrayAbsent(pl)
	}
	whole := pl.Tables(probes.Block, probes.DeviceNodes)
	prefix := strings.ReplaceAll(p.Name, "-", "--") + "-"
	for _, b := range pl.View.Blocks() {
		d := b.DM
		if d == nil || !strings.HasPrefix(d.UUID, "LVM-") || !ofGroup(d.Name, prefix) {
			continue
		}
		if p.Volume == "" || d.Name == prefix+strings.ReplaceAll(p.Volume, "-", "--") {
			return "stale", p.onNothing(pl, b)
		}
		but = "volume"
	}
	at := "/dev/" + p.Name + "/" + p.Volume
	if _, there := pl.View.NumberAt(at); there && p.Volume != "" {
		return but, evidence.No()
	}
	return but, whole.Nothing(evidence.FromNode(pl.Node, "sys/class/block/dm-*/dm/name", "no "+prefix+strings.ReplaceAll(p.Volume, "-", "--")))
}

// onNothing asks whether no disk lies below a logical volume that is mapped, or only what the kernel took offline, while a disk
// with LVM's label is there that nothing holds: one that was pulled keeps its place in the map, and comes
// back under another name (drivers/md/dm-table.c, dm_get_device).
func (p Pool) onNothing(pl *evidence.Place, lv *probes.BlockDevice) evidence.Answer {
	fact := evidence.FromNode(pl.Node, "sys/class/block/"+lv.Name+"/dm/name", lv.DM.Name)
	if slices.ContainsFunc(pl.View.Leaves(lv.Dev), func(b *probes.BlockDevice) bool { return b.DM == nil && !snapshot.TakenOffline(b) }) || p.WhyOf(pl).Says != "inactive" {
		return evidence.No().With(fact)
	}
	return pl.Tables(probes.Block).Nothing(fact, evidence.FromNode(pl.Node, "sys/class/block/"+lv.Name+"/slaves", "no disk that is there and serves"))
}

// ofGroup tells whether a mapper's name is that of a volume of a group: what follows the
// group is one dash, since dashes of names are doubled.
func ofGroup(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && !strings.HasPrefix(rest, "-")
}

func (p Pool) zpoolAbsent(pl *evidence.Place) evidence.Answer {
	const dir = "proc/spl/kstat/zfs/"
	if f, ok := pl.View.Facts.Files[dir+p.Name+"/state"]; ok && f.Err == "" {
		return evidence.No().With(evidence.FromNode(pl.Node, dir+p.Name+"/state", strings.TrimSpace(f.Content)))
	}
	if pl.View.HasBelow(dir + p.Name) {
		return evidence.No()
	}
	mounted := func(u snapshot.Use) bool {
		return u.Mount.FSType == "zfs" && rootOfDataset(u.Mount.Source) == p.Name
	}
	if slices.ContainsFunc(pl.View.Under("/"), mounted) || !pl.View.Facts.Module("zfs").Loaded {
		return evidence.No() // no ZFS at all: kernel-module-missing
	}
	return pl.Tables(probes.Files).Nothing(evidence.FromNode(pl.Node, dir, "no "+p.Name))
}

// Keyless asks whether ZFS itself refuses to mount the dataset of a pool that is imported:
// its key is not loaded (zfs-load-key(8), lib/libzfs/libzfs_mount.c). The kernel says EACCES, for which
// mount(8) tries again read-only and then says only that (openebs/zfs-localpv#300): likely.
func (p Pool) Keyless(pl *evidence.Place) (said, imported evidence.Answer) {
	if p.Kind != "zfs" {
		return evidence.No(), evidence.No()
	}
	said = pl.Refused().Say(func(t evidence.Text) bool { return strings.Contains(t.Raw, "encryption key not loaded") })
	_, absent := p.Absent(pl)
	if imported = evidence.Not(absent); said.Yes() || imported.No() {
		return said, imported
	}
	dumb := "cannot mount " + p.Name + "/"
	said = pl.Refused().Say(func(t evidence.Text) bool {
		_, after, ok := strings.Cut(t.Raw, dumb)
		_, rest, _ := strings.Cut(after, " ")
		return ok && strings.HasPrefix(rest, "read-only")
	})
	return said, evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "the property keystatus of the dataset"})
}

// arrayAbsent: the kernel lists no such array, and no link leads to one.
func (p Pool) arrayAbsent(pl *evidence.Place) evidence.Answer {
	f, read := pl.View.Facts.Files["proc/mdstat"]
	if _, there := pl.View.NumberAt("/dev/" + p.Name); there || slices.ContainsFunc(pl.View.Facts.Block, func(b probes.BlockDevice) bool { return b.Name == p.Name }) {
		return evidence.No()
	}
	if !read || f.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: "proc/mdstat was not read"})
	}
	return pl.Tables(probes.Block, probes.DeviceNodes).Nothing(evidence.FromNode(pl.Node, "proc/mdstat", "no "+p.Name))
}

// Unlisted asks whether the driver's own object of the node lacks the pool, or says that
// a disk of it is missing.
func (p Pool) Unlisted(pl *evidence.Place) evidence.Answer {
	kind := map[string]string{"lvm": "LVMNode", "zfs": "ZFSNode"}[p.Kind]
	pools, missing, known := pl.X.NodePools(kind, pl.Node)
	switch {
	case !known:
		return evidence.Unseen(pl.Probed().Lacks()...)
	case slices.Contains(missing, p.Name):
		return evidence.Yes(evidence.FromAPI(kind+" "+pl.Node, "volumeGroups["+p.Name+"].missingPvCount", "more than 0"))
	case slices.Contains(pools, p.Name): // the volume in it may still be inactive, or gone
		return pl.Probed().Nothing()
	}
	return evidence.Yes(evidence.FromAPI(kind+" "+pl.Node, "pools", "no "+p.Name))
}

// Why is what keeps a pool from being there, by a fact of its own.
type Why struct {
	Says string // inactive | missing | locked | unknown
	Fact report.Evidence
}

// WhyOf looks at the disks of the node: a member with LVM's label that nothing holds is
// not activated; a LUKS disk of crypttab without a mapper is locked.
func (p Pool) WhyOf(pl *evidence.Place) Why {
	out := Why{Says: "unknown"}
	if pl.View == nil {
		return out
	}
	for _, b := range pl.View.Blocks() {
		c, ok := pl.View.Facts.Contents[b.Dev]
		if !ok || len(b.Holders) > 0 || len(pl.View.HoldersOf(b.Dev)) > 0 {
			continue
		}
		fact := evidence.FromNode(pl.Node, "@content/"+b.Dev.String(), "TYPE="+c.Type+", and nothing holds "+b.Name)
		switch {
		case c.Type == "LVM2_member" && p.Kind == "lvm" && p.incomplete(pl.View, c):
			return Why{"missing", fact}
		case c.Type == "LVM2_member" && p.Kind == "lvm", c.Type == "linux_raid_member" && p.Kind == "md":
			return Why{"inactive", fact}
		case c.Type == "crypto_LUKS" && inCrypttab(pl.View, b, c):
			out = Why{"locked", fact}
		}
	}
	return out
}

// incomplete tells whether LVM saw this disk of the group and not all of them: it notes a
// group that is complete (pvscan(8), /run/lvm).
func (p Pool) incomplete(view *snapshot.NodeView, c probes.Content) bool {
	plain := strings.NewReplacer("-", "")
	_, complete := view.Facts.Files["run/lvm/vgs_online/"+p.Name]
	for file := range view.Facts.Files {
		if id, ok := strings.CutPrefix(file, "run/lvm/pvs_online/"); ok && c.UUID != "" && plain.Replace(id) == plain.Replace(c.UUID) {
			return !complete
		}
	}
	return false
}

func inCrypttab(view *snapshot.NodeView, b *probes.BlockDevice, c probes.Content) bool {
	tab := view.Facts.Files["etc/crypttab"].Content
	return c.UUID != "" && strings.Contains(tab, c.UUID) || strings.Contains(tab, "/dev/"+b.Name)
}
