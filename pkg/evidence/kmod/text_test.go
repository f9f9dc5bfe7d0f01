package kmod

import (
	"slices"
	"testing"
)

// TestNeeds: what makes /dev/nvme-fabrics comes with the transport, which is what has to be loaded.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said      string
		own, want []string
	}{
		"a volume over TCP":        {"nvme_fabrics", []string{"nvme_tcp"}, []string{"nvme_tcp"}},
		"a volume of another kind": {"nvme_fabrics", nil, []string{"nvme_fabrics"}},
		"another module":           {"dm_mod", []string{"nvme_tcp"}, []string{"dm_mod"}},
	} {
		if got := (Said{Module: c.said}).Needs(c.own); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
