package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttachmentStaleInBackend finds disks that the storage backend holds attached, or
// still detaching, while Kubernetes has no attachment there.
var AttachmentStaleInBackend = &diagnosis.Rule{
	Name: "attachment-stale-in-backend", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing}, // a driver may attach as a part of mounting
	YieldsTo: []string{"volume-mapped-outside-cluster"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		b, ok := holder.BackendOf(pl)
		if !ok {
			return nil
		}
		on, listed, who := "", "", "Kubernetes"
		if b.Node != nil {
			on = b.Node.Name
		}
		if b.Listed {
			listed, who = on, ""
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: b.Says,
			With: words.Fields{"volume": volume.Name(pl.Volume), "node": b.Waiter.Spec.NodeName, "pod": pods.Name(b.Waiter), "age": pods.Ago(pl.X, b.Text.At),
				"machine": b.Machine, "on": on, "disk": b.Disk, "listed": listed, "who": who},
			State: []evidence.Answer{b.Refused},
			Last:  []evidence.Answer{b.There, b.Idle},
			Steps: []remedy.Step{backendStep(b)},
		}
		p.At(b.Waiter.Spec.NodeName)
		p.At(on)
		p.Pods(holder.Waiters(pl.Volume)...)
		p.Attachment(pl.Volume.Attachments...)
		return []*diagnosis.Proof{p}
	},
}

func backendStep(b holder.Backend) remedy.Step {
	where, text := "the backend's console or command line", ""
	if b.Machine != "" {
		where += " (machine " + b.Machine + ")"
	}
	if b.Node != nil {
		text = " If the disk comes back, drain node " + b.Node.Name + " first."
	}
	return remedy.Words("Look at the disk in " + where + ". If a machine really uses it, stop that first. Detach it there only when no machine mounts it, " +
		"or bring the machine's model up to date where the backend keeps a failed detach in it; the attacher tries again by itself." + text)
}
