package crypt

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Lock is one way in which a volume cannot be opened.
type Lock string

// The ways.
const (
	NoSlot       Lock = "slot"       // the passphrase opens no key slot
	NoPassphrase Lock = "passphrase" // the Secret holds none
	Provider     Lock = "provider"   // the Secret names a key provider that the driver does not have
	Plain        Lock = "plain"      // there is no LUKS header
)

// words of cryptsetup(8), exit status 2, and of the drivers that look into the Secret
// themselves (csi/crypto in longhorn-manager, internal/kms in ceph-csi).
var words = []struct {
	lock Lock
	form *pattern.Pattern
}{
	{NoSlot, pattern.MustCompile(`(?i)no key available with this passphrase`)},
	{NoSlot, pattern.MustCompile(`exit status 2\b.{0,60}\bluksOpen\b`)},            // ceph-csi keeps what cryptsetup printed in its log
	{NoSlot, pattern.MustCompile(`luks opening device .{0,120}\bexit status 2\b`)}, // scaleway-csi
	{NoPassphrase, pattern.MustCompile(`(?i)missing (?:encryption )?passphrase\b`)},
	{Provider, pattern.MustCompile(`(?i)unsupported key provider`)},
	{Plain, pattern.MustCompile(`(?i)unsupported disk encryption format`)},
	{Plain, pattern.MustCompile(`(?i)is not a valid LUKS device`)},
}

var (
	noSlot   = pattern.MustCompile(`(?i)no usable keyslot is available`)
	standing = pattern.MustCompile(`\bDevice (\S+) already exists`)
)

// resizing are texts about an expansion, which print the same words of cryptsetup.
var resizing = pattern.MustCompile(`(?i)NodeExpandVolume|ControllerExpandVolume|cryptsetup"?,? resize|\bresiz|expand`)

// opening is what a driver does with an encrypted volume, and with no other: luksOpen, "unable
// to open LUKS device" (hcloud-csi), /dev/mapper/luks-…; crypto_LUKS is what mount(8) finds.
var opening = pattern.MustCompile(`(?i)\bcryptsetup\b|\bluks`)

// Key is the opening of the place's volume, and what is known of its device there.
type Key struct {
	pl      *evidence.Place
	Lock    Lock // what a fresh text says; empty: none
	said    evidence.Answer
	Content probes.Content
	at      report.Evidence
	doubt   evidence.Answer // whether the node contradicts the words
}

// KeyOf reads the fresh words about opening the volume, and its device.
func KeyOf(pl *evidence.Place) Key {
	k := Key{pl: pl, said: evidence.No(), doubt: evidence.No()}
	for _, t := range pl.Refused() {
		if resizing.MatchString(t.Raw) || strings.Contains(t.Reason, "Resize") || k.Lock != "" {
			continue
		}
		for _, w := range words {
			if w.form.MatchString(t.Raw) && k.Lock == "" {
				k.Lock, k.said = w.lock, evidence.Yes(t.Evidence())
			}
		}
	}
	k.look()
	return k
}

// look reads the device: it contradicts the words when the volume is open or was never
// encrypted, its requests fail, another disk bears its name, or it is away.
func (k *Key) look() {
	d, ok := k.pl.X.DeviceOn(k.pl.Volume, k.pl.Node)
	if k.pl.View == nil || !ok || d.Block == nil {
		return
	}
	where := "@content/" + d.Dev.String()
	named, found := k.pl.View.NumberAt(d.NodePath)
	k.Content = k.pl.View.Facts.Contents[d.Dev]
	if k.Content.Type != "" {
		k.at = evidence.FromNode(k.pl.Node, where, "TYPE="+k.Content.Type)
	}
	switch {
	case k.Lock != Plain && !k.pl.Volume.Encrypted() && slices.Contains(disk.Filesystems, k.Content.Type),
		found && named != d.Dev, len(disk.Mappings(k.pl.View, k.pl.Volume, d.Dev)) > 0, k.Content.Err != "", d.Block.Sectors == 0, strings.HasSuffix(d.Block.State, "offline"):
		k.doubt = evidence.Yes(evidence.FromNode(k.pl.Node, where, strings.TrimSpace(k.Content.Type+" "+k.Content.Err)))
	}
	for _, l := range k.pl.View.KernelLines(kmsg.IOError, kmsg.OfflineDevice, kmsg.MediumError, kmsg.BeyondEnd) {
		for _, n := range l.Names {
			if n == d.Block.Name && !strings.Contains(l.Text, "error 74") && !strings.Contains(l.Text, "error 117") {
				k.doubt = evidence.Yes(evidence.FromNode(k.pl.Node, "@kmsg", l.Text))
			}
		}
	}
}

