package filesystem

import (
	"cmp"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// EncryptionKeyWrong finds encrypted volumes that the passphrase of their Secret does
// not open, Secrets that hold none, and volumes that name no Secret.
var EncryptionKeyWrong = &diagnosis.Rule{
	Name: "encryption-key-wrong", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving},
	YieldsTo: []string{"encryption-parameters-refused"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		k := crypt.KeyOf(pl)
		secret, field := k.Secret()
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: string(k.Lock), AtMost: k.Ceiling(),
			State:      []evidence.Answer{k.Said().With(field), k.Wanted()},
			Last:       []evidence.Answer{k.Header()},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a device that is open, away, or cannot be read", Is: k.Contradicted()}},
		}
		secret = cmp.Or(secret, "its Secret")
		if u := k.Unnamed(); u.Yes() {
			p.Says, p.AtMost, p.State, p.Last = "unnamed", "", []evidence.Answer{u, k.Fails(), k.Wanted()}, nil
		} else if !k.Said().Yes() {
			return nil
		}
		p.With = words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "secret": secret, "origin": k.Origin(), "content": k.Content.Type, "luks": ""}
		if k.Content.Type == "crypto_LUKS" {
			p.With["luks"] = "a LUKS header"
		}
		p.Steps = []remedy.Step{
			remedy.Words(keyAdvice(p.Says, secret, k.Bare())),
			remedy.Words("The kubelet and the driver try again by themselves. Do not format the device or write a new LUKS header: either destroys the data for good."),
		}
		p.Users(pl.Volume.Waiting()...)
		return []*diagnosis.Proof{p}
	},
}

func keyAdvice(says, secret string, bare bool) string {
	switch says := crypt.Lock(says); {
	case says == crypt.NoPassphrase:
		return fmt.Sprintf("Put the passphrase that the volume was made with into %s, under the name that the driver expects (Longhorn: CRYPTO_KEY_VALUE, with CRYPTO_KEY_PROVIDER secret).", secret)
	case says == crypt.Provider:
		return fmt.Sprintf("Name a key provider that the driver knows in %s (Longhorn: CRYPTO_KEY_PROVIDER secret).", secret)
	case bare:
		return "Compare the disk with the storage before anything else: a new disk that was never written holds nothing, one whose header was overwritten opens again only with a copy of the header (cryptsetup luksHeaderRestore) or from a backup."
	case says == crypt.Plain:
		return fmt.Sprintf("The volume was made without encryption: give it a PersistentVolume and class without it (no attribute encrypted), or copy the data to a new encrypted volume; %s stays as it is.", secret)
	case says == crypt.NoSlot:
		return fmt.Sprintf("Put the passphrase that the volume was made with back into %s.", secret)
	}
	return "The reference cannot be added to a PersistentVolume that exists: set its reclaim policy to Retain, and make a new PersistentVolume object for the same driver and volume handle, with a nodeStageSecretRef to the Secret with the passphrase that the volume (or its source) was made with."
}
