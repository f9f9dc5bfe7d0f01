package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ReadonlyAfterError finds filesystems that the kernel closed for writing, or
// altogether, after an error.
var ReadonlyAfterError = &diagnosis.Rule{
	Name: "filesystem-readonly-after-error", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo:  []string{"filesystem-needs-fsck"},
	YieldsTo: []string{"mount-of-dead-device", "ceph-client-fenced"},
	Offers:   []string{"delete-pod", "scale-to-0"},
	Asks:     diagnosis.EachPlace | diagnosis.EachPod | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return nodeClosed(pl)
		}
		c, ok := filesystem.CarrierOf(pl)
		e := filesystem.EngineSays(pl)
		if pl.Volume.Block() || !e.Yes() && (!ok || len(c.Uses) == 0 || c.Block.ReadOnly) {
			return []*diagnosis.Proof{diagnosis.Unread(filesystem.Looked(pl))}
		}
		p := &diagnosis.Proof{
			Says: "closed", LookAlikes: []diagnosis.LookAlike{{Cause: "a mount that was asked to be read-only", Is: filesystem.AskedReadOnly(pl)}},
			With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "pods": words.List(diagnosis.PodNames(pl.Volume.LiveConsumersOn(pl.Node)), 0)},
			Steps: remedy.MountAnew(pl),
		}
		if e.Yes() { // Longhorn's word, where the node was not probed
			lh := pl.X.EngineActive(pl.Volume)
			p.Says, p.State, p.Last = "engine", []evidence.Answer{e}, []evidence.Answer{pl.Probed().Nothing()}
			p.Subject, p.With["engine"] = diagnosis.ObjectSubject("Volume", lh.Namespace, volume.Name(pl.Volume)), lh.Name
			return []*diagnosis.Proof{p}
		}
		s := filesystem.ClosedOf(c)
		p.Subject = diagnosis.DeviceSubject(pl.Node, c.Block.Dev)
		p.With["type"], p.With["device"], p.With["signs"], p.With["point"] = c.FSType(), c.Name(), s.Words(), c.Uses[0].Mount.Point
		p.State, p.Last = []evidence.Answer{s.Is()}, []evidence.Answer{s.Error()}
		p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "filesystem-needs-fsck", Is: s.Damage()})
		p.Carried(pl.Volume, pl.Node, c.Numbers()...)
		return []*diagnosis.Proof{p}
	},
}

// nodeClosed judges the node's own filesystem, on which the kubelet makes the directories of volumes.
func nodeClosed(pl *evidence.Place) []*diagnosis.Proof {
	c, ok := filesystem.KubeletCarrier(pl)
	if !ok || pl.Pod != nil && !filesystem.Troubled(pl) {
		return nil
	}
	s := filesystem.ClosedOf(c)
	if !s.Is().Yes() { // its mount options and its count of errors are always read
		return nil
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: "node", State: []evidence.Answer{s.Is()}, Last: []evidence.Answer{s.Error()},
		With:       words.Fields{"type": c.FSType(), "device": c.Name(), "node": pl.Node, "signs": s.Words(), "point": c.Uses[0].Mount.Point},
		LookAlikes: []diagnosis.LookAlike{{Cause: "filesystem-needs-fsck", Is: s.Damage()}},
		Steps:      []remedy.Step{remedy.Words("Find what is wrong with the disk of node " + pl.Node + "; then drain the node as far as it goes and reboot it, so that the filesystem is checked before it is mounted. Volumes are not at fault: do not check or format them.")},
	}
	p.Node(pl.Node)
	return []*diagnosis.Proof{p}
}
