// Package crypt answers questions about encrypted volumes.
package crypt

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// refusals are cryptsetup's own sentences about parameters: a derivation, hash or cipher
// that is not allowed or not known, and an argon2 that wants more memory than there is.
var refusals = pattern.MustCompile(`Not compatible PBKDF2? options[^\n]*|[\w-]+ key derivation function is not allowed in FIPS mode|Unknown PBKDF type|Unknown pbkdf[^\n]*|Requested (?:PBKDF|hash|\w+ hash)[^\n]*not supported|Unsupported (?:LUKS2? )?(?:PBKDF|hash|cipher)[^\n]*|Hash algorithm \S+ not supported|Requested LUKS hash \S+ is not supported|(?:Cannot use|Invalid) pbkdf[^\n]*|(?:luksFormat|cryptsetup)[^\n]{0,200}[Uu]nknown option[^\n]*|Cannot use \S+ hash for keyslot encryption|Not enough available memory to open a keyslot`)

// opens are the calls of cryptsetup that take parameters of a volume.
var opens = pattern.MustCompile(`luksFormat|luksOpen|cryptsetup`)

// argument finds a parameter on the command line that a text shows.
var argument = pattern.MustCompile(`--(pbkdf|hash|cipher|key-size)[= ](\S+)`)

// Refusal is a refusal of parameters by cryptsetup.
type Refusal struct {
	Sentence  string
	Parameter string // "the key derivation argon2i", as a sentence goes on
	Key       string // the key of Longhorn's Secret that sets it
	Is        evidence.Answer
}

// RefusalOf finds cryptsetup's fresh refusal for the place's volume.
func RefusalOf(pl *evidence.Place) (Refusal, bool) {
	if !pl.Lacking() {
		return Refusal{}, false
	}
	for _, t := range pl.Refused() {
		if t.Ordinary || !opens.MatchString(t.Raw) && !strings.Contains(t.Raw, "FIPS") || t.Node != "" && t.Node != pl.Node {
			continue
		}
		if m := refusals.FindString(t.Raw); m != "" && !(strings.Contains(m, "FIPS") && FIPS(pl).No()) {
			r := Refusal{Sentence: strings.TrimSuffix(strings.TrimSpace(m), "."), Is: evidence.Yes(t.Evidence())}
			r.about(t.Raw)
			return r, true
		}
	}
	return Refusal{}, false
}

func (r *Refusal) about(raw string) {
	low := strings.ToLower(r.Sentence)
	switch {
	case strings.Contains(low, "pbkdf") || strings.Contains(low, "key derivation") || strings.Contains(low, "keyslot"):
		r.Parameter, r.Key = "the key derivation", "CRYPTO_PBKDF"
	case strings.Contains(low, "hash"):
		r.Parameter, r.Key = "the hash", "CRYPTO_KEY_HASH"
	case strings.Contains(low, "cipher"):
		r.Parameter, r.Key = "the cipher", "CRYPTO_KEY_CIPHER"
	default:
		r.Parameter = "an option"
	}
	for _, m := range argument.FindAllStringSubmatch(raw, -1) {
		if m[1] == "pbkdf" && r.Key == "CRYPTO_PBKDF" || m[1] == "hash" && r.Key == "CRYPTO_KEY_HASH" || m[1] == "cipher" && r.Key == "CRYPTO_KEY_CIPHER" {
			r.Parameter += " " + m[2]
		}
	}
}

// FIPS asks whether a node runs in FIPS mode.
func FIPS(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	const file = "proc/sys/crypto/fips_enabled"
	if f, ok := pl.View.Facts.Files[file]; ok && f.Err == "" {
		return evidence.When(strings.TrimSpace(f.Content) == "1", evidence.FromNode(pl.Node, file, strings.TrimSpace(f.Content)))
	}
	f, ok := pl.View.Facts.Files["proc/cmdline"]
	if !ok || f.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: "neither " + file + " nor proc/cmdline was read"})
	}
	return evidence.When(strings.Contains(" "+f.Content+" ", "fips=1"), evidence.FromNode(pl.Node, "proc/cmdline", "fips=1"))
}

// FormatFailed asks for a fresh failure of luksFormat whose own sentence was cut away, with
// a derivation that FIPS does not allow.
func FormatFailed(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Refused() {
		if t.Ordinary || !strings.Contains(t.Raw, "luksFormat") || !strings.Contains(t.Raw, "exit status 1") || strings.Contains(t.Raw, "exit status 127") || t.Node != "" && t.Node != pl.Node {
			continue
		}
		if argon(pl, t.Raw) {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.No()
}

// argon tells whether the derivation is argon2: by the command line, or by the default of
// Longhorn and of LUKS2.
func argon(pl *evidence.Place, raw string) bool {
	if i := strings.Index(raw, "--pbkdf "); i >= 0 {
		return strings.HasPrefix(raw[i+len("--pbkdf "):], "argon2")
	}
	return pl.Volume.IsLonghorn() || strings.Contains(raw, "luks2")
}
