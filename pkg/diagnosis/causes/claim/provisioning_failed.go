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

// ProvisioningFailed finds claims whose driver was asked for a volume and refused.
var ProvisioningFailed = &diagnosis.Rule{
	Name: "provisioning-failed", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning},
	YieldsTo: []string{"backend-throttled", "longhorn-control-plane-down", "csi-credentials-wrong", "storageclass-parameter-wrong", "helper-pod-failed", "driver-configuration-wrong", "security-module-denies", "smb-access-denied", "smb-server-unreachable", "smb-mount-refused", "ceph-backend-unreachable"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		pending := provision.Pending(pl)
		if pending.No() {
			return nil
		}
		c := pl.Volume.Claim
		claim, size := c.Namespace+"/"+c.Name, c.Spec.Resources.Requests["storage"]
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "refused",
			With:  words.Fields{"claim": claim, "driver": "", "class": "", "about": "", "age": "", "code": "", "said": "", "names": "", "size": size.String(), "rooms": "", "node": ""},
			State: []evidence.Answer{pending, evidence.Resource(pl.X, "/persistentvolumes").Nothing()},
		}
		if class := pl.Volume.Class; class != nil {
			p.With["driver"] = class.Provisioner
			p.State[0] = pending.With(evidence.FromAPI("StorageClass "+class.Name, "parameters", provision.Parameters(class.Parameters)))
		}
		p.Pods(holder.Waiters(pl.Volume)...)
		if node, gone := provision.ChosenGone(pl); gone.Yes() {
			p.Says, p.With["node"] = "nowhere", node
			p.State, p.Last = []evidence.Answer{gone, pending}, []evidence.Answer{provision.SaysGone(pl, node), p.State[1]}
			p.Steps = remedy.ChooseAgain(c)
			return []*diagnosis.Proof{p}
		}
		if t, said := provision.Refusal(pl); said {
			if !t.Fresh && provision.SilentNow(pl) {
				return nil
			}
			about, help, source := provision.About(t, c)
			p.With["who"], p.With["about"], p.With["age"], p.With["code"], p.With["said"] = provision.Who(t), about, evidence.Duration(pl.X.Age(t.At)), t.Code, provision.Quoted(t)
			p.With["names"] = words.List(provision.Named(pl, t), 0)
			p.State, p.Last = append([]evidence.Answer{evidence.Yes(t.Evidence())}, p.State[:1]...), []evidence.Answer{provision.FirstHand(t), p.State[1]}
			look := remedy.ControllerLog(pl.X, pl.Volume, "provision", help)
			if provision.Who(t) != "driver" { // whose log has no word of it
				look = remedy.SidecarLog(pl.X, pl.Volume, "provision", help)
			}
			if resource, name, ok := provision.SourceOf(c); ok && source {
				look = remedy.Check(help, remedy.Kubectl("-n", c.Namespace, "get", resource, name, "-o", "yaml"))
			}
			p.Steps = []remedy.Step{look, remedy.Words("Check: " + remedy.Inline("kubectl", "-n", c.Namespace, "describe", "pvc", c.Name) +
				". The provisioner tries again by itself, at intervals that grow to minutes.")}
			return []*diagnosis.Proof{p}
		}
		rooms, silent, short := provision.Shortage(pl)
		p.With["rooms"] = words.List(rooms, 0)
		p.State, p.Last = []evidence.Answer{short, pending}, []evidence.Answer{provision.RoomUnseen(pl.X), p.State[1]}
		p.Says, p.Steps = noRoom(silent)
		return []*diagnosis.Proof{p}
	},
}

// noRoom is what helps against too little room, or against nobody who says that there is any.
func noRoom(silent bool) (says string, steps []remedy.Step) {
	if !silent {
		return "short", remedy.Sentences("Free or add space on a node where the pod may run, ask for less, or use a class with room. Check: kubectl get csistoragecapacities -A.")
	}
	return "unpublished", []remedy.Step{remedy.Check("See on which nodes the driver is registered: where it is nowhere, its node plugin does not reach the kubelet (its pods, their logs, the kubelet's directory). Where it is, the provisioner's log says what it learns of room.",
		remedy.Kubectl("get", "csinode", "-o", "custom-columns=N:.metadata.name,D:.spec.drivers[*].name"))}
}
