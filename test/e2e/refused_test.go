package e2e

import (
	"testing"
)

// refusals: one claim that works, asked about by those who are not let.
func refusals(t *testing.T) {
	v := claim(t, disk, "refusals")
	runPod(t, v, "db", "worker-1")
	t.Run("user who may read one namespace", limitedUser)
	t.Run("probe pod refused", podRefused)
	t.Run("probe image unusable", imageMissing)
}

// limitedUser may read one namespace and nothing else: what could not be read is
// said, resource by resource, and nothing is called healthy.
func limitedUser(t *testing.T) {
	kubectl(t, "-n", "refusals", "create", "rolebinding", "oncall", "--clusterrole=view", "--user=oncall")

	a := doctor(t, "pvc", "data", "-n", "refusals", "--kubeconfig", cluster.Kubeconfig("oncall"))
	if a.code != 3 || a.Verdict == "healthy" || len(a.RootCauses) > 0 {
		t.Errorf("exit code %d, want 3 for a user who may not look; %s", a.code, a.short())
	}
	a.says(t, `Forbidden`, `persistentvolumes`, `volumeattachments`)
	if len(a.NotChecked) == 0 {
		t.Errorf("nothing is reported as not checked; %s", a.short())
	}
	none := plugin(t, "pvc", "data", "-n", "storage", "--kubeconfig", cluster.Kubeconfig("oncall"))
	if none.code != 1 && none.code != 3 {
		t.Errorf("exit code %d for a claim that may not be read, want 1 or 3: %s%s", none.code, none.out, none.errors)
	}
	none.says(t, `forbidden|Forbidden`)
}

// podRefused: admission refuses the privileged pod; its words are passed on, and
// the API's half is still diagnosed.
func podRefused(t *testing.T) {
	namespace(t, "restricted")
	kubectl(t, "label", "namespace", "restricted", "pod-security.kubernetes.io/enforce=restricted")
	namespace(t, "full")
	kubectl(t, "-n", "full", "create", "quota", "none", "--hard=pods=0")

	for _, c := range []struct{ namespace, words string }{
		{"restricted", `violates PodSecurity`},
		{"full", `exceeded quota`},
	} {
		a := doctor(t, "pvc", "data", "-n", "refusals", "--probe-namespace", c.namespace)
		if a.code != 3 || a.Verdict == "healthy" || len(a.RootCauses) > 0 {
			t.Errorf("%s: exit code %d, want 3: the node was not seen; %s", c.namespace, a.code, a.short())
		}
		a.says(t, `PodRejected`, c.words, `--probe-namespace|another namespace`)
	}
}

// imageMissing: a probe image that nobody can pull is told in seconds.
func imageMissing(t *testing.T) {
	a := doctor(t, "pvc", "data", "-n", "refusals", "--probe-image", "registry.invalid/nothing:1")
	if a.code != 3 || a.Verdict == "healthy" {
		t.Errorf("exit code %d, want 3: the node was not seen; %s", a.code, a.short())
	}
	a.says(t, `ImagePull|ErrImagePull`)
	bare := doctor(t, "pvc", "data", "-n", "refusals", "--probe-image", "lab.local/bare:1")
	if bare.code != 3 || bare.Verdict == "healthy" {
		t.Errorf("exit code %d, want 3: the image has no shell; %s", bare.code, bare.short())
	}
}
