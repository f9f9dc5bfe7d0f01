package attach

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed csi_credentials_wrong.md
var csiCredentialsWrongDoc string

// CSICredentialsWrong finds secrets that are missing, malformed, or of a user that
// may not do what the driver asks. Secrets are never read: only words tell.
var CSICredentialsWrong = &diagnosis.Rule{
	Name: "csi-credentials-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Explains: []string{"mount-failed", "attach-failed", "claim-pending", "pod-waiting-for-volume"},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"backend-throttled"},
	Doc:      csiCredentialsWrongDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if len(v.Waiting()) > 0 || v.PV == nil {
				credentialsWrong(p, v)
			}
		}
	},
}

var (
	denied   = regexp.MustCompile(`rados: ret=-1\b|rados: ret=-13\b|missing required field|missing ID\b|code = Unauthenticated|(?i)invalid credentials|authentication failed|error connecting to the cluster|\bOperation not permitted\b|\bPermission denied\b`)
	clientID = regexp.MustCompile(`--id[ =](\S+)`)
)

// secretRef is the secret that the driver gets for the volume, and where that is said.
func secretRef(v *snapshot.Volume) (namespace, name, field string) {
	if v.PV != nil && v.PV.Spec.CSI != nil {
		c := v.PV.Spec.CSI
		if r := c.NodeStageSecretRef; r != nil {
			return r.Namespace, r.Name, "PersistentVolume " + v.PV.Name + " spec.csi.nodeStageSecretRef"
		}
		if r := c.NodePublishSecretRef; r != nil {
			return r.Namespace, r.Name, "PersistentVolume " + v.PV.Name + " spec.csi.nodePublishSecretRef"
		}
		if r := c.ControllerPublishSecretRef; r != nil {
			return r.Namespace, r.Name, "PersistentVolume " + v.PV.Name + " spec.csi.controllerPublishSecretRef"
		}
	}
	if v.Class == nil {
		return "", "", ""
	}
	for _, prefix := range []string{"csi.storage.k8s.io/provisioner-", "csi.storage.k8s.io/node-stage-"} {
		n, ns := v.Class.Parameters[prefix+"secret-name"], v.Class.Parameters[prefix+"secret-namespace"]
		if n != "" && !strings.Contains(n, "${") && !strings.Contains(ns, "${") {
			return ns, n, "StorageClass " + v.Class.Name + " parameters[" + prefix + "secret-name]"
		}
	}
	return "", "", ""
}

// accusation is what the words say of a secret.
type accusation struct {
	certainty     report.Certainty
	what, missing string
	facts         []report.Evidence
	ns, name      string // of the secret, when the words name it
}

func credentialsWrong(p *diagnosis.Pass, v *snapshot.Volume) {
	ns, name, field := secretRef(v)
	a := secretTexts(p, v)
	if a == nil {
		return
	}
	if a.name != "" {
		ns, name = a.ns, a.name
	}
	if name == "" {
		return
	}
	if b := malformed(p, v); b != nil && a.certainty != report.Certain {
		b.facts = append(a.facts, b.facts...)
		a = b
	}
	f := p.Find(a.certainty, diagnosis.ObjectSubject("Secret", ns, name)).On(v).Fact(a.facts...)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
		f.At(w.Node())
	}
	f.Sayf("The credentials that driver %s gets for volume %s do not work: %s. They are in Secret %s/%s, which this tool never reads; look at it yourself.",
		driverOf(v), volumeName(v), a.what, ns, name)
	if field != "" {
		f.Fact(diagnosis.FromAPI(field, "", ns+"/"+name))
	}
	if a.missing != "" {
		f.Missing(a.missing)
	}
	f.Unless("a successful call of the driver with the same secret")
	f.Advise(
		remedy.Words(fmt.Sprintf("Make Secret %s/%s anew with stringData: the plain values, without a line break at the end, without the prefix client., and not encoded by hand (the API server does that). Check that the user exists in the storage and has the documented rights for this step; provisioner and node may need different users. The next attempt succeeds by itself.", ns, name)),
		remedy.Words("Do not paste the secret's content into tickets or reports."),
	)
	p.Report(f)
}

func driverOf(v *snapshot.Volume) string {
	if v.Driver == "" && v.Class != nil {
		return v.Class.Provisioner
	}
	return v.Driver
}

// secretTexts looks for a fresh refusal of the storage or of the kubelet.
func secretTexts(p *diagnosis.Pass, v *snapshot.Volume) *accusation {
	for _, t := range p.Texts(v) {
		if !t.Fresh || strings.Contains(t.Raw, "blocklist") || strings.Contains(t.Raw, "blacklist") || strings.Contains(t.Raw, "applyFSGroup") || strings.Contains(t.Raw, "mount.nfs") {
			continue
		}
		if a := absentSecret(t); a != nil {
			return a
		}
		if ofShare.MatchString(t.Raw) {
			continue
		}
		step := t.Reason == "ProvisioningFailed" || strings.HasPrefix(t.Op, "MountVolume") || strings.HasPrefix(t.Op, "AttachVolume") || t.Source == "api"
		if step && (denied.MatchString(t.Raw) || t.Reason == "ProvisioningFailed" && malformed(p, v) != nil) {
			return &accusation{certainty: report.Likely, what: "the storage refuses the user", facts: []report.Evidence{t.Evidence()}, missing: "the content of the secret and the rights of its user"}
		}
	}
	return rejectedByCeph(p, v)
}

// malformed finds a driver's log that prints the user which it asks for, and that is
// no user's name: encoded once too often, or with the prefix that the tool adds. The
// value beside it in the same words is the proof.
func malformed(p *diagnosis.Pass, v *snapshot.Volume) *accusation {
	for _, l := range p.Logs {
		own := ofDriver(p, driverOf(v), l)
		for i := len(l.Lines) - 1; i >= 0 && own && !l.Previous; i-- {
			m := clientID.FindStringSubmatch(l.Lines[i])
			at := message.Date(l.Lines[i], p.TakenAt)
			if m == nil || at.IsZero() || p.Age(at) >= 10*time.Minute || !strings.Contains(strings.ToLower(l.Lines[i]), "err") {
				continue
			}
			what := ""
			switch plain, ok := decoded(m[1]); {
			case ok:
				what = fmt.Sprintf("the driver asks for a user called %s, which is base64 of %q: the value was encoded once too often", m[1], plain)
			case strings.HasPrefix(m[1], "client."):
				what = fmt.Sprintf("the driver asks for a user called %s, and the prefix client. is added once more", m[1])
			default:
				continue
			}
			where := fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1)
			return &accusation{certainty: report.Certain, what: what, facts: []report.Evidence{{Source: "log", Locator: where, Text: l.Lines[i]}}}
		}
	}
	return nil
}

// decoded tells whether a user's name is base64 of a plain name. Short words are
// valid base64 by chance, so only padded ones count, and only if the result is a name.
func decoded(id string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(id)
	s := strings.TrimSpace(string(b))
	if err != nil || len(s) < 3 || !strings.HasSuffix(id, "=") && len(id) < 16 {
		return "", false
	}
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_", r) {
			return "", false
		}
	}
	return s, true
}
