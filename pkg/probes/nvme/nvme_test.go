package nvme

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const machine = `a Longhorn v2 controller that reconnects
-- sys/class/nvme/nvme1/state --
connecting
-- sys/class/nvme/nvme1/transport --
tcp
-- sys/class/nvme/nvme1/address --
traddr=10.42.0.7,trsvcid=20006
-- sys/class/nvme/nvme1/subsysnqn --
nqn.2023-01.io.longhorn.spdk:pvc-1-e-0
-- sys/class/nvme/nvme1/nvme1c1n1/size --
8
-- sys/class/nvme-subsystem/nvme-subsys1/subsysnqn --
nqn.2023-01.io.longhorn.spdk:pvc-1-e-0
-- sys/class/nvme-subsystem/nvme-subsys1/nvme1n1/size --
8
`

func TestRun(t *testing.T) {
	h, err := host.ParseRecording([]byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{Block: []probes.BlockDevice{{Name: "nvme1n1"}, {Name: "nvme10n1"}, {Name: "nvme1n1p1"}}}
	if err := Run(t.Context(), h, f); err != nil {
		t.Fatal(err)
	}
	const nqn = "nqn.2023-01.io.longhorn.spdk:pvc-1-e-0"
	want := []probes.NVMeSubsystem{
		{Name: "nvme-subsys1", NQN: nqn, Namespaces: []string{"nvme1n1"}},
		{Name: "nvme1", NQN: nqn, State: "connecting", Transport: "tcp", Address: "traddr=10.42.0.7,trsvcid=20006", Namespaces: []string{"nvme1n1"}},
	}
	if diff := cmp.Diff(want, f.NVMe); diff != "" {
		t.Errorf("nvme mismatch (-want +got):\n%s", diff)
	}
}

func FuzzNamespace(f *testing.F) {
	f.Add("nvme0c1n1")
	f.Fuzz(func(t *testing.T, s string) {
		if namespace.MatchString(s) && len(s) < 7 {
			t.Fatalf("%q is no disk", s)
		}
	})
}
