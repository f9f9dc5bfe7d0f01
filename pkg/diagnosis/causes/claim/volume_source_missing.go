package claim

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeSourceMissing finds a claim, Secret, ConfigMap, ServiceAccount or key that a pod's volume names
// and that does not exist.
var VolumeSourceMissing = &diagnosis.Rule{
	Name: "volume-source-missing", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Publishing, diagnosis.Provisioning},
	Asks:   diagnosis.EachPod,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(pods.MissingSources(pl), func(m pods.Missing) *diagnosis.Proof { return sourceMissing(pl, m) })
	},
}

func sourceMissing(pl *evidence.Place, m pods.Missing) *diagnosis.Proof {
	ns := pl.Pod.Namespace
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject(m.Kind, ns, m.Name),
		With: words.Fields{"kind": m.Kind, "object": ns + "/" + m.Name, "key": m.Key, "volume": m.Volume,
			"pod": ns + "/" + pl.Pod.Name, "near": "", "elsewhere": ""},
		State:   []evidence.Answer{pods.Unstarted(pl.Pod), m.Is},
		Waiting: m.Going || (!m.Foreign || m.Left) && !m.Refused && m.Key == "" && pods.Young(pl.X, pl.Pod, 2*time.Minute), // what is there by then, or not
		Breaks:  []diagnosis.Step{diagnosis.Publishing},
		Steps: []remedy.Step{
			remedy.Check("See what the namespace has, and what the pod names.",
				remedy.Kubectl("-n", ns, "get", "pvc,configmap,secret,serviceaccount"),
				remedy.Kubectl("-n", ns, "get", "pod", pl.Pod.Name, "-o", "jsonpath={.spec.volumes}")),
		},
	}
	help := "Create " + m.Kind + " " + ns + "/" + m.Name + " with what the pod expects of it, or correct its name or key in the template of the pod. Kubelet tries again within about two minutes; nothing need be restarted. Who should have made it is often told by its name in a Certificate, an ExternalSecret or a chart. An empty substitute only moves the failure into the application."
	switch {
	case m.Driver:
		p.Says, p.AtMost = "driver", report.Likely
		p.Steps = []remedy.Step{remedy.Check("See what the namespace has.", remedy.Kubectl("-n", ns, "get", strings.ToLower(m.Kind)))}
	case m.Key != "":
		p.Says = "key"
		p.Steps = []remedy.Step{remedy.Check("See which keys there are, and which the pod names.", remedy.Kubectl("-n", ns, "describe", strings.ToLower(m.Kind), m.Name),
			remedy.Kubectl("-n", ns, "get", "pod", pl.Pod.Name, "-o", "jsonpath={.spec.volumes}"))}
	case m.Left:
		p.Says, help = "left", "Nothing is to be done while it is young: kube-controller-manager deletes what its pod owned, and makes the pod's own claim. When it stays, see whether that manager works and which finalizer keeps the claim. Rename nothing."
		p.Volume(pl.X.VolumeOfClaim(ns, m.Name))
		p.Breaks = []diagnosis.Step{diagnosis.Provisioning, diagnosis.Publishing}
	case m.Foreign:
		p.Says, help = "foreign", "Rename the volume in the template of the pod: the claim is called after pod and volume. Or, only when nobody needs the data behind the other claim, let that one go."
	case m.Own:
		p.Says, help = "unmade", "Cure what its controller says of it (a quota, an admission, the class of the template); it tries again by itself. Do not make the claim by hand: one that is not the pod's own is never used."
	case m.Kind == "PersistentVolumeClaim":
		p.Says = "claim"
		near, elsewhere := pods.NearClaims(pl.X, ns, m.Name)
		p.With["near"], p.With["elsewhere"] = words.List(near, 3), words.List(elsewhere, 3)
		if m.Template {
			help = "Delete pod " + ns + "/" + pl.Pod.Name + " once, which was never started: its StatefulSet makes the claim of its template together with the pod (since Kubernetes 1.27 for a pod that waits, too). The new claim is empty: when the data of the old one is needed, look for its PersistentVolume first."
		}
	default:
		p.Says = "object"
	}
	p.Steps = append(p.Steps, remedy.Words(help))
	return p
}
