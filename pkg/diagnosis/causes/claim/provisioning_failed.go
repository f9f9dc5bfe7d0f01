package claim

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed provisioning_failed.md
var provisioningFailedDoc string

// ProvisioningFailed finds claims whose driver was asked for a volume and refused.
var ProvisioningFailed = &diagnosis.Rule{
	Name: "provisioning-failed", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/persistentvolumes"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"claim-pending", "pod-waiting-for-volume"},
	YieldsTo: []string{"backend-throttled", "longhorn-control-plane-down", "csi-credentials-wrong", "storageclass-parameter-wrong", "helper-pod-failed", "driver-configuration-wrong", "security-module-denies"},
	Doc:      provisioningFailedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.PV != nil || v.Claim == nil || v.Claim.DeletionTimestamp != nil || v.Claim.Status.Phase != corev1.ClaimPending || v.Claim.Spec.VolumeName != "" {
				continue
			}
			if t, ok := refusal(p, v); ok {
				refused(p, v, t)
				continue
			}
			if t, ok := shortage(p, v); ok {
				short(p, v, t)
			}
		}
	},
}

// refusal is the newest word of a provisioner that it could not make the claim's
// volume. A class that does not exist is no refusal of a provisioner.
func refusal(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if t.Is(message.ClassNotFound) || t.Pod != "" {
			continue
		}
		if t.Reason == "ProvisioningFailed" || t.Is(message.ProvisionFailed) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

// reason is what a refusal is about, as far as its words tell, and what helps.
type reason struct {
	form  *regexp.Regexp
	about string
	help  string
}

// reasons in the order in which they are looked for; the refusal itself is quoted.
var reasons = []reason{
	{regexp.MustCompile(`failed calling webhook|conversion webhook|no endpoints available for service`), "the control plane of the storage did not answer a webhook",
		"Look at the pods behind the webhook that the text names; nothing on the claim helps before they answer."},
	{regexp.MustCompile(`backup target .* (?:is )?not available`), "the backup target is not available",
		"Look at the backup target's address and secret in the storage; the next attempt follows by itself."},
	{regexp.MustCompile(`(?i)volume source snapshot|snapshot .*not found|code = NotFound.*(?:snapshot|source)|content source`), "its source does not exist or cannot be read",
		"Look at the snapshot or claim that spec.dataSource names, and at its VolumeSnapshotContent."},
	{regexp.MustCompile(`XFS filesystems with size`), "the size is below the least size of XFS",
		"Ask for a larger volume (a pending claim's size may be raised only by making it anew), or use a class with another filesystem."},
	{regexp.MustCompile(`(?i)ResourceExhausted|insufficient (?:storage|space|capacity)|no space|not enough|quota|out of capacity|insufficient free`), "capacity or quota is exhausted",
		"Free or add capacity in the storage, raise the quota, or ask for less."},
	{regexp.MustCompile(`(?i)Unauthenticated|PermissionDenied|operation not permitted|access denied|invalid credentials|forbidden|unauthori[sz]ed`), "the storage refuses the driver's user",
		"Look at the secret and rights that the class gives to the provisioner (csi.storage.k8s.io/provisioner-secret-name)."},
	{regexp.MustCompile(`InvalidArgument|(?i)invalid parameter|unknown parameter`), "a parameter of the request is not accepted",
		"Compare the parameters of the class with the driver's documentation. A class cannot be edited: make a new one, and the pending claim anew with it."},
	{regexp.MustCompile(`DeadlineExceeded|context deadline exceeded`), "the storage did not answer in time",
		"Look whether the storage is slow or cannot be reached from the driver's controller; the request is repeated, and a volume that is made late is found again."},
}

func about(t diagnosis.Text) (what, help string) {
	for _, r := range reasons {
		if r.form.MatchString(t.Raw) {
			return r.about, r.help
		}
	}
	return "its own words are quoted below", "Look up the quoted words in the driver's documentation and in the log of its provisioner."
}

func refused(p *diagnosis.Pass, v *snapshot.Volume, t diagnosis.Text) {
	c := v.Claim
	certainty := report.Likely
	firstHand := t.Is(message.ProvisionFailed)
	switch {
	case t.Fresh && firstHand:
		certainty = report.Certain
	case !t.Fresh && silentNow(p, v):
		return // it refused once, and now it is not there: provisioner-not-responding
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	if !t.Fresh {
		f.NotConfirmed = append(f.NotConfirmed, "a refusal of the last ten minutes")
	}
	what, help := about(t)
	f.Sayf("The driver%s refuses to make a volume for claim %s/%s: %s. Said %s ago%s: %s", named(v), c.Namespace, c.Name, what, since(p, t.At), code(t), quoted(t))
	f.Fact(t.Evidence(), diagnosis.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "status.phase", string(c.Status.Phase)))
	if v.Class != nil {
		f.Fact(diagnosis.FromAPI("StorageClass "+v.Class.Name, "parameters", parameters(v.Class.Parameters)))
	}
	f.Unless("a volume made for this claim, or no refusal at the next attempt")
	f.Advise(remedy.Words(help), remedy.Words(fmt.Sprintf("Check: %s. Nothing on a node helps, and the provisioner tries again by itself.",
		remedy.Inline("kubectl", "-n", c.Namespace, "describe", "pvc", c.Name))))
	p.Report(f)
}

// silentNow tells whether the provisioner was found and does not run at the moment.
func silentNow(p *diagnosis.Pass, v *snapshot.Volume) bool {
	if !dynamic(v.Claim, v.Class) || asked(v) == "" {
		return false
	}
	m := findProvisioner(p, asked(v), v.Claim.Annotations[claims.SelectedNode])
	return m.Ready() == nil && (len(m.Pods) > 0 || len(m.Workloads) > 0 && !m.replicasReady())
}

func named(v *snapshot.Volume) string {
	if v.Class == nil {
		return ""
	}
	return " " + v.Class.Provisioner
}

func code(t diagnosis.Text) string {
	if t.Code == "" {
		return ""
	}
	return ", code " + t.Code
}

// quoted is the innermost description, kept to a length that is read.
func quoted(t diagnosis.Text) string {
	said := t.Desc
	if said == "" {
		said = t.Raw
	}
	if r := []rune(said); len(r) > 300 {
		said = string(r[:300]) + "…"
	}
	return `"` + strings.TrimSpace(said) + `"`
}
