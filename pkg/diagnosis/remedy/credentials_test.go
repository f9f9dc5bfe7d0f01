package remedy_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
)

// TestCredentials: who is refused is looked up in the storage before anything is made anew, and who has nothing to show is not
// given more rights.
func TestCredentials(t *testing.T) {
	t.Parallel()
	secret, account := csi.Identity{Kind: "Secret", Namespace: "ceph", Name: "s"}, csi.Identity{Kind: "ServiceAccount", Namespace: "kube-system", Name: "csi"}
	for want, d := range map[string]csi.Denial{
		"Make Secret ceph/s anew":                             {Who: secret, Says: "malformed"},
		"Check in the storage that the user of Secret ceph/s": {Who: secret, Says: "refused"},
		"Add what is refused to the role":                     {Who: account, Says: "refused"},
		"Give the driver an identity":                         {Who: account, Says: "none"},
		"Find the Secret with the driver's user":              {Who: csi.Identity{Kind: "ServiceAccount", Namespace: "trident", Name: "default", Pod: "trident/controller"}, Says: "configured"},
		"Find out with which account":                         {Says: "refused"},
		"Find the entry that encryptionKMSID":                 {Who: secret, Says: "keys"},
	} {
		if got := remedy.Credentials(d)[0].Title; !strings.HasPrefix(got, want) {
			t.Errorf("%+v begins with %q, want %q", d, got, want)
		}
	}
}
