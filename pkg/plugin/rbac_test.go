package plugin

import (
	"bytes"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestRBACNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		at := r.Spec.ResourceAttributes
		r.Status.Allowed = !(at.Verb == "list" && at.Resource == "leases") && at.Subresource != "exec"
		return true, r, nil
	})
	var out bytes.Buffer
	code := 0
	o := &rbacOptions{verb: verb{streams: genericiooptions.IOStreams{Out: &out}, config: genericclioptions.NewConfigFlags(false), code: &code}, probe: true, namespace: "probes"}
	roles, err := o.roles()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.compare(t.Context(), client, roles); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"leases.coordination.k8s.io", "not list ", "pods/exec", "probes", "rbac -o yaml --probe"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	missing := 0
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "not ") {
			missing++
		}
	}
	if missing != 2 || code != ExitNotChecked {
		t.Errorf("%d lines say what is missing, exit code %d; want 2 and %d:\n%s", missing, code, ExitNotChecked, out.String())
	}
}
