package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// RBDFeatureUnsupported finds an RBD image that the node's kernel cannot map.
var RBDFeatureUnsupported = &diagnosis.Rule{
	Name: "rbd-feature-unsupported", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if len(pl.Volume.Waiting()) == 0 {
			return nil
		}
		hint, unsupported := ceph.Unsupported(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()),
			With:    words.Fields{"volume": volume.Name(pl.Volume)},
			State:   []evidence.Answer{unsupported},
		}
		if hint != "" {
			p.Steps = append(p.Steps, remedy.Words("Run what the message proposes on a Ceph admin host: "+hint+" (low risk, the data stay)."))
		}
		p.Steps = append(p.Steps, remedy.Words("For new volumes set imageFeatures: layering in the StorageClass, or use a newer kernel or the rbd-nbd mounter."))
		return []*diagnosis.Proof{p}
	},
}
