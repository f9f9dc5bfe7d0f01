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

// FeatureUnsupported finds filesystems that are newer than the kernel, or than the
// tool that shall check them.
var FeatureUnsupported = &diagnosis.Rule{
	Name: "filesystem-feature-unsupported", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c, seen := filesystem.CarrierOf(pl)
		out := []*diagnosis.Proof{diagnosis.Unread(filesystem.Looked(pl))}
		if seen {
			out = append(out, kernelTooOld(pl, c))
		}
		if tool := filesystem.ToolOf(pl); tool.Said.Yes() {
			p := &diagnosis.Proof{
				Subject: diagnosis.VolumeSubject(pl.Volume), Says: "tool",
				With:       words.Fields{"volume": volume.Name(pl.Volume), "program": tool.Program, "feature": tool.Feature},
				State:      []evidence.Answer{tool.Said},
				Last:       []evidence.Answer{tool.Today(pl)},
				LookAlikes: []diagnosis.LookAlike{{Cause: "a refusal that is past", Is: tool.Since(pl)}},
				Steps:      []remedy.Step{remedy.Words("Let the check be made by a newer e2fsprogs or xfsprogs: the one in the driver's own image (Longhorn: inside the instance-manager or CSI plugin pod of node " + pl.Node + "), or a newer system. Never make a filesystem over it.")},
			}
			if seen {
				p.Subject = diagnosis.DeviceSubject(pl.Node, c.Block.Dev)
				p.Carried(pl.Volume, pl.Node, c.Numbers()...)
			}
			out = append(out, p)
		}
		return out
	},
}

// kernelTooOld is the kernel's own refusal, or one that it has not been asked about.
func kernelTooOld(pl *evidence.Place, c filesystem.Carrier) *diagnosis.Proof {
	feature, refused := c.UnknownToKernel()
	said := filesystem.MountRefused(pl)
	if !refused.Yes() && !said.Yes() {
		return nil // nothing is to be explained
	}
	cure := "Run the pod on a node with a newer kernel, or boot a newer one on node " + pl.Node + "."
	p := &diagnosis.Proof{
		Subject: diagnosis.DeviceSubject(pl.Node, c.Block.Dev), Says: "kernel", State: []evidence.Answer{refused},
		With:       words.Fields{"volume": volume.Name(pl.Volume), "device": c.Name(), "node": pl.Node, "kernel": pl.View.Facts.Identity.Kernel, "feature": feature, "since": ""},
		LookAlikes: []diagnosis.LookAlike{{Cause: "a mount that succeeded since", Is: c.Mounted()}},
	}
	if feature, since, younger := c.NewerThanKernel(); !refused.Yes() && younger.Yes() {
		p.Says, p.State, p.AtMost = "age", []evidence.Answer{said, younger}, report.Likely
		p.Last = []evidence.Answer{c.KernelLine("about the refusal")}
		p.With["feature"], p.With["since"] = feature, since
		cure = "Read the kernel log of node " + pl.Node + " (XFS (" + c.Block.Name + "): Superblock has unknown … features). " + cure
	}
	p.Steps = []remedy.Step{remedy.Words(cure), remedy.Words("For new volumes leave the feature out when the filesystem is made (the driver's mkfs options, a mkfsParams or similar parameter of the StorageClass); an empty volume may then be made anew. Repair tools do not help here, and nothing may be formatted over data.")}
	p.Carried(pl.Volume, pl.Node, c.Numbers()...)
	return p
}
