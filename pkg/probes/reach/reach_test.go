package reach

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestQuestions(t *testing.T) {
	f := &probes.Facts{Namespaces: []probes.MountNamespace{{Mounts: []probes.Mount{
		{FSType: "nfs4", Source: "share.longhorn-system.svc:/vol", Super: []string{"rw", "addr=10.43.0.9"}},
		{FSType: "nfs4", Source: "10.43.0.9:/other", Super: []string{"addr=10.43.0.9"}},
		{FSType: "nfs", Source: "[fd00::5]:/v6", Super: []string{"addr=fd00::5", "port=2050"}},
		{FSType: "ext4", Source: "/dev/sda1"},
	}}}, ISCSI: probes.ISCSI{Sessions: []probes.ISCSISession{{Connections: []probes.ISCSIConnection{{PersistentAddress: "10.42.0.7", PersistentPort: "3260"}, {}}}}}}
	dials, names := Questions(f)
	if diff := cmp.Diff([]string{"10.42.0.7:3260", "10.43.0.9:2049", "[fd00::5]:2050"}, dials); diff != "" {
		t.Errorf("dials mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"share.longhorn-system.svc"}, names); diff != "" {
		t.Errorf("names mismatch (-want +got):\n%s", diff)
	}
}

func FuzzServerOf(f *testing.F) {
	f.Add("[fd00::5]:/v6")
	f.Add("host:/p:/q")
	f.Fuzz(func(t *testing.T, s string) {
		if len(ServerOf(s)) > len(s) {
			t.Fatal("server longer than its source")
		}
	})
}
