package remedy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What stands in a block comes from a disk or a server, and must not be able to say more
// than the value of one setting.
func TestConfigLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"vendor and product", Blacklist("IET     ", "VIRTUAL-DISK", "3600"), []string{"blacklist {", "    device {", `        vendor "IET"`, `        product "VIRTUAL-DISK"`, "    }", "}"}},
		{"a product that ends the value", Blacklist("IET", `X" } }`, "36001405aa"), []string{"blacklist {", `    wwid "36001405aa"`, "}"}},
		{"a product that is a pattern", Blacklist("IET", ".*", "36001405aa"), []string{"blacklist {", `    wwid "36001405aa"`, "}"}},
		{"no vendor", Blacklist("", "BlockVolume", "36001405aa"), []string{"blacklist {", `    wwid "36001405aa"`, "}"}},
		{"nothing plain", Blacklist("", "", "3600\n}"), nil},
		{"a domain", IDMapDomain("corp.example.com"), []string{"[General]", "Domain = corp.example.com"}},
		{"a domain of two lines", IDMapDomain("corp\n[Mapping]"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
