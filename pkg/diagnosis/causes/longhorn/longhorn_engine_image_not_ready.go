package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// EngineImageNotReady finds an engine image that is missing on a node where the
// engine or a replica of the volume must start.
var EngineImageNotReady = &diagnosis.Rule{
	Name: "longhorn-engine-image-not-ready", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching},
	LeadsTo: []string{"longhorn-replica-unschedulable"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil || lh.IsV2(v) {
			return nil // the v2 data engine lives in the instance-manager
		}
		var out []*diagnosis.Proof
		for _, ei := range pl.X.Cluster.Longhorn.EngineImages {
			if v.Image != "" && ei.Image == v.Image {
				out = append(out, imageNotReady(pl, ei))
			}
		}
		if len(out) == 0 {
			out = append(out, imageGone(pl))
		}
		return out
	},
}

func imageGone(pl *evidence.Place) *diagnosis.Proof {
	v := pl.Volume.LH()
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "gone",
		With:  words.Fields{"volume": v.Name, "image": v.Image, "state": lh.OrNone(v.Status.State)},
		State: []evidence.Answer{lh.WantedUnattached(pl.X, pl.Volume), lh.ImageGone(pl)},
		Steps: []remedy.Step{remedy.Words("Add the engine image of that name in the Longhorn UI (Setting, Engine Image), and wait until it is deployed. Upgrade the engine of the volume, while it is detached, only after that.")},
	}
	if v.Image == "" {
		p.Says = "none"
		p.Steps = []remedy.Step{remedy.Words("Find the image that its replicas and its engine had last (spec.image and status.currentImage of them, or a backup of the object), and what emptied the field: a restore or an apply of an old manifest, a default engine image that was empty. With a backup of the volume, restore it into a new one; Longhorn refuses an edit of the field alone.")}
	}
	return p
}

func imageNotReady(pl *evidence.Place, ei *snapshot.LHEngineImage) *diagnosis.Proof {
	v := pl.Volume.LH()
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("EngineImage", ei.Namespace, ei.Name),
		With:    words.Fields{"name": ei.Name, "image": ei.Image, "volume": v.Name, "state": lh.OrNone(v.Status.State), "why": ""},
		State:   []evidence.Answer{lh.WantedUnattached(pl.X, pl.Volume)},
	}
	if old := lh.Incompatible(ei); old.Yes() {
		p.Says, p.State = "incompatible", append(p.State, old)
		p.Steps = []remedy.Step{remedy.Words("Upgrade the engine of the volume while it is detached, to an image that this version of Longhorn supports.")}
		return p
	}
	nodes := lh.WithoutImage(pl.X, pl.Volume, ei)
	why, missing := lh.ImageMissing(pl.X, ei, nodes)
	p.Says, p.With["why"] = "missing", why
	p.At(evidence.Each(nodes, func(n lh.Imageless) string { return n.Node })...)
	p.State = append(p.State, missing.With(lh.ImageWords(pl, ei)...))
	p.LookAlikes = []diagnosis.LookAlike{{Cause: "a node that is down or whose manager is", Is: lh.AnyDown(pl.X, nodes)}}
	p.Steps = []remedy.Step{
		remedy.Words("Repair the pod of DaemonSet engine-image-" + ei.Name + " there: the image pull, a taint, an eviction, a full disk. Verify: status.nodeDeploymentMap of " + ei.Name + " is true for the node; the volume then attaches by itself."),
		remedy.Words("Leave the image of the volume as it is: other volumes on the node may use an older image that is deployed."),
	}
	return p
}