// Sealed asks whether a LUKS header that was found is there by design although no record calls
// the volume encrypted: its driver tries to open it, or Longhorn's record was not read. A Secret
// that the PV names can be the passphrase (hcloud-csi, proxmox-csi), until a mount met the header.
func Sealed(pl *evidence.Place, holds string) evidence.Answer {
	if holds != "crypto_LUKS" {
		return evidence.No()
	}
	met := false
	for _, t := range pl.Refused() {
		met = met || strings.Contains(t.Raw, holds)
	}
	if a := evidence.Any(attempts(pl), NoTarget(pl)); a.Yes() {
		return a
	}
	if name, _ := (Key{pl: pl}).Secret(); name != "" && !met {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "whether the driver opens the volume with " + name})
	}
	if pl.Volume.IsLonghorn() && pl.Volume.LH() == nil {
		return evidence.Resource(pl.X, "longhorn.io/volumes").Found()
	}
	return evidence.Resource(pl.X, "/events").Found() // the driver's attempt may be told there
}

// attempts asks for fresh words of a driver that opens the volume.
func attempts(pl *evidence.Place) evidence.Answer {
	if KeyOf(pl).Lock == Plain {
		return evidence.No()
	}
	return pl.Refused().Say(func(t evidence.Text) bool { return opening.MatchString(t.Raw) })
}

// Ceiling is how far the words carry: of a header that is not there they leave open whether it was.
func (k Key) Ceiling() report.Certainty {
	if k.Bare() {
		return report.Likely
	}
	return ""
}

// Bare tells whether the device holds nothing that is known: a header may have been there.
func (k Key) Bare() bool {
	return k.Lock == Plain && !slices.Contains(disk.Filesystems, k.Content.Type)
}

// Told is what cryptsetup says freshly of the volume's header or mapping that is no matter of the key, as a sentence;
// empty: nothing.
func Told(pl *evidence.Place) string {
	for _, t := range pl.Refused() {
		if noSlot.MatchString(t.Raw) { // ENOENT of the library, whatever the passphrase
			return "cryptsetup on node " + pl.Node + " finds no key slot in the volume's header that it can use: none is left or was ever written, or they need a hash or derivation that the node does not have."
		}
	}
	if b, _ := stands(pl); b != nil {
		return "Mapping " + b.DM.Name + " stands on node " + pl.Node + " already, so cryptsetup does not open the volume under this name again: its driver has to go on with it, or close it."
	}
	return ""
}

// stands is the mapping on the place's node that a fresh text about opening the volume names.
func stands(pl *evidence.Place) (*probes.BlockDevice, report.Evidence) {
	for _, t := range pl.Refused() {
		m := standing.FindStringSubmatch(t.Raw)
		if m == nil || pl.View == nil {
			continue
		}
		for _, b := range pl.View.Blocks() {
			if disk.IsMapped(b, "CRYPT-") && b.DM.Name == m[1] {
				return b, t.Evidence()
			}
		}
	}
	return nil, report.Evidence{}
}

// Said asks whether somebody says freshly that the volume cannot be opened.
func (k Key) Said() evidence.Answer { return k.said }

// Contradicted asks whether the node shows that it is not the key.
func (k Key) Contradicted() evidence.Answer {
	if k.doubt.Yes() {
		return k.doubt
	}
	if k.Content.Type == "" && !k.pl.Volume.Encrypted() { // it may never have been
		return k.pl.Tables(probes.Block, probes.Contents).Found()
	}
	return k.pl.Tables(probes.Block).Found()
}

