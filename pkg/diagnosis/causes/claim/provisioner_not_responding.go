package claim

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed provisioner_not_responding.md
var provisionerNotRespondingDoc string

// ProvisionerNotResponding finds pending claims on which no provisioner acts: it is not
// there, or the claim's annotations do not call it.
var ProvisionerNotResponding = &diagnosis.Rule{
	Name: "provisioner-not-responding", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("storage.k8s.io/storageclasses"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"claim-pending", "pod-waiting-for-volume"},
	Doc:      provisionerNotRespondingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.PV == nil && dynamic(v.Claim, v.Class) && p.Age(v.Claim.CreationTimestamp.Time) >= time.Minute && !populated(v.Claim) {
				notResponding(p, v)
			}
		}
	},
}

// populated tells whether a volume populator works for the claim: then the provisioner
// leaves it alone by design (KEP-1495).
func populated(c *corev1.PersistentVolumeClaim) bool {
	r := c.Spec.DataSourceRef
	return r != nil && r.Kind != "PersistentVolumeClaim" && r.Kind != "VolumeSnapshot"
}

// asked is the name of the provisioner that shall act, under which it is known as a CSI
// driver; empty while the volume is made inside kube-controller-manager.
func asked(v *snapshot.Volume) string {
	name := v.Class.Provisioner
	if !strings.HasPrefix(name, "kubernetes.io/") {
		return name
	}
	csi := v.CSIName()
	if csi == "" || provisionerOf(v.Claim) != csi && v.Claim.Annotations["pv.kubernetes.io/migrated-to"] != csi {
		return ""
	}
	return csi
}

// answer is what a provisioner said of the claim so far.
type answer struct {
	Refused bool // freshly
	Begun   bool // at some time it acted or refused
}

func heard(p *diagnosis.Pass, v *snapshot.Volume) answer {
	var a answer
	for _, t := range p.Texts(v) {
		switch t.Reason {
		case "ProvisioningFailed":
			a.Refused = a.Refused || t.Fresh
			a.Begun = true
		case "Provisioning":
			a.Begun = true
		}
	}
	return a
}

func notResponding(p *diagnosis.Pass, v *snapshot.Volume) {
	name := asked(v)
	a := heard(p, v)
	if name == "" || a.Refused || !p.Has("/pods") {
		return // when somebody answered: provisioning-failed
	}
	m := findProvisioner(p, name, v.Claim.Annotations[claims.SelectedNode])
	if allOfLonghornDown(p, m) {
		return // one reason for all of them: longhorn-control-plane-down
	}
	f, why := absent(p, v, m)
	if f == nil && !a.Begun && p.Has("/events") {
		f, why = notCalled(p, v, m)
	}
	if f == nil {
		return
	}
	if !p.Collected("/events") {
		f.Missing("the claim's events, which tell whether anybody answered")
	}
	if a.Begun {
		f.Missing("what became of the attempt that the provisioner began")
	}
	c := v.Claim
	f.Sayf("Nobody makes the volume of claim %s/%s, which has been Pending for %s: %s. StorageClass %s leaves it to the provisioner %s, and that has neither made a volume nor refused.",
		c.Namespace, c.Name, since(p, c.CreationTimestamp.Time), why, v.Class.Name, name)
	for _, t := range p.Texts(v) {
		if t.Reason == "ExternalProvisioning" {
			f.Fact(t.Evidence())
			break
		}
	}
	f.Fact(diagnosis.FromAPI("StorageClass "+v.Class.Name, "provisioner", v.Class.Provisioner)).Fact(m.facts(p)...)
	f.Unless("a Provisioning event of the claim, or a Ready provisioner that renews its lease and that the claim's annotations name")
	p.Report(f)
}

