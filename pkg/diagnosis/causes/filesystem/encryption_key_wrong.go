package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed encryption_key_wrong.md
var encryptionKeyWrongDoc string

// EncryptionKeyWrong finds encrypted volumes that the passphrase of their Secret does
// not open, and Secrets that hold none.
var EncryptionKeyWrong = &diagnosis.Rule{
	Name: "encryption-key-wrong", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume", "share-manager-failing"},
	YieldsTo: []string{"encryption-parameters-refused"},
	Doc:      encryptionKeyWrongDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			keyWrong(p, v)
		}
	},
}

// refusedKey is one way in which a volume cannot be opened.
type refusedKey struct {
	words  *regexp.Regexp
	says   string // of the Secret or the volume
	plain  bool   // the words mean that the device holds no LUKS header
	advice string
}

// The words of cryptsetup(8), exit status 2, and of the drivers that look into the
// Secret themselves (csi/crypto in longhorn-manager, internal/kms in ceph-csi).
var refusedKeys = []refusedKey{
	{words: regexp.MustCompile(`(?i)no key available with this passphrase`),
		says:   "the passphrase in %s opens no key slot of the volume",
		advice: "Put the passphrase that the volume was made with back into %s."},
	{words: regexp.MustCompile(`(?i)missing (?:encryption )?passphrase\b`),
		says:   "%s holds no passphrase",
		advice: "Put the passphrase that the volume was made with into %s, under the name that the driver expects (Longhorn: CRYPTO_KEY_VALUE, with CRYPTO_KEY_PROVIDER secret)."},
	{words: regexp.MustCompile(`(?i)unsupported key provider`),
		says:   "%s names a key provider that the driver does not have",
		advice: "Name a key provider that the driver knows in %s (Longhorn: CRYPTO_KEY_PROVIDER secret)."},
	{words: regexp.MustCompile(`(?i)unsupported disk encryption format`), plain: true,
		says:   "the volume is to be opened with the key of %s, but its device holds no LUKS header",
		advice: "The volume was made without encryption: give it a PersistentVolume and class without it (no attribute encrypted), or copy the data to a new encrypted volume; %s stays as it is."},
}

// resizing are texts about an expansion, which print the same words of cryptsetup.
var resizing = regexp.MustCompile(`(?i)NodeExpandVolume|ControllerExpandVolume|cryptsetup"?,? resize|\bresiz|expand`)

// refusedKeyText is the newest fresh text about opening or formatting the volume.
func refusedKeyText(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, *refusedKey) {
	for _, t := range p.Texts(v) {
		if !t.Fresh || resizing.MatchString(t.Raw) || strings.Contains(t.Reason, "Resize") {
			continue
		}
		for i := range refusedKeys {
			if refusedKeys[i].words.MatchString(t.Raw) {
				return t, &refusedKeys[i]
			}
		}
	}
	return diagnosis.Text{}, nil
}

// whatItHolds says what was read from the device, and whose passphrase opens a copy.
func whatItHolds(v *snapshot.Volume, k *refusedKey, content string) string {
	text := ""
	switch {
	case content != "" && k.plain:
		text = " The device holds " + content + "."
	case content == "crypto_LUKS":
		text = " The device is readable and holds a LUKS header, so the data is there."
	}
	if origin := restoredFrom(v); origin != "" && !k.plain {
		text += " The volume is a copy (" + origin + "): it opens with the passphrase of the volume that it was made from."
	}
	return text
}

func keyWrong(p *diagnosis.Pass, v *snapshot.Volume) {
	t, k := refusedKeyText(p, v)
	if k == nil || len(v.Waiting()) == 0 {
		return
	}
	node := t.Node
	if nodes := openingNodes(p, v); node == "" && len(nodes) > 0 {
		node = nodes[0]
	}
	content, at, ok := encryptedContent(p, v, node, k.plain)
	if !ok {
		return
	}
	certainty := report.Certain
	if k.plain && (content.Type == "" || content.Err != "") {
		certainty = report.Likely
		p.Probed(node)
	}
	secret, field := secretOf(v)
	if field == "" && v.IsLonghorn() && v.PV != nil && strings.Contains(k.says, "no passphrase") {
		return // the volume names no Secret at all: storageclass-parameter-wrong
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Located(node).Fact(t.Evidence())
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	if field != "" {
		f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PVName(), field, secret))
	}
	if content.Type != "" {
		f.Fact(diagnosis.FromNode(node, at, "TYPE="+content.Type))
	}
	f.Sayf("Volume %s cannot be opened on node %s: "+k.says+".%s", volumeName(v), node, secret, whatItHolds(v, k, content.Type))
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "what the device holds on node "+node)
	}
	f.Unless("a mapper over the device that was opened later, or an I/O error of the device")
	f.Advise(
		remedy.Words(fmt.Sprintf(k.advice, secret)),
		remedy.Words("The kubelet and the driver try again by themselves. Do not format the device or write a new LUKS header: either destroys the data for good."),
	)
	p.Report(f)
}

// encryptedContent is what the volume's device holds on a node. It is not ok when the
// node contradicts the words: the volume is open, its requests fail, the device is
// another disk, or there is a LUKS header where none was found.
func encryptedContent(p *diagnosis.Pass, v *snapshot.Volume, node string, plain bool) (x probes.Content, at string, ok bool) {
	for _, c := range carriers(p, v) {
		if c.view.Name != node {
			continue
		}
		d := c.device
		if named, found := c.view.NumberAt(d.NodePath); found && named != d.Dev || d.Mapper != nil || gone(d.Block) {
			return x, "", false
		}
		x = c.view.Facts.Contents[d.Dev]
		if x.Err != "" || len(c.failedRequests()) > 0 || plain && x.Type == "crypto_LUKS" {
			return x, "", false
		}
		return x, "@content/" + d.Dev.String(), true
	}
	return x, "", true
}

// secretOf names the Secret that the driver opens the volume with, and the field of
// the PV that names it.
func secretOf(v *snapshot.Volume) (name, field string) {
	if v.PV != nil && v.PV.Spec.CSI != nil {
		s := v.PV.Spec.CSI
		for _, r := range []struct {
			field string
			ref   *corev1.SecretReference
		}{{"nodeStageSecretRef", s.NodeStageSecretRef}, {"nodePublishSecretRef", s.NodePublishSecretRef}} {
			if r.ref != nil {
				return "Secret " + r.ref.Namespace + "/" + r.ref.Name, "spec.csi." + r.field
			}
		}
	}
	return "its Secret", ""
}

// restoredFrom says what the volume was made from, or nothing.
func restoredFrom(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil && lh.FromBackup != "" {
		return "restored from a backup"
	}
	if v.Claim == nil {
		return ""
	}
	if s := v.Claim.Spec.DataSource; s != nil {
		return "made from " + s.Kind + " " + s.Name
	}
	if s := v.Claim.Spec.DataSourceRef; s != nil {
		return "made from " + s.Kind + " " + s.Name
	}
	return ""
}
