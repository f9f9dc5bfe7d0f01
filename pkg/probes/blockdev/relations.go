package blockdev

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// parents finds the disk of each partition. On a machine the entry is a link
// ".../block/sda/sda1"; a recording may hold plain directories, then the longest
// device name that begins the partition's name is its disk.
func parents(h host.Host, all []probes.BlockDevice) {
	known := make(map[string]bool, len(all))
	for _, d := range all {
		known[d.Name] = d.Partition == 0
	}
	for i := range all {
		d := &all[i]
		if d.Partition == 0 {
			continue
		}
		if link, err := h.ReadLink(entry(d.Name)); err == nil {
			if p := strings.ReplaceAll(path.Base(path.Dir(link)), "!", "/"); known[p] {
				d.Parent = p
				continue
			}
		}
		d.Parent = ParentName(d.Name, func(n string) bool { return known[n] })
	}
}

func entry(name string) string { return root + "/" + strings.ReplaceAll(name, "/", "!") }

// ParentName derives a disk's name from that of its partition. The kernel puts a
// "p" before the number when the disk's name ends in a digit (disk_name in
// block/partitions/core.c).
func ParentName(partition string, exists func(string) bool) string {
	base := strings.TrimRight(partition, "0123456789")
	if base == partition || base == "" {
		return ""
	}
	if p, ok := strings.CutSuffix(base, "p"); ok && p != "" && p[len(p)-1] >= '0' && p[len(p)-1] <= '9' {
		base = p
	}
	if !exists(base) {
		return ""
	}
	return base
}

// mirror completes holders by slaves and the reverse: the kernel makes both links
// together (bd_link_disk_holder in block/holder.c), so one of them proves the
// other even where a recording holds only one.
func mirror(all []probes.BlockDevice) {
	at := make(map[string]int, len(all))
	for i, d := range all {
		at[d.Name] = i
	}
	for i := range all {
		name := all[i].Name
		for _, s := range all[i].Slaves {
			if j, ok := at[s]; ok {
				all[j].Holders = include(all[j].Holders, name)
			}
		}
		for _, o := range all[i].Holders {
			if j, ok := at[o]; ok {
				all[j].Slaves = include(all[j].Slaves, name)
			}
		}
	}
}

func include(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	list = append(list, name)
	slices.Sort(list)
	return list
}
