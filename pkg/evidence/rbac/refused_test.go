package rbac_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestRefusedIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`failed to list *v1.Pod: pods is forbidden: User "system:serviceaccount:lvm:csi-resizer" cannot list resource "pods" in API group "" at the cluster scope`:                                                              "auth can-i list pods --as=system:serviceaccount:lvm:csi-resizer -A",
		`err="leases.coordination.k8s.io \"l\" is forbidden: User \"system:serviceaccount:a:b\" cannot get resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"a\""`:                                    "auth can-i get leases.coordination.k8s.io --as=system:serviceaccount:a:b -n a",
		`volumeattachments.storage.k8s.io "c" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "volumeattachments/status" in API group "storage.k8s.io" at the cluster scope`:                               "auth can-i patch volumeattachments.storage.k8s.io --subresource=status --as=system:serviceaccount:a:b -A",
		`volumeattachments.storage.k8s.io "c" is forbidden: User "system:node:n1" cannot get resource "volumeattachments" in API group "storage.k8s.io" at the cluster scope: no relationship found between node "n1" and this`: "",
		`pods "x" is forbidden: violates PodSecurity`: "",
	} {
		got := ""
		if r, ok := rbac.RefusedIn(text); ok {
			got = strings.Join(r.CanI(), " ")
			if line := report.Inline(append([]string{"kubectl"}, r.CanI()...)...); !strings.HasPrefix(line, "kubectl auth can-i ") {
				t.Errorf("%s: %s", text, line)
			}
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}
