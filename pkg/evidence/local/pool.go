package local

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pool is what a volume is cut from on its node.
type Pool struct {
	Kind   string // lvm | zfs
	Name   string
	Volume string // the logical volume or dataset; empty: not known by name
	Named  evidence.Answer
}

// lvOf finds the logical volume that a text misses: "special device /dev/vg/lv does not
// exist", "Volume group "vg" not found".
var (
	lvOf = regexp.MustCompile(`special device /dev/([\w.+-]+)/([\w.+-]+) does not exist`)
	vgOf = regexp.MustCompile(`Volume group "([\w.+-]+)" not found`)
	dsOf = regexp.MustCompile(`cannot open '([\w.:-]+)/([\w.:-]+)': dataset does not exist|not able to get the device: /dev/zvol/([\w.:-]+)/([\w.:-]+)`)
)

// notGroups are directories of /dev that are no volume groups.
var notGroups = []string{"mapper", "disk", "longhorn", "block", "rbd", "drbd", "zvol", "md"}

// PoolOf finds the pool of the place's volume: named by the PV, or by a text.
func PoolOf(pl *evidence.Place) (Pool, bool) {
	v := pl.Volume
	pv := func(key string) evidence.Answer {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes["+key+"]", v.Attribute(key)))
	}
	if g := v.Attribute("openebs.io/volgroup"); g != "" {
		return Pool{"lvm", g, v.CSIHandle(), pv("openebs.io/volgroup")}, true
	}
	if z := v.Attribute("openebs.io/poolname"); z != "" {
		z, _, _ = strings.Cut(z, "/")
		return Pool{"zfs", z, v.CSIHandle(), pv("openebs.io/poolname")}, true
	}
	for _, t := range pl.Refused() {
		said := evidence.Yes(t.Evidence())
		if m := lvOf.FindStringSubmatch(t.Raw); m != nil && !slices.Contains(notGroups, m[1]) {
			return Pool{"lvm", m[1], m[2], said}, true
		}
		if m := vgOf.FindStringSubmatch(t.Raw); m != nil {
			return Pool{"lvm", m[1], "", said}, true
		}
		if m := dsOf.FindStringSubmatch(t.Raw); m != nil {
			return Pool{"zfs", m[1] + m[3], m[2] + m[4], said}, true
		}
	}
	return Pool{}, false
}

// Absent asks whether the place's node has nothing of the pool active. partly tells that
// other volumes of it are there: then only this one is gone.
func (p Pool) Absent(pl *evidence.Place) (partly bool, a evidence.Answer) {
	if pl.View == nil {
		return false, evidence.Unseen(pl.Probed().Lacks()...)
	}
	if p.Kind == "zfs" {
		return false, p.zpoolAbsent(pl)
	}
	whole := pl.Tables(probes.Block, probes.DeviceNodes)
	prefix := strings.ReplaceAll(p.Name, "-", "--") + "-"
	for i := range pl.View.Facts.Block {
		d := pl.View.Facts.Block[i].DM
		if d == nil || !strings.HasPrefix(d.UUID, "LVM-") || !ofGroup(d.Name, prefix) {
			continue
		}
		if p.Volume == "" || d.Name == prefix+strings.ReplaceAll(p.Volume, "-", "--") {
			return false, evidence.No().With(evidence.FromNode(pl.Node, "sys/class/block/"+pl.View.Facts.Block[i].Name+"/dm/name", d.Name))
		}
		partly = true
	}
	at := "/dev/" + p.Name + "/" + p.Volume
	if _, there := pl.View.NumberAt(at); there && p.Volume != "" {
		return partly, evidence.No()
	}
	return partly, whole.Nothing(evidence.FromNode(pl.Node, "sys/class/block/dm-*/dm/name", "no "+prefix+strings.ReplaceAll(p.Volume, "-", "--")))
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
	for path := range pl.View.Facts.Files {
		if strings.HasPrefix(path, dir+p.Name+"/") {
			return evidence.No()
		}
	}
	if !pl.View.Facts.Module("zfs").Loaded {
		return evidence.No() // no ZFS at all: kernel-module-missing
	}
	return pl.Tables(probes.Files).Nothing(evidence.FromNode(pl.Node, dir, "no "+p.Name))
}

// Why is what keeps a pool from being there, by a fact of its own.
type Why struct {
	Says string // inactive | locked | unknown
	Fact report.Evidence
}

// WhyOf looks at the disks of the node: a member with LVM's label that nothing holds is
// not activated; a LUKS disk of crypttab without a mapper is locked.
func (p Pool) WhyOf(pl *evidence.Place) Why {
	var out Why
	for i := range pl.View.Facts.Block {
		b := &pl.View.Facts.Block[i]
		c, ok := pl.View.Facts.Contents[b.Dev]
		if !ok || len(b.Holders) > 0 || len(pl.View.HoldersOf(b.Dev)) > 0 {
			continue
		}
		fact := evidence.FromNode(pl.Node, "@content/"+b.Dev.String(), "TYPE="+c.Type+", and nothing holds "+b.Name)
		switch {
		case c.Type == "LVM2_member" && p.Kind == "lvm":
			return Why{"inactive", fact}
		case c.Type == "crypto_LUKS" && inCrypttab(pl.View, b, c):
			out = Why{"locked", fact}
		}
	}
	if out.Says == "" {
		out.Says = "unknown"
	}
	return out
}

func inCrypttab(view *snapshot.NodeView, b *probes.BlockDevice, c probes.Content) bool {
	tab := view.Facts.Files["etc/crypttab"].Content
	return c.UUID != "" && strings.Contains(tab, c.UUID) || strings.Contains(tab, "/dev/"+b.Name)
}

// Fails asks whether a mount of the volume fails on the place's node now.
func Fails(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Refused() {
		if !t.Ordinary && strings.HasPrefix(t.Op, "MountVolume") && (t.Node == "" || t.Node == pl.Node) {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.No()
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
