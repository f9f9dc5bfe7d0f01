package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// misplaced tells whether the only disk behind a target or subsystem that a volume names is none of its disks. A place
// without a number within it is an identity only where each volume has one of its own; some drivers have one for a
// host (Trident's NVMe subsystems, groups of HPE 3PAR): the last disk that is left there is anybody's.
func (x *Index) misplaced(view *NodeView, v *Volume, place string, b *probes.BlockDevice) bool {
	if slices.ContainsFunc([]string{b.Serial, b.WWID, b.VPD83, view.Serial(b)}, v.Names) {
		return false
	}
	if o := x.ids()[BareWWID(b.WWID)]; o != nil && !v.Same(o) {
		return true
	}
	return x.contested(view, v, b.Dev) || v.unlike(VolumeDevice{Node: view.Name, View: view, Dev: b.Dev, Block: b}) || x.shared(v, place)
}

// unlike tells whether a volume states an identity of the kind that a disk has, and the disk has another one: of
// the same maker (the first seven digits of an NAA id are its format and OUI; SPC-4, 7.8.6.6), or a namespace's UUID.
func (v *Volume) unlike(d VolumeDevice) bool {
	stated := v.WWIDs()
	return slices.ContainsFunc(d.identities(), func(id string) bool {
		kind, digits, _ := strings.Cut(id, ".")
		return !slices.Contains(stated, digits) && slices.ContainsFunc(stated, func(s string) bool {
			return len(s) == len(digits) && (kind == "naa" && s[:7] == digits[:7] || kind == "uuid" && slices.Contains(v.namespaceUUIDs(), s))
		})
	})
}

// namespaceUUIDs are the UUIDs of NVMe namespaces that the volume's source or its attachers state.
func (v *Volume) namespaceUUIDs() []string {
	var out nodeList
	for _, values := range v.spoken() {
		for key, value := range values {
			if k := strings.ToLower(key); strings.Contains(k, "uuid") && !strings.Contains(k, "subsys") && !strings.Contains(k, "host") && (strings.Contains(k, "namespace") || strings.Contains(k, "nvme")) && len(BareWWID(value)) == 32 {
				out.add(BareWWID(value))
			}
		}
	}
	slices.Sort(out)
	return out
}

// spoken are the attributes of the PV, and what attachers answered for any node.
func (v *Volume) spoken() []map[string]string {
	out := v.spokenOn("")
	for _, va := range v.Attachments {
		out = append(out, va.Status.AttachmentMetadata)
	}
	return out
}

// shared tells whether another volume names the same target or subsystem.
func (x *Index) shared(v *Volume, place string) bool {
	users := x.Memo("snapshot.places", func() any {
		out := map[string][]*Volume{}
		for _, o := range x.Volumes {
			if o.PV == nil {
				continue
			}
			for _, at := range o.places() {
				out[at] = append(out[at], o)
			}
		}
		return out
	}).(map[string][]*Volume)
	return slices.ContainsFunc(users[place], func(o *Volume) bool { return !v.Same(o) })
}

// places are the targets and subsystems that a volume names for any node.
func (v *Volume) places() []string {
	var out nodeList
	if s := v.PV.Spec.ISCSI; s != nil {
		out.add(s.IQN)
	}
	for _, values := range v.spoken() {
		for _, at := range slices.Concat(targetsIn(values), subsystemsIn(values)) {
			out.add(at)
		}
	}
	return out
}
