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
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttachedInAPIMissingOnNode finds a volume that the API calls attached while the
// node has no such disk.
var AttachedInAPIMissingOnNode = &diagnosis.Rule{
	Name: "attached-in-api-missing-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Offers: []string{"delete-pod", "scale-to-0"},
	YieldsTo: []string{"iscsi-portal-unreachable", "iscsi-login-rejected", "iscsid-not-running", "iscsi-tools-missing",
		"kernel-module-missing", "iscsi-node-record-invalid"},
	Asks: diagnosis.EachPlace,
	Docs: docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		va := pl.Volume.AttachmentOn(pl.Node)
		if va == nil || pl.Volume.OnRBD() {
			return nil // an image is mapped when it is staged: attaching makes no disk
		}
		waits, state := pl.Volume.WaitingOn(pl.Node), []evidence.Answer{csi.AttachedFor(pl.X, va, time.Minute), csi.WantedOn(pl, va.Spec.NodeName)}
		if evidence.All(state...).No() {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), State: state, Steps: remedy.AttachAnew(pl.X, waits),
			With: words.Fields{"va": va.Name, "volume": pl.Volume.PVName(), "node": pl.Node, "age": evidence.Duration(pl.X.Age(va.CreationTimestamp.Time)), "pod": ""},
		}
		if undone := lh.Undone(pl, va); undone.Yes() { // the storage itself says that it has none
			p.Says, p.State = "undone", append(p.State, undone)
		} else {
			missingDisk(pl, va, p)
		}
		if len(waits) > 0 {
			p.With["pod"] = pods.Name(waits[0].Pod)
		}
		p.Users(waits...)
		p.Attachment(va)
		return []*diagnosis.Proof{p}
	},
}

// missingDisk compares an attachment with the disks of its node.
func missingDisk(pl *evidence.Place, va *storagev1.VolumeAttachment, p *diagnosis.Proof) {
	v, told := pl.Volume, disk.ToldOn(pl)
	compared, none := disk.NoneOf(pl, va.CreationTimestamp.Time)
	names, form, said := disk.NamesDisks(pl), disk.NamesByHandle(pl), disk.SaidMissing(pl, told)
	other := told.OtherByLink(pl, compared.Stranger)
	p.Says, p.With["count"], p.With["blank"], p.With["stranger"] = "unseen", fmt.Sprint(compared.Count), words.List(compared.Blank, 4), compared.Stranger
	p.State = append(p.State, evidence.Any(said, names, form), none)
	p.Last = []evidence.Answer{evidence.Any(names, told.AbsentNamed(pl)), pl.Tables(probes.Block, probes.DeviceNodes).Nothing()}
	p.LookAlikes = []diagnosis.LookAlike{
		{Cause: "a disk that the driver's fresh words name and that is there", Is: told.Present()},
		{Cause: "a disk that comes with a login or a connection which was not made", Is: iscsi.LoggedOut(pl)},
		{Cause: "device-link-missing", Is: evidence.When(compared.Unclaimed != "")},
		{Cause: "a volume of Longhorn that has no block device yet", Is: evidence.When(v.IsLonghorn() && !pl.X.BlockDeviceUp(v))},
	}
	if form.Yes() { // a disk of another identifier is another volume
		p.With["stranger"], compared.Stranger = "", ""
	}
	switch unsure := compared.Stranger != "" && !names.Yes(); {
	case len(compared.Blank) > 0, unsure && !other.Yes():
		p.AtMost = report.Possible
	case unsure:
		p.AtMost = report.Likely
	}
}
