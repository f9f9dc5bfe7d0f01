package launch

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden pod")

// TestPodSpec compares the whole pod: what runs privileged on somebody's nodes is
// reviewed as prose.
func TestPodSpec(t *testing.T) {
	t.Parallel()
	pod := PodSpec(PodRequest{
		Node: "worker-2", Namespace: "longhorn-system", Image: "longhornio/longhorn-manager:v1.8.1", PullSecret: "registry",
		Run: "bcdfghjk", Suffix: "lmnpqrst", Lifetime: 150 * time.Second, Now: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC),
	})
	got, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "probe-pod.yaml")
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

// TestPodSpecHarm states what must never be in a probe pod, whatever the golden says.
func TestPodSpecHarm(t *testing.T) {
	t.Parallel()
	spec := PodSpec(PodRequest{Node: "n", Image: "i", Lifetime: time.Minute}).Spec
	c := spec.Containers[0]
	switch {
	case len(spec.Volumes) > 0 || len(c.VolumeMounts) > 0 || len(c.VolumeDevices) > 0:
		t.Error("the pod has volumes: it could become one more holder")
	case spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken:
		t.Error("the pod has a token")
	case spec.ActiveDeadlineSeconds == nil || *spec.ActiveDeadlineSeconds <= 0:
		t.Error("the pod may live for ever")
	case spec.NodeName != "n" || len(spec.Tolerations) != 1 || spec.Tolerations[0].Key != "":
		t.Error("the pod does not run exactly where it shall")
	}
}
