package attach

import (
	"fmt"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttachedInAPIMissingOnNode finds a volume that the API calls attached while the
// node has no such disk.
var AttachedInAPIMissingOnNode = &diagnosis.Rule{
	Name: "attached-in-api-missing-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Offers: []string{"delete-pod"},
	YieldsTo: []string{"iscsi-portal-unreachable", "iscsi-login-rejected", "iscsid-not-running", "iscsi-tools-missing",
		"kernel-module-missing", "iscsi-node-record-invalid"},
	Asks: diagnosis.EachPlace,
	Docs: docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		va := pl.Volume.AttachmentOn(pl.Node)
		if va == nil || pl.Volume.OnRBD() {
			return nil // an image is mapped when it is staged: attaching makes no disk
		}
		if undone := lh.Undone(pl, va); undone.Yes() {
			return []*diagnosis.Proof{undoneAttach(pl, va, undone)}
		}
		return missingDisk(pl, va)
	},
}

// undoneAttach is an attachment of which the storage itself says that it has none.
func undoneAttach(pl *evidence.Place, va *storagev1.VolumeAttachment, undone evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), Says: "undone",
		With:  words.Fields{"va": va.Name, "volume": pl.Volume.PVName(), "node": pl.Node, "age": words.Ago(pl.X.Age(va.CreationTimestamp.Time)), "pod": ""},
		State: []evidence.Answer{csi.AttachedFor(pl.X, va, time.Minute), csi.WantedOn(pl, va.Spec.NodeName), undone},
	}
	attachAnew(p, pl)
	p.Object("va", va.Name)
	return p
}

// attachAnew ends the pods that wait, so that the attachment is undone and made again.
func attachAnew(p *diagnosis.Proof, pl *evidence.Place) {
	for _, w := range pl.Volume.WaitingOn(pl.Node) {
		p.Pod(w.Pod)
		if p.With["pod"] == "" {
			p.With["pod"] = w.Pod.Namespace + "/" + w.Pod.Name
			p.Steps = append(p.Steps, remedy.DeletePod(w.Pod).Note("It waits and mounts nothing; when it is gone the attachment is undone, and made again for the next pod."))
		}
	}
	p.Steps = append(p.Steps, remedy.Words("Look in the storage backend for a detach of this volume that ended after the attach, and leave the attachment's finalizer alone: the attacher must undo what the API says."))
}

func missingDisk(pl *evidence.Place, va *storagev1.VolumeAttachment) []*diagnosis.Proof {
	attached, wanted := csi.AttachedFor(pl.X, va, time.Minute), csi.WantedOn(pl, va.Spec.NodeName)
	if attached.No() || wanted.No() {
		return nil
	}
	v, told := pl.Volume, disk.ToldOn(pl)
	compared, none := disk.NoneOf(pl, va.CreationTimestamp.Time)
	names, said := disk.NamesDisks(pl), disk.SaidMissing(pl, told)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), Says: "unseen",
		With: words.Fields{"va": va.Name, "volume": v.PVName(), "node": pl.Node, "count": fmt.Sprint(compared.Count),
			"age": words.Ago(pl.X.Age(va.CreationTimestamp.Time)), "blank": words.List(compared.Blank, 4), "stranger": compared.Stranger, "pod": ""},
		State: []evidence.Answer{attached, wanted, evidence.Any(said, names), none},
		Last:  []evidence.Answer{evidence.Any(names, told.AbsentNamed(pl)), pl.Tables(probes.Block, probes.DeviceNodes).Nothing()},
		LookAlikes: []diagnosis.LookAlike{
			{Cause: "a disk that the driver's fresh words name and that is there", Is: told.Present()},
			{Cause: "a disk that comes with a login or a connection which was not made", Is: iscsi.LoggedOut(pl)},
			{Cause: "device-link-missing", Is: evidence.When(compared.Unclaimed != "")},
			{Cause: "a volume of Longhorn that has no block device yet", Is: evidence.When(v.IsLonghorn() && !pl.X.BlockDeviceUp(v))},
		},
	}
	if len(compared.Blank) > 0 || compared.Stranger != "" && !names.Yes() {
		p.AtMost = report.Possible
	}
	attachAnew(p, pl)
	p.Object("va", va.Name)
	return []*diagnosis.Proof{p}
}
