package swap

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []probes.Swap
	}{
		{"heading only", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n", nil},
		{"partition and file", "Filename Type Size Used Priority\n/dev/sda                                partition\t65532\t0\t-2\n/swap\\040file file 1 0 -3\n",
			[]probes.Swap{{Path: "/dev/sda", Type: "partition"}, {Path: "/swap file", Type: "file"}}},
		{"node removed since", "Filename Type\n/dev/longhorn/x\\040(deleted) partition 1 0 -2", []probes.Swap{{Path: "/dev/longhorn/x (deleted)", Type: "partition"}}},
		{"torn line", "Filename Type\n/dev/sd", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Parse(tt.in)); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	dev := probes.Dev{Major: 253, Minor: 3}
	f := &probes.Facts{
		Block:       []probes.BlockDevice{{Name: "dm-3", Dev: dev, DM: &probes.DM{Name: "vg-swap"}}},
		DeviceNodes: []probes.DeviceNode{{Path: "/dev/longhorn/x", Dev: dev}},
		DevLinks:    []probes.DevLink{{Path: "/dev/vg/swap", Target: "../dm-3", Dev: dev}},
	}
	for _, path := range []string{"/dev/dm-3", "/dev/mapper/vg-swap", "/dev/longhorn/x (deleted)", "/dev/vg/swap"} {
		if got := number(f, path); got != dev {
			t.Errorf("%s: got %v, want %v", path, got, dev)
		}
	}
	if got := number(f, "/dev/sdz"); !got.IsZero() {
		t.Errorf("an unknown device has number %v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Filename Type\n/dev/sda partition 1 0 -2\n/a\\040b file")
	f.Fuzz(func(t *testing.T, in string) {
		for _, s := range Parse(in) {
			if s.Path == "" || s.Type == "" {
				t.Errorf("half a line: %+v", s)
			}
		}
	})
}
