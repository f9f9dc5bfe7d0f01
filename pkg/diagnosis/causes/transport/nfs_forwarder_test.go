package transport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
)

// TestLocalForwarder: the server of a mount of 127.0.0.1 is a process of the plugin.
func TestLocalForwarder(t *testing.T) {
	t.Parallel()
	const (
		mount   = "30 21 0:57 / " + bucketPod + " rw shared:9 - nfs4 127.0.0.1:/ rw,vers=4.1,hard,port=20300,addr=127.0.0.1"
		table   = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n" + mount
		timeout = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = Could not mount "fs-0a1b2c3d:/": mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t efs -o tls fs-0a1b2c3d:/ /x\nOutput: mount.nfs4: Connection timed out`
	)
	efs := func(phase string) *sketch.Sketch {
		return bucket(phase, "11:00").Edit("volumeHandle: h-1", "volumeHandle: fs-0a1b2c3d")
	}
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		want  []string
		says  string
	}{
		"the tunnel is gone":     {efs("Running").Node("n1", "proc/1/mountinfo", table, "@dial/127.0.0.1:20300", "@error ECONNREFUSED"), []string{"certain Node n1"}, "kube-system/bucket-1"},
		"the tunnel answers":     {efs("Running").Node("n1", "proc/1/mountinfo", table, "@dial/127.0.0.1:20300", "ok 1ms"), []string{}, ""},
		"words, the node unseen": {complains(efs("Pending"), timeout), []string{"likely Node n1"}, "fs-0a1b2c3d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.scene.Ask(t, "pvc shop/data", transport.NFSServerUnreachable)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Fatalf("causes mismatch (-want +got):\n%s", diff)
			}
			for _, f := range r.RootCauses {
				if !strings.Contains(f.Message, c.says) {
					t.Errorf("%q does not say %q", f.Message, c.says)
				}
				for _, m := range f.Remedies {
					if strings.Contains(m.Title, "Bring the server") {
						t.Errorf("advises to bring the node's own address back: %s", m.Title)
					}
				}
			}
		})
	}
}