// Header asks whether the device holds what the words want: no LUKS header for a volume
// that is called plain. For the others the driver has seen it first-hand.
func (k Key) Header() evidence.Answer {
	switch {
	case k.Lock != Plain:
		return evidence.Yes(k.at)
	case k.Content.Type == "":
		return evidence.Unseen(evidence.Lack{Need: "node/" + k.pl.Node + "/" + string(probes.Contents), Node: k.pl.Node, Why: "what the device holds was not read"})
	}
	return evidence.When(k.Content.Type != "crypto_LUKS", k.at)
}

// Secret names the Secret that the driver opens the volume with, and the field of the PV
// that does; both are empty when none does.
func (k Key) Secret() (name string, field report.Evidence) {
	v := k.pl.Volume
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return "", report.Evidence{}
	}
	for _, r := range []struct {
		field string
		ref   *corev1.SecretReference
	}{{"nodeStageSecretRef", v.PV.Spec.CSI.NodeStageSecretRef}, {"nodePublishSecretRef", v.PV.Spec.CSI.NodePublishSecretRef}} {
		if r.ref != nil {
			name = "Secret " + r.ref.Namespace + "/" + r.ref.Name
			return name, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi."+r.field, name)
		}
	}
	for _, a := range slices.Sorted(maps.Keys(v.PV.Spec.CSI.VolumeAttributes)) { // HPE's hostEncryptionSecretName: the driver reads the Secret itself
		if strings.HasSuffix(strings.ToLower(a), "secretname") {
			name = "Secret " + v.PV.Spec.CSI.VolumeAttributes[a]
			return name, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes."+a, name)
		}
	}
	return "", report.Evidence{}
}

// Unnamed asks whether the volume is encrypted, by whatever record says so, and its PV
// names no Secret. The reference cannot be added to a PV that exists. A driver that runs
// cryptsetup, or works at the mapping already, has a passphrase, wherever it has it from.
func (k Key) Unnamed() evidence.Answer {
	v := k.pl.Volume
	mapped := k.pl.Refused().Say(func(t evidence.Text) bool {
		return slices.ContainsFunc(t.Devices, func(path string) bool { return strings.HasPrefix(path, "/dev/mapper/") })
	})
	if v.PV == nil || v.PV.Spec.CSI == nil || evidence.Any(attempts(k.pl), mapped).Yes() {
		return evidence.No()
	}
	if name, _ := k.Secret(); name != "" {
		return evidence.No()
	}
	none := evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.nodeStageSecretRef", "absent")
	switch lh := v.LH(); {
	case lh != nil && lh.Encrypted:
		return evidence.Yes(evidence.FromAPI("Volume "+lh.Name, "spec.encrypted", "true"), none)
	case v.Attribute("encrypted") == "true" && (k.said.Yes() || v.IsLonghorn() || v.CephCSI() != ""): // of a cloud's disk it means the cloud's own encryption
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes.encrypted", "true"), none)
	case k.Content.Type == "crypto_LUKS" && !v.Block():
		return evidence.Yes(k.at, none)
	}
	return evidence.No()
}

// Fails asks whether the driver refuses to stage the volume for a pod that waits.
func (k Key) Fails() evidence.Answer {
	if k.said.Yes() {
		return k.said
	}
	return k.pl.Refused().Say(func(t evidence.Text) bool { return t.MountEvent() && t.Code != "" })
}

// Wanted asks whether a pod waits for the volume, and whether it is here that the volume
// has to be opened: where the words come from, or where the device belongs.
func (k Key) Wanted() evidence.Answer {
	v := k.pl.Volume
	if !k.pl.Lacking() {
		return evidence.No()
	}
	if slices.Contains(k.pl.X.DeviceNodes(v), k.pl.Node) {
		return evidence.Yes()
	}
	for _, t := range k.pl.Refused() {
		if t.Node == k.pl.Node && (k.said.Yes() || t.MountEvent()) {
			return evidence.Yes()
		}
	}
	return evidence.No()
}

// Origin says what the volume was made from, as a sentence goes on; empty: from nothing.
func (k Key) Origin() string {
	v := k.pl.Volume
	switch lh := v.LH(); {
	case lh != nil && lh.FromBackup != "":
		return "restored from a backup"
	case v.Claim != nil:
		if kind, name := claims.SourceOf(v.Claim); name != "" {
			return "made from " + kind + " " + name
		}
	}
	return ""
}
