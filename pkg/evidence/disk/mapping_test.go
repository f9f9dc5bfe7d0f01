package disk

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestMapping(t *testing.T) {
	t.Parallel()
	disk := probes.Dev{Major: 8, Minor: 32}
	for _, tt := range []struct {
		name, uuid string
		want       bool
	}{
		{"pvc-1", "CRYPT-LUKS2-aa-pvc-1", true},
		{"pvc-1-encrypted", "CRYPT-LUKS2-aa-x", true},
		{"luks-pvc-1", "CRYPT-LUKS1-aa-x", true},
		{"luks-rbd-crypt-pvc-1", "CRYPT-LUKS2-aa-x", true},
		{"pvc-1", "LVM-aa", false},
		{"pvc-10", "CRYPT-LUKS2-aa-x", false},
		{"luks-root", "CRYPT-LUKS2-aa-x", false},
		{"luks-rbd-pvc-1", "CRYPT-LUKS2-aa-x", true},
		{"luks-trident_pvc_1", "CRYPT-LUKS2-aa-x", true},
		{"luks-trident_pvc_10", "CRYPT-LUKS2-aa-x", false},
		{"anything", "CRYPT-LUKS2-5f5f5f5f000040008000000000000005-anything", true},
		{"anything", "CRYPT-LUKS2-aaaaaaaa000040008000000000000005-anything", false},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: &probes.Facts{
			Contents: map[probes.Dev]probes.Content{disk: {Type: "crypto_LUKS", UUID: "5f5f5f5f-0000-4000-8000-000000000005"}},
			Block:    []probes.BlockDevice{{Name: "dm-3", Dev: probes.Dev{Major: 253, Minor: 3}, DM: &probes.DM{Name: tt.name, UUID: tt.uuid}}},
		}}}})
		if got := Mapping(x.View("n"), &snapshot.Volume{Handle: "pvc-1"}, disk) != nil; got != tt.want {
			t.Errorf("%s %s: %v, want %v", tt.name, tt.uuid, got, tt.want)
		}
	}
}
