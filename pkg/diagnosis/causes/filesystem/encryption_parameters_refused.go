package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	fs "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// EncryptionParametersRefused finds a node whose cryptsetup refuses a volume's parameters.
var EncryptionParametersRefused = &diagnosis.Rule{
	Name: "encryption-parameters-refused", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving},
	YieldsTo: []string{"encryption-tools-missing", "multipath-claims-device"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		r, ok := crypt.RefusalOf(pl)
		fips, cut := crypt.FIPS(pl), crypt.FormatFailed(pl)
		if !ok && cut.No() {
			return nil
		}
		forNew := "For new volumes let the driver ask for parameters that this node allows: by its StorageClass, its Secret or its configuration where it takes them there, else by another version of it; or let nodes have it whose cryptsetup takes them."
		if pl.Volume.IsLonghorn() {
			forNew = "For new volumes set CRYPTO_PBKDF: pbkdf2 in the Secret (where FIPS still says \"Not compatible PBKDF2 options\", Longhorn 1.12 or newer with CRYPTO_PBKDF_FORCE_ITERATIONS), or the hash and cipher that this node allows."
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "said",
			With:  words.Fields{"node": pl.Node, "volume": pl.Volume.PVName(), "parameter": "", "sentence": "", "key": "", "fips": ""},
			Steps: []remedy.Step{remedy.Words(forNew + " A volume with data opens on a node that allows its parameters; there its key slot can be converted after a backup of its header and data. Do not format it again. FIPS is chosen at boot or at installation.")},
		}
		if fs.FormatOf(pl).Rewrites() {
			p.Steps = append([]remedy.Step{remedy.Words("Scale the workload to 0 now, so that nothing retries: where the header does not open, the driver writes a new one over it, and the data is gone then.")}, p.Steps...)
		}
		if ok {
			p.State = []evidence.Answer{r.Is}
			p.With["parameter"], p.With["sentence"] = r.Parameter, r.Sentence
			if pl.Volume.IsLonghorn() {
				p.With["key"] = r.Key
			}
			if fips.Yes() {
				p.With["fips"] = fips.Facts()[0].Locator + " says so"
				p.State = append(p.State, fips)
			}
			return []*diagnosis.Proof{p}
		}
		p.Says, p.AtMost, p.State = "cut", report.Likely, []evidence.Answer{cut, fips}
		return []*diagnosis.Proof{p}
	},
}
