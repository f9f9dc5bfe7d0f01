package snapshot

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// iscsiIdentity is the first target and the LUN that a volume names, on any node.
func (v *Volume) iscsiIdentity() (iqn, lun string) {
	targets, lun := v.ISCSITargets("")
	if len(targets) == 0 {
		return "", lun
	}
	return targets[0], lun
}

// ISCSITargets are the targets and the LUN of a volume that its source and, for a node,
// what the attacher told that node about it name: by value, because drivers spell the
// keys differently. A name of an initiator among them meets no session.
func (v *Volume) ISCSITargets(node string) (targets []string, lun string) {
	if v == nil || v.PV == nil {
		return nil, ""
	}
	if s := v.PV.Spec.ISCSI; s != nil {
		return []string{s.IQN}, decimal(s.Lun)
	}
	for _, values := range v.spokenOn(node) {
		for _, a := range targetsIn(values) {
			if !slices.Contains(targets, a) {
				targets = append(targets, a)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if strings.Contains(strings.ToLower(key), "initiator") {
				continue
			}
			if n, err := strconv.Atoi(values[key]); err == nil && lunKey(key) && n >= 0 && lun == "" {
				lun = values[key]
			}
		}
	}
	return targets, lun
}

// targetsIn are the iSCSI targets among what is said of a volume.
func targetsIn(values map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if strings.Contains(strings.ToLower(key), "initiator") {
			continue
		}
		for _, a := range strings.FieldsFunc(values[key], func(r rune) bool { return strings.ContainsRune(" ,;[]\"", r) }) {
			if targetName(a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// spokenOn are the attributes of the PV, and what the attacher answered for a node.
func (v *Volume) spokenOn(node string) []map[string]string {
	var out []map[string]string
	if c := v.PV.Spec.CSI; c != nil {
		out = append(out, c.VolumeAttributes)
	}
	if f := v.PV.Spec.FlexVolume; f != nil {
		out = append(out, f.Options)
	}
	if va := v.AttachmentOn(node); va != nil {
		out = append(out, va.Status.AttachmentMetadata)
	}
	return out
}

func targetName(s string) bool {
	return strings.HasPrefix(s, "iqn.") || strings.HasPrefix(s, "eui.") || strings.HasPrefix(s, "naa.")
}

// lunKey tells whether a key is that of a LUN's number: lun, LUN, iscsiLunNumber,
// mappedLUN, LUN_ADDRESS, and not of its id or serial.
func lunKey(key string) bool {
	k := strings.ToLower(key)
	return strings.Contains(k, "lun") && !strings.Contains(k, "id") && !strings.Contains(k, "serial") && !strings.Contains(k, "type")
}

// sanDevice finds a disk behind an iSCSI target and LUN, an FC port and LUN, or
// an NVMe subsystem. Every path to it is kept.
func (x *Index) sanDevice(view *NodeView, v *Volume) (match, bool) {
	if v.IsLonghorn() || v.PV == nil {
		return match{}, false
	}
	targets, lun := v.ISCSITargets(view.Name)
	var all match
	for _, iqn := range targets {
		m, ok := iscsiDevice(view, iqn, lun)
		if ok && (lun != "" || !x.misplaced(view, v, iqn, view.Device(m.dev))) {
			all.join(m, view)
		}
	}
	if fc := v.PV.Spec.FC; fc != nil && fc.Lun != nil {
		if m, ok := pathsByLink(view, func(link string) bool {
			return slices.ContainsFunc(fc.TargetWWNs, func(w string) bool {
				w = strings.TrimPrefix(strings.ToLower(w), "0x")
				return strings.HasSuffix(strings.ToLower(link), "-fc-0x"+w+"-lun-"+decimal(*fc.Lun))
			})
		}); ok {
			all.join(m, view)
		}
	}
	if len(all.paths) > 0 && !x.givenOn(view, v, all.paths) {
		return all.finish()
	}
	return x.nvmeDevice(view, v)
}

// givenOn tells whether what lies at a volume's target and LUN is by its own name the disk of another volume that is wanted on
// the node: the array gave the number to that one since. Where nobody wants that one there, the node kept what it had.
func (x *Index) givenOn(view *NodeView, v *Volume, paths []*probes.BlockDevice) bool {
	return !slices.ContainsFunc(paths, func(b *probes.BlockDevice) bool {
		id := BareWWID(b.WWID)
		o := x.called(id)
		return o == nil || v.Same(o) || v.Names(b.WWID) || !o.wantedOn(view.Name) || b.VPD83 != "" && !strings.Contains(strings.ToLower(b.VPD83), id)
	})
}

func iscsiDevice(view *NodeView, iqn, lun string) (match, bool) {
	var m match
	for _, s := range view.SessionsOf(iqn) {
		for i, name := range s.Disks {
			b := view.ByName(name)
			if b == nil || b.Dev.IsZero() {
				continue
			}
			have := lunOf(s, i, b)
			if lun != "" && have != "" && have != lun || (have == "" || lun == "") && len(s.Disks) > 1 {
				continue
			}
			m.addPath(b)
			if m.how == "" {
				m.how = "disk " + name + " of iSCSI session " + s.Name + " of " + iqn
				m.locator = "sys/class/iscsi_session/" + s.Name
			}
		}
	}
	if len(m.paths) > 0 {
		return m.finish()
	}
	if lun == "" {
		return match{}, false
	}
	return pathsByLink(view, func(link string) bool { return strings.HasSuffix(link, "-iscsi-"+iqn+"-lun-"+lun) })
}

// pathsByLink collects the disks that links in dev/disk/by-path lead to; udev
// writes them from what the transport says of the disk.
func pathsByLink(view *NodeView, fits func(string) bool) (match, bool) {
	var m match
	for _, l := range view.Facts.DevLinks {
		if !strings.HasPrefix(l.Path, "/dev/disk/by-path/") || !fits(l.Path) {
			continue
		}
		dev, ok := view.NumberAt(l.Path)
		b := view.Device(dev)
		if !ok || b == nil {
			continue
		}
		m.addPath(b)
		if m.how == "" {
			m.how, m.locator = "link "+l.Path, l.Path[1:]
		}
	}
	return m.finish()
}

// MapsOf returns the multipath maps on a node whose WWID names the volume, also
// those without paths: a map outlives its disks. The UUID is "mpath-<wwid>".
func (x *Index) MapsOf(v *Volume, node string) []*probes.BlockDevice {
	view := x.View(node)
	if view == nil || v == nil || v.IsLonghorn() {
		return nil
	}
	var want []string
	var out []*probes.BlockDevice
	for _, b := range view.Blocks() {
		if b.DM == nil || !strings.HasPrefix(b.DM.UUID, "mpath-") {
			continue
		}
		if want == nil { // most nodes have no map
			want = mapTokens(v)
		}
		if fieldNames(strings.TrimPrefix(b.DM.UUID, "mpath-"), want) {
			out = append(out, b)
		}
	}
	return out
}

// mapTokens are the ids by which the map of a volume may be called.
func mapTokens(v *Volume) []string {
	want := tokens(v)
	if v.PV != nil && v.PV.Spec.FC != nil {
		for _, w := range v.PV.Spec.FC.WWIDs {
			want = append(want, Plain(w))
		}
	}
	return want
}

// NVMeSubsystems are the subsystems of NVMe over a fabric that the volume's source and, for a
// node, its attacher name: by value, alone or at the end of an address
// ("nvmf://10.1.0.6:8420/nqn.2019-05.io.openebs:vol", Mayastor's). A host's own name is none.
func (v *Volume) NVMeSubsystems(node string) []string {
	if v == nil || v.PV == nil {
		return nil
	}
	var out []string
	for _, values := range v.spokenOn(node) {
		for _, a := range subsystemsIn(values) {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

func subsystemsIn(values map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if k := strings.ToLower(key); strings.Contains(k, "host") || strings.Contains(k, "initiator") {
			continue
		}
		for _, a := range strings.FieldsFunc(values[key], func(r rune) bool { return strings.ContainsRune(" ,;[]\"?", r) }) {
			if a = a[strings.LastIndexByte(a, '/')+1:]; strings.HasPrefix(a, "nqn.") {
				out = append(out, a)
			}
		}
	}
	return out
}

func (x *Index) nvmeDevice(view *NodeView, v *Volume) (match, bool) {
	named := v.NVMeSubsystems(view.Name)
	for i := range view.Facts.NVMe {
		s := &view.Facts.NVMe[i]
		if len(s.Namespaces) != 1 || !slices.Contains(named, s.NQN) {
			continue
		}
		if b := view.ByName(s.Namespaces[0]); b != nil && !b.Dev.IsZero() && !x.misplaced(view, v, s.NQN, b) {
			return match{dev: b.Dev, proven: true, how: "disk " + b.Name + " of NVMe subsystem " + s.NQN, locator: "sys/class/nvme-subsystem/" + s.Name}, true
		}
	}
	return match{}, false
}

func (m *match) addPath(b *probes.BlockDevice) {
	if !slices.Contains(m.paths, b) {
		m.paths = append(m.paths, b)
	}
}

// join takes the paths of another way to the same volume.
func (m *match) join(o match, view *NodeView) {
	if len(o.paths) == 0 {
		o.paths = []*probes.BlockDevice{view.Device(o.dev)}
	}
	for _, b := range o.paths {
		m.addPath(b)
	}
	if m.how == "" {
		m.how, m.locator = o.how, o.locator
	}
}

// finish makes the first path D; a single path is no path list.
func (m *match) finish() (match, bool) {
	if len(m.paths) == 0 {
		return match{}, false
	}
	slices.SortStableFunc(m.paths, func(a, b *probes.BlockDevice) int {
		if a.Dev.Major != b.Dev.Major {
			return int(a.Dev.Major) - int(b.Dev.Major)
		}
		return int(a.Dev.Minor) - int(b.Dev.Minor)
	})
	m.dev, m.proven = m.paths[0].Dev, true
	if len(m.paths) == 1 {
		m.paths = nil
	}
	return *m, true
}
