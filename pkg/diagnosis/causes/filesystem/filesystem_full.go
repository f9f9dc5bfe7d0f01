package filesystem

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Full finds filesystems without bytes or inodes: a volume's own, and the node's
// below the kubelet's directory.
var Full = &diagnosis.Rule{
	Name: "filesystem-full", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Resizing},
	LeadsTo: []string{"filesystem-readonly-after-error", "longhorn-disk-full", "pod-directory-orphaned", "node-down", "node-kubelet-down-workload-alive"},
	Asks:    diagnosis.EachPlace | diagnosis.EachPod | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return nodeFull(pl)
		}
		if pool, closed := filesystem.PoolOf(pl); closed && pool.Spent() {
			return []*diagnosis.Proof{poolFull(pl, pool)}
		}
		s := filesystem.SpaceOf(pl)
		if pl.Volume.Block() || s.Is.No() {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.VolumeOwner(pl.Volume), Says: "said", State: []evidence.Answer{s.Is}, Last: []evidence.Answer{s.Empty},
			With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "point": s.Point, "lacks": s.Lacks, "type": ""},
			Steps: remedy.VolumeRoom(pl.Volume), NotTo: []string{"filesystem-readonly-after-error"},
		}
		if s.Quota {
			p.Says, p.Steps = "quota", append(p.Steps, remedy.Words("The quota may be one of a user, a group or a directory and is kept where the filesystem is: with a share, on its server."))
			return []*diagnosis.Proof{p}
		}
		if s.Mount == nil { // its pod says so
			p.LookAlikes = []diagnosis.LookAlike{{Cause: "a filesystem that has room by now", Is: filesystem.Room(pl)}}
			return []*diagnosis.Proof{p}
		}
		p.Says, p.With["type"] = "volume", s.Mount.FSType
		if !s.Met(pl) {
			p.Severity = report.Degraded
		}
		switch {
		case s.Shared(pl):
			p.Says, p.Subject, p.Steps = "shared", diagnosis.NodeSubject(pl.Node), remedy.NodeRoom(pl.Node)
		case strings.HasPrefix(s.Mount.FSType, "nfs"):
			p.Says = "server"
		}
		p.Carried(pl.Volume, pl.Node, s.Mount.Dev)
		return []*diagnosis.Proof{p}
	},
}

// poolFull judges a thin pool below the volume: the kernel has the last word on it.
func poolFull(pl *evidence.Place, pool filesystem.Pool) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.VolumeOwner(pl.Volume), Says: pool.Says(), State: []evidence.Answer{evidence.Yes(pool.Shows(pl.Node))},
		With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "pool": pool.Block.Name, "number": pool.Block.Dev.String()},
		Steps: remedy.PoolRoom(pl.Node),
	}
	if pool.Past {
		p.AtMost = report.Likely
	}
	if pool.Block.DM != nil {
		p.With["pool"] = pool.Block.DM.Name
	}
	p.Carried(pl.Volume, pl.Node, pool.Block.Dev)
	return p
}

// nodeFull judges the filesystem below the kubelet's directory of a node where a pod of the
// question waits, ends or complains, or that shall be looked at.
func nodeFull(pl *evidence.Place) []*diagnosis.Proof {
	s := filesystem.KubeletSpace(pl)
	if s.Is.No() || pl.Node == "" || pl.Pod != nil && !s.Said.Yes() && !filesystem.Troubled(pl) {
		return nil
	}
	p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), Says: "node", State: []evidence.Answer{s.Is}, Last: []evidence.Answer{s.Empty}, Steps: remedy.NodeRoom(pl.Node), NotTo: []string{"filesystem-readonly-after-error"},
		With: words.Fields{"node": pl.Node, "root": s.Point, "on": s.On, "lacks": s.Lacks, "pressure": ""}}
	if pl.View == nil {
		p.Says = "node-said"
	} else if filesystem.Unpressed(pl) {
		p.With["pressure"] = "DiskPressure"
	}
	p.Node(pl.Node)
	return []*diagnosis.Proof{p}
}
