package attach

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// BackendThrottled finds a backend that limits or delays the calls of a driver.
var BackendThrottled = &diagnosis.Rule{
	Name: "backend-throttled", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching, diagnosis.Provisioning, diagnosis.Resizing, diagnosis.Modifying},
	YieldsTo: []string{"attach-limit-exceeded"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := evidence.Each(pl.Volume.Attachments, func(va *storagev1.VolumeAttachment) *diagnosis.Proof { return throttledAttachment(pl, va) })
		if texts := cloud.OfClaim(pl); len(texts) > 0 {
			ns, name := pl.Volume.ClaimRef()
			began := cloud.Began(pl.X, texts, "PersistentVolumeClaim", ns, name)
			look := remedy.Check("See what was tried last, and when it is tried again.", remedy.Kubectl("-n", ns, "describe", "pvc", name))
			if p := throttled(pl, texts, diagnosis.ObjectSubject("PersistentVolumeClaim", ns, name), began, look); p != nil {
				p.Breaks = []diagnosis.Step{diagnosis.Provisioning, diagnosis.Resizing}
				if pl.Volume.PV != nil { // it only has less than it could
					p.Severity, p.Breaks = report.Degraded, []diagnosis.Step{diagnosis.Resizing, diagnosis.Modifying}
				}
				out = append(out, p)
			}
		}
		return out
	},
}

func throttledAttachment(pl *evidence.Place, va *storagev1.VolumeAttachment) *diagnosis.Proof {
	lasts, since := cloud.Lasts(pl.X, va)
	if lasts.No() {
		return nil
	}
	look := remedy.Check("See how many operations wait, and that some get through. The attacher tries again at least every five minutes.",
		remedy.Kubectl("get", "volumeattachment", "-o", "custom-columns=N:.metadata.name,NODE:.spec.nodeName,A:.status.attached,E:.status.attachError.message"))
	p := throttled(pl, cloud.OfAttachment(pl, va), diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), since, look)
	if p == nil {
		return nil
	}
	p.State = append(p.State, lasts)
	p.Breaks = []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching}
	p.Object("va", va.Name)
	p.At(va.Spec.NodeName)
	return p
}

func throttled(pl *evidence.Place, texts []evidence.Text, subject report.Subject, began time.Time, look remedy.Step) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: subject, Says: "rate", With: words.Fields{"object": subject.Kind + " " + subject.Name},
		State:      []evidence.Answer{cloud.Slowed(texts)},
		LookAlikes: []diagnosis.LookAlike{{Cause: "attach-limit-exceeded", Is: cloud.CountReached(texts)}},
		Waiting:    !began.IsZero() && pl.X.Age(began) < 30*time.Minute && cloud.Repeats(pl.X, texts),
		Steps: []remedy.Step{
			look,
			remedy.Words("Wait. Each pod or attachment that is deleted and made again adds calls. When it returns: move fewer volumes at once (drain one node at a time, a PodDisruptionBudget), ask for a higher quota of calls, or lower the number of workers of the sidecars."),
		},
	}
	if p.State[0].No() {
		if pl.Volume.IsLonghorn() { // what Longhorn works on stands in its own objects
			return nil
		}
		p.AtMost = report.Likely
		if p.Says, p.State[0] = cloud.Slow(pl, texts); p.Says == "machine" {
			p.Steps[1] = remedy.Words("Wait for the machine's own task, and look in the storage backend whether it goes on: a task that hangs there (a resize to be confirmed, a lock) has to be ended there.")
		}
		p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "attachment-stale-in-backend", Is: cloud.NamesHolder(texts)})
	}
	return p
}
