package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// resizerRights are what the first step of an expansion needs (external-resizer:
// deploy/kubernetes/rbac.yaml); resizers before 1.0 updated where later ones patch.
var resizerRights = []rbac.Right{{Resource: "persistentvolumeclaims/status", Verb: "patch|update"}, {Resource: "persistentvolumes", Verb: "patch|update"}}

// ResizerNotWorking finds a claim whose raised size, or whose new class of attributes, nobody
// acts on.
var ResizerNotWorking = &diagnosis.Rule{
	Name: "resizer-not-working", Layer: diagnosis.Claim, Severity: report.Degraded,
	Breaks:   []diagnosis.Step{diagnosis.Resizing, diagnosis.Modifying},
	YieldsTo: []string{"driver-not-installed", "longhorn-control-plane-down"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(claims.Wishes(pl), func(w claims.Wish) *diagnosis.Proof {
			return resizerMute(pl, csi.SidecarOf(pl.X, pl.Volume.CSIName(), "csi-resizer"), pl.Volume.CSIName(), w)
		})
	},
}

func resizerMute(pl *evidence.Place, resizer csi.Sidecar, driver string, wish claims.Wish) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	kind, none := claims.Unexpandable(pl)
	accountNS, account := resizer.Account()
	lacking, lacks := rbac.Lacks(pl.X, accountNS, account, "persistentvolumeclaims", resizerRights...)
	down := evidence.Any(resizer.Down(), resizer.LeaseOld("external-resizer-"+snapshot.DashedDriver(driver)))
	unheard := resizer.Unconnected()
	refused, forbidden := resizer.Denied()
	if !forbidden.Yes() {
		refused = rbac.Refusal{Namespace: accountNS, Account: account, Verb: "patch", Resource: "persistentvolumeclaims/status"}
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim),
		With: words.Fields{"claim": ns + "/" + claim, "want": wish.Want, "got": wish.Got, "driver": driver,
			"resizer": resizer.Where(), "account": refused.Namespace + ":" + refused.Account, "lacking": lacking, "kind": kind},
		State:   wish.Unserved,
		Waiting: wish.JustNow,
	}
	check := remedy.Check("See what the claim says; an event Resizing or VolumeModify shows that a resizer works.", remedy.Kubectl("-n", ns, "get", "events", "--field-selector", "involvedObject.name="+claim))
	switch {
	case driver == "":
		p.Says, p.AtMost, p.State = "kind", report.Likely, append([]evidence.Answer{none}, wish.Unserved...)
		p.Steps = remedy.Sentences("A directory or a share is as large as what it lies on, whatever the claim says: make room there. A local volume whose path is a disk grows by hand: enlarge the disk, then raise spec.capacity of the PersistentVolume to its size, and the kubelet enlarges the filesystem. For a volume with a size of its own, make a new claim of a class whose driver has a csi-resizer, and copy the data.")
		return p
	case forbidden.Yes() || lacks.Yes():
		p.Says, p.Waiting = "forbidden", false
		p.State = append([]evidence.Answer{evidence.Any(forbidden.With(lacks.Facts()...), lacks)}, p.State...)
		check = remedy.Check("See what the resizer may do; then let "+refused.Role()+" grant what the current manifest of the driver grants.", remedy.Kubectl(refused.CanI()...))
	case resizer.Where() == "":
		p.Says, p.AtMost = "absent", report.Likely
		p.State = append(unserved(wish), resizer.Absent())
	case unheard.Yes():
		p.Says, p.State = "unconnected", append(unserved(wish), unheard)
	default:
		p.Says = "down"
		p.State = append(unserved(wish), down)
		p.Waiting = p.Waiting && len(resizer.Pods) > 0 // one that is scaled to 0 does not come by waiting
	}
	p.Steps = []remedy.Step{check}
	if len(resizer.Pods) == 0 && len(resizer.Workloads) > 0 && provision.ScaledDown(resizer.Workloads[0]) {
		p.Steps = append(p.Steps, remedy.ScaleUp(resizer.Workloads[0]))
	}
	cure := "Start or repair the resizer of driver " + driver + "."
	switch p.Says {
	case "unconnected":
		cure = "Give csi-resizer the socket on which the driver's own container of the same pod listens (--csi-address, and the volume with the socket), as its siblings have it; if theirs is the same, repair the driver's container."
	case "absent":
		cure = "If driver " + driver + " can change volumes, install csi-resizer with its ClusterRole beside the driver's other sidecars (its chart or operator may have an option for that); if it cannot, make a new claim as it shall be, and copy the data."
	}
	p.Steps = append(p.Steps, remedy.Words(cure+" Do not edit the status of the claim or the capacity of the volume by hand: the storage would not follow."))
	return p
}

// unserved is that nobody acts on a wish, or nobody any more: the resizer went on the way.
func unserved(wish claims.Wish) []evidence.Answer {
	if wish.Begun.Yes() {
		return []evidence.Answer{wish.Begun}
	}
	return wish.Unserved
}
