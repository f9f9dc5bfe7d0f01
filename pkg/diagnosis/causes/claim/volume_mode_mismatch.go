package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeModeMismatch finds a bound claim of volumeMode Block that a waiting pod names in
// volumeMounts, or one of volumeMode Filesystem that it names in volumeDevices.
var VolumeModeMismatch = &diagnosis.Rule{
	Name: "volume-mode-mismatch", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Publishing},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil || claims.Usable(c).No() {
			return nil
		}
		return evidence.Each(pods.WrongModes(pl.Volume), func(w pods.WrongMode) *diagnosis.Proof {
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
				With: words.Fields{"claim": c.Namespace + "/" + c.Name, "pod": pods.Owned(pl.X, w.Pod), "volume": w.Volume,
					"containers": words.List(w.Containers, 3)},
				State:      []evidence.Answer{claims.Usable(c), w.Is},
				Last:       []evidence.Answer{w.Reason(pl)},
				LookAlikes: []diagnosis.LookAlike{{Cause: "volume-source-missing", Is: w.Borrowed(c)}},
			}
			wants, list, other := "files in a directory", "volumeMounts with a mountPath", "Block, of a class whose driver makes raw devices"
			p.Says = "filesystem"
			if pl.Volume.Block() {
				wants, list, other = "a raw device", "volumeDevices with a devicePath", "Filesystem, with access modes that the driver serves in that mode"
				p.Says = "block"
			}
			p.Steps = []remedy.Step{
				remedy.Check("Compare the mode of the claim with where the containers name the volume.",
					remedy.Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.spec.volumeMode}"),
					remedy.Kubectl("-n", c.Namespace, "get", "pod", w.Pod.Name, "-o", "jsonpath={.spec.initContainers}{.spec.containers}")),
				remedy.Words("If the program wants " + wants + ": name volume " + w.Volume + " in " + list + " instead of " + w.Field + ", in the template of the pod or in the chart that writes it. A Job, and a pod without a workload, cannot be changed: it is made anew."),
				otherMode(w, other),
			}
			p.Pod(w.Pod)
			p.At(w.Pod.Spec.NodeName)
			return p
		})
	},
}

// otherMode is for a program that wants what the containers say: the claim is wrong.
func otherMode(w pods.WrongMode, mode string) remedy.Step {
	if w.Ephemeral {
		return remedy.Words("Otherwise set volumeMode in the volumeClaimTemplate of the pod's volume " + w.Volume + ": " + mode + ". The claim is made anew with the pod, which never wrote to it.")
	}
	return remedy.Words("Otherwise name a new claim in the template, with volumeMode " + mode + ". The mode of a claim and of its volume cannot be changed; what the volume holds stays with the old claim: keep it until that is copied or known to be worthless.")
}
