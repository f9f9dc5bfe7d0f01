package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ProvisionerNotResponding finds pending claims on which no provisioner acts: it is not
// there, or the claim's annotations do not call it.
var ProvisionerNotResponding = &diagnosis.Rule{
	Name: "provisioner-not-responding", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		wanted := provision.Wanted(pl)
		if !wanted.Yes() {
			return []*diagnosis.Proof{{State: []evidence.Answer{wanted}}} // without its class nobody knows who is asked
		}
		s, ok := provision.SilenceOf(pl)
		if !ok {
			return nil
		}
		c := pl.Volume.Claim
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
			With: words.Fields{"claim": c.Namespace + "/" + c.Name, "age": evidence.Duration(pl.X.Age(c.CreationTimestamp.Time)), "why": s.Why,
				"class": pl.Volume.Class.Name, "provisioner": s.Name},
			State: append(s.State, wanted), Last: s.Last, Waiting: s.Waiting,
			Steps: []remedy.Step{silenceStep(s),
				remedy.Words("Verify: the claim gets a Provisioning event. Deleting a claim does not make the provisioner work; never delete one that is bound or was restored.")},
		}
		p.Pods(holder.Waiters(pl.Volume)...)
		if s.Kind == "pod" {
			p.Pod(s.Pod)
		}
		return []*diagnosis.Proof{p}
	},
}

func silenceStep(s provision.Silence) remedy.Step {
	switch s.Kind {
	case "leader":
		return remedy.Words("Read the log of the provisioner and see who holds the lease; a leader that hangs is replaced when its pod is deleted.")
	case "mute":
		return remedy.PodLooks(s.Pod, "Read what the provisioner in pod "+s.Pod.Namespace+"/"+s.Pod.Name+" said last; one that hangs is replaced when its pod is deleted.")
	case "barred":
		return remedy.Words("Give ServiceAccount " + s.Account + " the roles of the driver's release (often a chart of another version, or a RoleBinding for another namespace). The provisioner tries again by itself.")
	case "pod":
		if s.OwnVolume {
			return remedy.Check("Ask why the volume of pod "+s.Pod.Namespace+"/"+s.Pod.Name+" does not come, and cure that: the pod takes the claim up by itself as soon as it runs.",
				remedy.Kubectl("mountdoctor", "pod", s.Pod.Name, "-n", s.Pod.Namespace))
		}
		if s.Unplaced {
			return remedy.PodLooks(s.Pod, "Make room for pod "+s.Pod.Namespace+"/"+s.Pod.Name+", or change what keeps it from the nodes that have some. It takes the claim up by itself as soon as it runs.")
		}
		return remedy.PodLooks(s.Pod, "Repair pod "+s.Pod.Namespace+"/"+s.Pod.Name+": read its state and the last line of its log. It takes the claim up by itself as soon as it runs.")
	case "workload":
		return remedy.Staff(s.Workload, s.Refused)
	case "annotation":
		return remedy.Words("Give the claim both annotations, " + provision.Annotations() + ", with the value " + s.Name +
			" (what a backup tool leaves out or carries over is the usual origin), or make the pending claim anew from its spec without them. It is empty as long as it is Pending.")
	}
	return remedy.Words("Install or start the provisioner " + s.Name + ", or correct the class when the name is misspelt: a class cannot be edited there, so make it anew under a new name or after deletion, and the pending claim with it.")
}
