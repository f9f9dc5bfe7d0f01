package snapshot

import (
	"slices"
	"strings"
	"sync"
)

// Aliases are further names by which components speak of a volume: its iSCSI target or
// NVMe subsystem, WWIDs, image, share, device. Several volumes may have one of them
// (LUNs of a target, directories of a share); see Index.AliasOwner.
func (v *Volume) Aliases() []string {
	if v == nil || v.PV == nil {
		return nil
	}
	var out nodeList
	iqn, lun := v.iscsiIdentity()
	out.add(iqn)
	if iqn != "" && lun != "" {
		out.add(iqn + "-lun-" + lun) // links in /dev/disk/by-path end so
	}
	for _, w := range v.WWIDs() {
		for _, form := range []string{"", "3", "0x", "naa."} { // multipath, by-id links, sysfs
			out.add(form + w)
		}
	}
	if pool, image, ok := v.RBDImage(); ok && pool != "" {
		out.add(pool + "/" + image)
	}
	if n := v.PV.Spec.NFS; n != nil {
		out.add(n.Server + ":" + n.Path)
	}
	if c := v.PV.Spec.CSI; c != nil {
		values := make([]string, 0, len(c.VolumeAttributes))
		for _, a := range c.VolumeAttributes {
			if slices.ContainsFunc([]string{"iqn.", "nqn.", "eui.", "naa.", "/dev/disk/", "//"}, func(p string) bool { return strings.HasPrefix(a, p) }) {
				values = append(values, a)
			}
		}
		slices.Sort(values)
		for _, a := range values {
			out.add(a)
		}
		if server, share := c.VolumeAttributes["server"], c.VolumeAttributes["share"]; server != "" && strings.HasPrefix(share, "/") {
			out.add(server + ":" + share)
		}
	}
	return out
}

// AliasOwner is the volume that alone has an alias, or nil.
func (x *Index) AliasOwner(alias string) *Volume {
	x.aliases.once.Do(func() {
		x.aliases.owner = map[string]*Volume{}
		for _, v := range x.Volumes {
			for _, a := range v.Aliases() {
				if _, shared := x.aliases.owner[a]; shared {
					x.aliases.owner[a] = nil
				} else {
					x.aliases.owner[a] = v
				}
			}
		}
	})
	return x.aliases.owner[alias]
}

// aliasOwners is made when first asked for.
type aliasOwners struct {
	once  sync.Once
	owner map[string]*Volume
}
