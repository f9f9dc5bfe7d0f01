package claim

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/helper"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// HelperPodFailed finds a volume whose provisioner works in a pod that does not finish.
var HelperPodFailed = &diagnosis.Rule{
	Name: "helper-pod-failed", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"node-down", "filesystem-full", "security-module-denies", "hostpath-type-mismatch"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		stuck, timedOut := helper.StuckOf(pl), helper.TimedOut(pl)
		if !stuck.Is.Yes() && !timedOut.Yes() {
			return nil
		}
		ns, name := helper.NameOf(pl)
		p := &diagnosis.Proof{
			Says: "stuck", With: words.Fields{"volume": pl.Volume.Called(), "helper": name, "why": stuck.Why, "node": helper.Node(pl)},
			State: []evidence.Answer{stuck.Is},
			Steps: helperSteps(pl, ns, name),
		}
		switch {
		case timedOut.Yes() && stuck.Is.Yes():
			p.State = []evidence.Answer{timedOut, stuck.Is}
		case timedOut.Yes():
			p.Says, p.State, p.Last = "unseen", []evidence.Answer{timedOut}, []evidence.Answer{stuck.Is}
		}
		if stuck.Silent {
			p.AtMost = report.Likely
		}
		p.Subject = diagnosis.VolumeSubject(pl.Volume)
		if name != "" {
			p.Subject = diagnosis.ObjectSubject("Pod", ns, name)
			p.Object("pod", ns+"/"+name)
		}
		return []*diagnosis.Proof{p}
	},
}

// templates tell where a provisioner keeps what its helpers are made of (rancher/local-path-provisioner: deploy/;
// openebs/dynamic-localpv-provisioner: cmd/provisioner-localpv/app/env.go).
var templates = []struct{ provisioner, words string }{
	{"local-path", "its image or the registry's mirror, and its tolerations, stand in the template of the provisioner's ConfigMap (helperPod.yaml), its paths in config.json beside it"},
	{"openebs", "its image or the registry's mirror stands in OPENEBS_IO_HELPER_IMAGE of the provisioner's Deployment, its path in BasePath of the StorageClass, else in OPENEBS_IO_BASE_PATH"},
	{"", "its image or the registry's mirror, its tolerations and its paths stand in the provisioner's configuration"},
}

func helperSteps(pl *evidence.Place, ns, name string) []remedy.Step {
	var out []remedy.Step
	if name != "" {
		out = append(out, remedy.Check("See the helper and what is said of it.",
			remedy.Kubectl("-n", ns, "get", "pod", name, "-o", "wide"), remedy.Kubectl("-n", ns, "get", "events", "--field-selector", "involvedObject.name="+name)))
	}
	i := slices.IndexFunc(templates, func(t struct{ provisioner, words string }) bool {
		return strings.Contains(pl.Volume.Provisioner(), t.provisioner)
	})
	return append(out, remedy.Words("Change what keeps the helper from finishing: "+templates[i].words+". The provisioner tries again by itself. On Talos the path lies below /var and the namespace needs the Pod Security level privileged; on OpenShift the provisioner's ServiceAccount needs an SCC that allows hostPath. Do not make the application's pods privileged."))
}
