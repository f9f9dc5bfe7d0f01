package rbd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const machine = `two mapped images, the second of a kernel without single_major
-- sys/bus/rbd/devices/10/pool --
replicapool
-- sys/bus/rbd/devices/10/name --
csi-vol-b
-- sys/bus/rbd/devices/2/pool --
replicapool
-- sys/bus/rbd/devices/2/name --
csi-vol-a
-- sys/bus/rbd/devices/2/major --
252
-- sys/bus/rbd/devices/2/minor --
32
-- sys/bus/rbd/devices/2/client_id --
client4417
`

func TestRun(t *testing.T) {
	h, err := host.ParseRecording([]byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{Block: []probes.BlockDevice{{Name: "rbd10", Dev: probes.Dev{Major: 251}}}}
	if err := Run(t.Context(), h, f); err != nil {
		t.Fatal(err)
	}
	want := []probes.RBDDevice{
		{ID: "2", Name: "rbd2", Pool: "replicapool", Image: "csi-vol-a", ClientID: "client4417", Dev: probes.Dev{Major: 252, Minor: 32}},
		{ID: "10", Name: "rbd10", Pool: "replicapool", Image: "csi-vol-b", Dev: probes.Dev{Major: 251}},
	}
	if diff := cmp.Diff(want, f.RBD); diff != "" {
		t.Errorf("rbd mismatch (-want +got):\n%s", diff)
	}
}
