package claim

import (
	"cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ExpansionRefusedByBackend finds a claim whose driver refuses to enlarge its volume.
var ExpansionRefusedByBackend = &diagnosis.Rule{
	Name: "expansion-refused-by-backend", Layer: diagnosis.Claim, Severity: report.Degraded,
	Breaks:   []diagnosis.Step{diagnosis.Resizing},
	YieldsTo: []string{"csi-credentials-wrong", "driver-configuration-wrong", "backend-throttled", "longhorn-control-plane-down", "longhorn-expansion-incomplete"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		grows := claims.Grows(pl)
		if !grows.Yes() {
			return nil
		}
		ns, claim := pl.Volume.ClaimRef()
		want, _, got := claims.Sizes(pl)
		says, cure := "refused", remedy.Words("Too large, or no space: where the API server lets it (RecoverVolumeExpansionFailure, default from 1.32), lower the request to anything above "+got.String()+"; older servers refuse that. Never make a file system smaller.")
		if claims.OfflineOnly(pl) {
			says, cure = "offline", remedy.Words("Scale the workload of the claim to 0 until status.capacity of the claim follows, then up again: the driver can only enlarge a volume that nobody uses.")
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim), Says: says,
			With:  words.Fields{"claim": ns + "/" + claim, "want": want.String(), "got": got.String(), "driver": cmp.Or(pl.Volume.CSIName(), pl.Volume.Driver)},
			State: []evidence.Answer{claims.Refused(pl), grows, evidence.Not(claims.BackendGrown(pl))},
			Steps: []remedy.Step{
				remedy.Check("See the state of the expansion.", remedy.Kubectl("-n", ns, "get", "pvc", claim, "-o", "jsonpath={.status}")),
				cure,
			},
		}
		return []*diagnosis.Proof{p}
	},
}
