package csi

import "testing"

// TestOfRoles: only where the cloud gives roles to ServiceAccounts is one the driver's identity.
func TestOfRoles(t *testing.T) {
	t.Parallel()
	for driver, want := range map[string]bool{"ebs.csi.aws.com": true, "filestore.csi.storage.gke.io": true, secretsStore: true, "csi.trident.netapp.io": false, "csi.vsphere.vmware.com": false, "csi.hetzner.cloud": false} {
		if got := ofRoles(driver); got != want {
			t.Errorf("%s: %v, want %v", driver, got, want)
		}
	}
}
