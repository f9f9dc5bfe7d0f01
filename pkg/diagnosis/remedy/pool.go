package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/local"
)

// PoolBack brings the pool of a local volume back on its node, by what keeps it away.
func PoolBack(node string, pool local.Pool, why string) []Step {
	show, help := poolHelp(pool, why)
	commands := evidence.Each(show, func(c []string) Command { return OnNode(node, c...) })
	return []Step{
		Check("See the pool and its disks.", commands...),
		Words(help + " Do not make a new pool over the old disks, and take no missing disk out of it: the data are on them."),
	}
}

// poolHelp is what shows the state of a pool, and what brings it back.
func poolHelp(pool local.Pool, why string) (show [][]string, help string) {
	switch pool.Kind {
	case "lvm":
		show = [][]string{{"pvs", "-o", "+missing"}, {"lvs", "-a", "-o", "+lv_active,lv_health_status", pool.Name}}
		help = "With all disks of the group there, " + Inline("vgchange", "-ay", pool.Name) + " activates it; the mount follows by itself. So that it lasts: the group's disks must be accepted at boot (devices file, global_filter, auto_activation_volume_list)."
	case "zfs":
		show = [][]string{{"zpool", "import"}, {"zpool", "status", "-x"}}
		help = "With all disks of the pool there, " + Inline("zpool", "import", pool.Name) + " brings it back (never -f while another host could have it, never -F or -X); the mount follows by itself. So that it lasts: zfs-import-cache or zfs-import-scan enabled, and a stable hostid."
	case "md":
		show = [][]string{{"cat", "/proc/mdstat"}}
		help = "With all disks of the array there, " + Inline("mdadm", "--assemble", "--scan") + " brings it back; the mount of its entry and the pods follow. So that it lasts: its entry in mdadm.conf, and in the initramfs."
	}
	switch why {
	case "stale":
		help = "Stop the pods that use the group on this node; then " + Inline("vgchange", "-an", pool.Name) + " and " + Inline("vgchange", "-ay", pool.Name) + " map it over the disk that is there. Check the filesystem before the next mount: writes were lost. Nothing may be formatted."
	case "missing":
		help = "Find the disk of the group that is not there first (cable, bay, path, its own encryption): with all of them the group is activated by itself."
	case "locked":
		help = "Unlock the disk by its entry in crypttab, or with its key; then activate what lies on it."
	case "key":
		show = [][]string{{"zfs", "get", "-r", "encryptionroot,keystatus,keylocation", pool.Name}}
		help = "Load the key of the dataset's encryption root (zfs load-key); the mount follows by itself. So that it lasts: a unit that loads it at boot, before the kubelet starts."
	}
	return show, help
}
