package local

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// Pool is what a volume is cut from on its node.
type Pool struct {
	Kind   string // lvm | zfs | md
	Name   string
	Volume string // the logical volume or dataset; empty: not known by name
	Named  evidence.Answer
	Told   bool // by a text alone
}

// What a text misses: "special device /dev/vg/lv does not exist", "Volume group "vg" not
// found", and a ZFS volume in the words of zfs and of zfs-localpv, which follows the link of the
// device (verifyMountRequest in pkg/zfs/mount.go).
var (
	noDevice = pattern.MustCompile(`special device (/dev/\S+) does not exist|(/dev/[^\s:]+): Can't lookup blockdev`)
	vgOf     = pattern.MustCompile(`Volume group "([\w.+-]+)" not found`)
	dsOf     = pattern.MustCompile(`cannot open '([\w.:-]+)/([\w.:/-]+)': dataset does not exist|GetVolumePath failed lstat /dev/zvol/([\w.:-]+)(?:/([\w.:/-]+))?: no such file`)
)

// notGroups are directories of /dev that are no volume groups.
var notGroups = []string{"mapper", "disk", "longhorn", "block", "rbd", "drbd", "zvol", "md"}

// poolAt is the pool that a path below /dev lies in: a logical volume, an array, a volume
// of ZFS. A name with a single element, a partition or a link by identity, is none.
func poolAt(dev string, named evidence.Answer) (Pool, bool) {
	rest, ok := strings.CutPrefix(path.Clean(dev), "/dev/")
	dir, name, _ := strings.Cut(rest, "/")
	switch {
	case !ok:
		return Pool{}, false
	case array.MatchString(rest), dir == "md" && name != "":
		return Pool{Kind: "md", Name: rest, Named: named}, true
	case dir == "zvol" && strings.Contains(name, "/"):
		pool, volume, _ := strings.Cut(name, "/")
		return Pool{Kind: "zfs", Name: pool, Volume: volume, Named: named}, true
	case dir == "mapper":
		group, volume, ok := mapped(name)
		return Pool{Kind: "lvm", Name: group, Volume: volume, Named: named}, ok
	case name != "" && !strings.Contains(name, "/") && !slices.Contains(notGroups, dir):
		return Pool{Kind: "lvm", Name: dir, Volume: name, Named: named}, true
	}
	return Pool{}, false
}

var array = pattern.MustCompile(`^md\d+$`)

// mapped takes the name of a mapper apart: one dash stands between group and volume, those
// of the names are doubled (lvm(8)).
func mapped(name string) (group, volume string, ok bool) {
	const double = "\x00"
	parts := strings.Split(strings.ReplaceAll(name, "--", double), "-")
	if len(parts) != 2 {
		return "", "", false
	}
	return strings.ReplaceAll(parts[0], double, "-"), strings.ReplaceAll(parts[1], double, "-"), true
}

// rootOfDataset is the pool that a dataset lies in: what stands before its first slash.
func rootOfDataset(name string) string {
	pool, _, _ := strings.Cut(name, "/")
	return pool
}

// PoolOf finds the pool of the place's volume: named by the PV, by the entry that mounts
// its directory, or by a text.
func PoolOf(pl *evidence.Place) (Pool, bool) {
	v := pl.Volume
	pv := func(key string) evidence.Answer {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes["+key+"]", v.Attribute(key)))
	}
	if g := v.Attribute("openebs.io/volgroup"); g != "" {
		return Pool{Kind: "lvm", Name: g, Volume: v.CSIHandle(), Named: pv("openebs.io/volgroup")}, true
	}
	if z := v.Attribute("openebs.io/poolname"); z != "" {
		return Pool{Kind: "zfs", Name: rootOfDataset(z), Volume: v.CSIHandle(), Named: pv("openebs.io/poolname")}, true
	}
	if pv := pl.Volume.PV; pv != nil && pv.Spec.Local != nil {
		if p, ok := poolAt(pv.Spec.Local.Path, evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec.local.path", pv.Spec.Local.Path))); ok {
			return p, true
		}
	}
	if dir := PathOf(v); dir != "" && pl.View != nil {
		if d, source, ok := inFstab(pl, dir); ok {
			if p, ok := poolAt(source, d.Meant); ok {
				return p, true
			}
		}
	}
	for _, t := range pl.Refused() {
		said := evidence.Yes(t.Evidence())
		if m := noDevice.FindStringSubmatch(t.Raw); m != nil {
			if p, ok := poolAt(m[1]+m[2], said); ok {
				p.Told = true
				return p, true
			}
		}
		if m := vgOf.FindStringSubmatch(t.Raw); m != nil {
			return Pool{Kind: "lvm", Name: m[1], Named: said, Told: true}, true
		}
		if m := dsOf.FindStringSubmatch(t.Raw); m != nil {
			return Pool{Kind: "zfs", Name: m[1] + m[3], Volume: m[2] + m[4], Named: said, Told: true}, true
		}
	}
	return Pool{}, false
}

// Unnamed says that a volume which its driver cuts from a pool lies in one that nothing names: it is not known to be
// there. TopoLVM alone knows which group its device class is (lvmd.yaml).
func Unnamed(pl *evidence.Place) evidence.Answer {
	if driver := pl.Volume.CSIName(); pl.Volume.PV == nil || !strings.Contains(driver, "lvm") && !strings.Contains(driver, "zfs") {
		return evidence.No()
	}
	return evidence.Unseen(evidence.Lack{Need: "the pool of volume " + pl.Volume.PVName(), Node: pl.Node, Why: "neither the volume nor its driver's words name it"})
}

// Fails asks whether a mount of the volume fails on the place's node now.
func Fails(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return !t.Ordinary && t.Mounts()
	})
}

// MadeHere asks whether the volume was made on the place's node: by the owner that its
// object names, or by the PV's node affinity.
func MadeHere(pl *evidence.Place) evidence.Answer {
	for _, o := range pl.X.Cluster.Others {
		owner, _ := nested(o.Object, "spec", "ownerNodeID")
		if owner == "" || o.GetName() != pl.Volume.CSIHandle() {
			continue
		}
		return evidence.When(owner == pl.Node, evidence.FromAPI(o.GetKind()+" "+o.GetName(), "spec.ownerNodeID", owner))
	}
	if pl.Volume.PV == nil || pl.Volume.PV.Spec.NodeAffinity == nil || pl.Volume.PV.Spec.NodeAffinity.Required == nil {
		return evidence.Unseen(evidence.Lack{Need: "the node that the volume was made on", Why: "neither its object nor a node affinity says it"})
	}
	for _, t := range pl.Volume.PV.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			if slices.Contains(e.Values, pl.Node) {
				return evidence.Yes(evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec.nodeAffinity", e.Key+" in ("+strings.Join(e.Values, ",")+")"))
			}
		}
	}
	return evidence.When(Belongs(pl), evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec.nodeAffinity", "allows node "+pl.Node))
}

func nested(m map[string]any, keys ...string) (string, bool) {
	for i, k := range keys {
		if i == len(keys)-1 {
			s, ok := m[k].(string)
			return s, ok
		}
		next, ok := m[k].(map[string]any)
		if !ok {
			return "", false
		}
		m = next
	}
	return "", false
}
