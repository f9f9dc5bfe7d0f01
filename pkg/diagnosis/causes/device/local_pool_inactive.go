package device

import (
	"cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/local"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// LocalPoolInactive finds a volume whose pool or logical volume is not there on its node.
var LocalPoolInactive = &diagnosis.Rule{
	Name: "local-pool-inactive", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Provisioning},
	LeadsTo:  []string{"local-disk-not-mounted", "provisioning-failed"},
	YieldsTo: []string{"kernel-module-missing", "topology-conflict", "multipath-claims-device"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Node == "" {
			return poolToCut(pl)
		}
		pool, ok := local.PoolOf(pl)
		if !ok {
			return nil
		}
		but, absent := pool.Absent(pl)
		why, probed := pool.WhyOf(pl), evidence.Yes()
		if pl.View == nil {
			absent, probed = pool.Unlisted(pl), evidence.Unseen(pl.Probed().Lacks()...)
		}
		if keyless, imported := pool.Keyless(pl); keyless.Yes() {
			why.Says, absent, probed = "key", keyless, imported
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: pool.Kind + "-" + why.Says,
			With:  words.Fields{"node": pl.Node, "pool": pool.Name, "volume": pl.Volume.PVName()},
			State: []evidence.Answer{local.Fails(pl), pool.Named, absent.With(why.Fact), local.MadeHere(pl)},
			Last:  []evidence.Answer{probed},
		}
		if but != "" {
			p.Says, p.AtMost = but, report.Likely // it may be inactive or deleted; the disk may be another group's
		}
		p.Steps = poolSteps(pl.Node, pool, cmp.Or(but, why.Says))
		return []*diagnosis.Proof{p}
	},
}

// poolToCut is of a claim whose volume shall be cut from a pool that its node does not have.
func poolToCut(pl *evidence.Place) []*diagnosis.Proof {
	pool, at, ok := local.PoolFor(pl)
	if !ok {
		return nil
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(at.Node), Says: "making", AtMost: report.Likely,
		With:  words.Fields{"node": at.Node, "pool": pool.Name, "volume": pl.Volume.Called()},
		State: []evidence.Answer{provision.Pending(pl), pool.Named, pool.NotThere(at)},
		Steps: poolSteps(at.Node, pool, ""),
	}
	p.Users(pl.Volume.Waiting()...)
	return []*diagnosis.Proof{p}
}

func poolSteps(node string, pool local.Pool, why string) []remedy.Step {
	show, help := poolHelp(pool, why)
	commands := evidence.Each(show, func(c []string) remedy.Command { return remedy.OnNode(node, c...) })
	return []remedy.Step{
		remedy.Check("See the pool and its disks.", commands...),
		remedy.Words(help + " Do not make a new pool over the old disks, and take no missing disk out of it: the data are on them."),
	}
}

// poolHelp is what shows the state of a pool, and what brings it back.
func poolHelp(pool local.Pool, why string) (show [][]string, help string) {
	switch pool.Kind {
	case "lvm":
		show = [][]string{{"pvs", "-o", "+missing"}, {"lvs", "-a", "-o", "+lv_active,lv_health_status", pool.Name}}
		help = "With all disks of the group there, " + remedy.Inline("vgchange", "-ay", pool.Name) + " activates it; the mount follows by itself. So that it lasts: the group's disks must be accepted at boot (devices file, global_filter, auto_activation_volume_list)."
	case "zfs":
		show = [][]string{{"zpool", "import"}, {"zpool", "status", "-x"}}
		help = "With all disks of the pool there, " + remedy.Inline("zpool", "import", pool.Name) + " brings it back (never -f while another host could have it, never -F or -X); the mount follows by itself. So that it lasts: zfs-import-cache or zfs-import-scan enabled, and a stable hostid."
	case "md":
		show = [][]string{{"cat", "/proc/mdstat"}}
		help = "With all disks of the array there, " + remedy.Inline("mdadm", "--assemble", "--scan") + " brings it back; the mount of its entry and the pods follow. So that it lasts: its entry in mdadm.conf, and in the initramfs."
	}
	switch why {
	case "stale":
		help = "Stop the pods that use the group on this node; then " + remedy.Inline("vgchange", "-an", pool.Name) + " and " + remedy.Inline("vgchange", "-ay", pool.Name) + " map it over the disk that is there. Check the filesystem before the next mount: writes were lost. Nothing may be formatted."
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
