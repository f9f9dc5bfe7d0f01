package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// asBlock has the kubelet's words for the same steps of a volume of mode Block (GenerateMapVolumeFunc,
// pkg/volume/util/operationexecutor/operation_generator.go).
var asBlock = strings.NewReplacer("MountVolume.MountDevice failed", "MapVolume.SetUpDevice failed",
	"MountVolume.SetUp failed", "MapVolume.MapPodDevice failed", "MountVolume.WaitForAttach failed", "MapVolume.WaitForAttach failed")

// TestBlockVolumesFailAlike: below the filesystem it makes no difference whether a volume is mounted or
// mapped. The causes of every case stay, but for those of filesystems, shares and mounts.
func TestBlockVolumesFailAlike(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		s := load(t, dir)
		if !mapInstead(s) {
			return
		}
		mounts := func(name string) bool {
			return strings.HasPrefix(name, "filesystem-") || slices.Contains([]string{"kubelet-in-container", "mount-of-dead-device", "volume-source-missing"}, name)
		}
		causes := func(list []string) []string {
			return slices.DeleteFunc(list, func(l string) bool {
				f := strings.Fields(l)
				return f[0] != "cause" || mounts(f[1])
			})
		}
		id := func(s string) string { return s }
		want, got := recorded(t, c), evaluate(c, s)
		if len(want.RootCauses) > 0 && mounts(want.RootCauses[0].Name) {
			return
		}
		if diff := cmp.Diff(causes(found(want, id)), causes(found(got, id))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// mapInstead makes the volumes of drivers that have devices such of mode Block, and tells whether
// the kubelet has said anything of a mount.
func mapInstead(s *snapshot.Snapshot) (said bool) {
	for _, e := range s.Cluster.Events {
		if m := asBlock.Replace(e.Message); m != e.Message {
			e.Message, e.Reason, said = m, "FailedMapVolume", true
		}
	}
	block := corev1.PersistentVolumeBlock
	for _, p := range s.Cluster.PVs {
		if d := p.Spec.CSI; d != nil && (strings.Contains(d.Driver, "smb") || strings.Contains(d.Driver, "nfs")) {
			return false
		}
		p.Spec.VolumeMode = &block
	}
	for _, p := range s.Cluster.Claims {
		p.Spec.VolumeMode = &block
	}
	return said
}