// absent reports a provisioner that is not there or does not work.
func absent(p *diagnosis.Pass, v *snapshot.Volume, m provisioner) (f *diagnosis.Finding, why string) {
	c := v.Claim
	f = p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	age, leased := m.LeaseAge(p)
	switch {
	case m.Ready() != nil && leased && age > leaseStale && !m.ByName:
		f.Missing("a sign of life of the provisioner's leader")
		why = fmt.Sprintf("the leader of its provisioner has not renewed its lease for %s, although pod %s is Ready", diagnosis.Duration(age), m.Ready().Name)
		f.Advise(remedy.Words("Read the log of the provisioner and see who holds the lease; a leader that hangs is replaced when its pod is deleted."))
	case m.Ready() != nil, leased && age <= leaseStale, m.replicasReady():
		return nil, "" // somebody is there
	case len(m.Pods) > 0:
		pod := m.Pods[0]
		f.Pod(pod)
		f.Fact(lastWord(p, pod))
		why = fmt.Sprintf("its provisioner does not run: pod %s/%s is not Ready (%s)", pod.Namespace, pod.Name, podState(pod))
		if n := pod.Spec.NodeName; n != "" && p.Node(n) != nil && !p.NodeReady(n).Ready {
			why += fmt.Sprintf("; its node %s does not report", n)
		}
		if m.ByName {
			f.Missing("whether that pod is the provisioner " + m.Name + " (only its name says so)")
		}
		f.Advise(remedy.Words(fmt.Sprintf("Repair pod %s/%s: read its state and the last line of its log. It takes the claim up by itself as soon as it runs.", pod.Namespace, pod.Name)))
		if _, at := ready(pod); !at.IsZero() && p.Age(at) < time.Minute {
			f.Waiting = true
		}
	case len(m.Workloads) > 0:
		w := m.Workloads[0]
		wanted, isReady := replicas(w)
		why = fmt.Sprintf("its provisioner does not run: %s %s/%s has %d of %d replicas", w.Kind, w.Namespace, w.Name, isReady, wanted)
		f.Advise(remedy.Words(fmt.Sprintf("Start the provisioner: give %s %s/%s its replicas back, or see why its pods are not made.", w.Kind, w.Namespace, w.Name)))
	case !waitedFor(p, v):
		return nil, ""
	default:
		f.Missing("a provisioner that may run outside the cluster or under another name")
		why = "no pod and no workload of its provisioner was found"
		f.Advise(remedy.Words(fmt.Sprintf("Install or start the provisioner %s, or correct the class when the name is misspelt: a class cannot be edited there, so make it anew under a new name or after deletion, and the pending claim with it.", m.Name)))
	}
	f.Advise(verifyProvisioning())
	return f, why
}

// waitedFor tells whether the PV controller says now that it waits for a provisioner, or
// the claim is so old that its events are gone.
func waitedFor(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Reason == "ExternalProvisioning" {
			return t.Fresh
		}
	}
	return p.Age(v.Claim.CreationTimestamp.Time) > time.Hour
}

func verifyProvisioning() remedy.Step {
	return remedy.Words("Verify: the claim gets a Provisioning event. Deleting a claim does not make the provisioner work; never delete one that is bound or was restored.")
}

// allOfLonghornDown tells whether Longhorn's provisioner is silent together with the
// managers that it calls.
func allOfLonghornDown(p *diagnosis.Pass, m provisioner) bool {
	if m.Name != snapshot.LonghornDriver || m.Ready() != nil {
		return false
	}
	for _, pod := range m.Pods {
		for _, l := range p.LogsOf(pod.Namespace, pod.Name) {
			if strings.Contains(strings.Join(l.Lines, "\n"), "longhorn-backend") {
				return true
			}
		}
	}
	managers, up := 0, 0
	for _, pod := range p.Cluster.Pods {
		if pod.Namespace == p.LonghornNamespace() && pod.Labels["app"] == "longhorn-manager" {
			managers++
			if ok, _ := ready(pod); ok {
				up++
			}
		}
	}
	return managers > 0 && up == 0
}
