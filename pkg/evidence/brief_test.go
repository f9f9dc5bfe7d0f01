package evidence_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// TestBrief: both ends stay, whole words where there are words, whole runes always.
func TestBrief(t *testing.T) {
	path := "/var/lib/kubelet/plugins/kubernetes.io/csi/driver/" + strings.Repeat("0123456789abcdef", 4) + "/globalmount"
	for name, c := range map[string]struct{ text, want string }{
		"short":           {"mount failed:\n exit status 32", "mount failed: exit status 32"},
		"a mount":         {"mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs -o vers=4.2,noresvport 10.0.0.9:/srv/export/of/data " + path + "\nOutput: mount.nfs: Connection timed out " + strings.Repeat("again and ", 9), "mount failed: exit status 32 Mounting command: mount Mounting arguments: -t nfs -o vers=4.2,noresvport … Output: mount.nfs: Connection timed out " + strings.TrimSpace(strings.Repeat("again and ", 9))},
		"a decision":      {"failed to create volume pvc-1: pods \"helper-pod-create-pvc-1\" is forbidden: violates PodSecurity \"restricted:latest\": " + strings.Repeat("allowPrivilegeEscalation != false ", 9), "failed to create volume pvc-1: pods \"helper-pod-create-pvc-1\" is forbidden: violates PodSecurity \"restricted:latest\": " + strings.TrimSpace(strings.Repeat("allowPrivilegeEscalation != false ", 4)) + " allowPrivilegeEscalation …"},
		"a late decision": {strings.Repeat("what was tried ", 20) + "pods \"p\" is forbidden: unable to validate against any security context constraint: [" + strings.Repeat("provider \"x\": Forbidden: not usable by user or serviceaccount, ", 5) + "]", strings.Repeat("what was tried ", 7) + "what … is forbidden: unable to validate against any security context constraint: [provider \"x\": Forbidden: not usable by user or serviceaccount, provider \"x\": Forbidden: not …"},
		"an authorizer's": {strings.Repeat("what was tried ", 8) + "is forbidden: User \"system:node:n1\" cannot get resource \"volumeattachments\" in API group \"storage.k8s.io\" at the cluster scope: " + strings.Repeat("no ", 20) + "relationship found", strings.Repeat("what was tried ", 7) + "what … get resource \"volumeattachments\" in API group \"storage.k8s.io\" at the cluster scope: " + strings.Repeat("no ", 20) + "relationship found"},
		"a short one":     {strings.Repeat("what was tried ", 20) + "pods \"p\" is forbidden: exceeded quota: storage, requested: pods=1, used: pods=9, limited: pods=9", strings.Repeat("what was tried ", 7) + "what … " + strings.Repeat("was tried what ", 4) + "was tried pods \"p\" is forbidden: exceeded quota: storage, requested: pods=1, used: pods=9, limited: pods=9"},
		"one word":        {strings.Repeat("é", 300), strings.Repeat("é", 110) + " … " + strings.Repeat("é", 170)},
		"just fits":       {strings.Repeat("x", 280), strings.Repeat("x", 280)},
		"empty text":      {" \n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := evidence.Brief(c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
