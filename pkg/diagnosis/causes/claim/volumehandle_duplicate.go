package claim

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumehandleDuplicate finds volumes that kubelet and attach-detach controller take
// for one: two PVs with one driver and handle, or one claim twice in one pod.
var VolumehandleDuplicate = &diagnosis.Rule{
	Name: "volumehandle-duplicate", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Unread(evidence.Resource(pl.X, "/persistentvolumes"))} // the twin can be one that was not read
		out = append(out, evidence.Each(claims.TwinsOf(pl), func(t claims.Twins) *diagnosis.Proof { return sameHandle(pl, t) })...)
		for _, t := range claims.TwiceIn(pl) {
			w, v := t.Pod, pl.Volume
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name), Says: "twice",
				With:  words.Fields{"pod": w.Namespace + "/" + w.Name, "claim": v.Claim.Name, "count": fmt.Sprint(len(t.Names)), "names": strings.Join(t.Names, ", ")},
				State: []evidence.Answer{t.Is},
				Last:  []evidence.Answer{t.Waits},
				Steps: []remedy.Step{remedy.Words("Name the claim once in spec.volumes and use that volume in several volumeMounts, with subPath where the places differ.")},
			}
			p.At(w.Spec.NodeName)
			p.Pod(w)
			out = append(out, p)
		}
		return out
	},
}

func sameHandle(pl *evidence.Place, t claims.Twins) *diagnosis.Proof {
	v, w := pl.Volume, t.Waiter
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolume", "", t.Newer.PV.Name), Says: "twins",
		With: words.Fields{"older": t.Older.PV.Name, "newer": t.Newer.PV.Name, "handle": v.Handle, "driver": v.Driver, "pod": w.Namespace + "/" + w.Name,
			"node": w.Spec.NodeName, "users": claims.UsedBy(t.Older) + "; " + claims.UsedBy(t.Newer)},
		State: []evidence.Answer{evidence.Yes(t.Here.Facts()...)},
		Last:  []evidence.Answer{t.Here, t.Alone},
		Steps: []remedy.Step{remedy.Words("Give each volume a handle of its own: with policy Retain, make PersistentVolume " + t.Newer.PV.Name + " anew with another volumeHandle " +
			"(many drivers ignore a suffix such as ##name, or tell a rule for it), or let one claim serve both with two subPaths. The policy must be Retain before a PersistentVolume is removed.")},
	}
	if t.Apart { // a handle of its own for the same disk would bring it to two nodes
		p.Says, p.Steps = "apart", []remedy.Step{remedy.Words("Decide which workload shall have the disk, and end the other one, or give it a volume of its own (a clone, a snapshot). Do not give one of the two another handle for the same disk: two nodes would write to it. Before a PersistentVolume is removed its policy must be Retain.")}
	}
	p.Volume(t.Older)
	p.Volume(t.Newer)
	p.Object("pv", t.Older.PV.Name)
	p.Object("pv", t.Newer.PV.Name)
	p.At(w.Spec.NodeName)
	p.Pod(w)
	return p
}
