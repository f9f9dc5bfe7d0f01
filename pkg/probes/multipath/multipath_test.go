package multipath

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParse(t *testing.T) {
	const text = `# a comment
defaults {
	user_friendly_names yes ! another one
	find_multipaths "no"
}
blacklist
{
	devnode "^sd[a-z]$" # why
	device { vendor "IET" 
		product "VIRTUAL ""DISK""" }
}
stray
`
	got, problems := Parse("etc/multipath.conf", text)
	const file = "/etc/multipath.conf"
	want := []probes.ConfigSection{
		{Name: "defaults", File: file, Line: 2, Settings: []probes.ConfigSetting{{Key: "user_friendly_names", Value: "yes", Line: 3}, {Key: "find_multipaths", Value: "no", Line: 4}}},
		{Name: "blacklist", File: file, Line: 6, Settings: []probes.ConfigSetting{{Key: "devnode", Value: "^sd[a-z]$", Line: 8}}, Sections: []probes.ConfigSection{
			{Name: "device", File: file, Line: 9, Settings: []probes.ConfigSetting{{Key: "vendor", Value: "IET", Line: 9}, {Key: "product", Value: `VIRTUAL "DISK"`, Line: 10}}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`line 12: setting "stray" has no value`}, problems); diff != "" {
		t.Errorf("problems mismatch (-want +got):\n%s", diff)
	}
}

func TestExcluded(t *testing.T) {
	longhorn := Disk{Vendor: "IET     ", Product: "VIRTUAL-DISK", WWID: "360000000000000000e00000000010001", Devnode: "sdc", Protocol: "scsi:iscsi"}
	for _, c := range []struct {
		name, conf string
		disk       Disk
		want       bool
		why        string
	}{
		{"nothing configured", "", longhorn, false, ""},
		{"empty blacklist", "blacklist {\n}", longhorn, false, ""},
		{"device node", `blacklist { devnode "^sd[a-z0-9]+" }`, longhorn, true, `blacklist { devnode "^sd[a-z0-9]+" }`},
		{"device node of another disk", `blacklist { devnode "^sdb$" }`, longhorn, false, ""},
		{"everything", `blacklist { devnode "*" }`, longhorn, true, `"*"`},
		{"vendor and product", `blacklist { device { vendor "IET" product "VIRTUAL-DISK" } }`, longhorn, true, "IET"},
		{"vendor of another product", `blacklist { device { vendor "IET" product "OTHER" } }`, longhorn, false, ""},
		{"vendor alone", `blacklist { device { vendor "IET" } }`, longhorn, true, "IET"},
		{"empty device section", `blacklist { device { } }`, longhorn, false, ""},
		{"negated device node", `blacklist { devnode "!^sda$" }`, longhorn, true, "!^sda$"},
		{"negated vendor", `blacklist { device { vendor "!NETAPP" product ".*" } }`, longhorn, true, "!NETAPP"},
		{"exception of the device", "blacklist { device { vendor \".*\" product \".*\" } }\nblacklist_exceptions { device { vendor IET product VIRTUAL } }", longhorn, false, ""},
		{"exception of another kind", "blacklist { wwid \".*\" }\nblacklist_exceptions { device { vendor IET product VIRTUAL } }", longhorn, true, "wwid"},
		{"wwid exception", "blacklist { wwid .* }\nblacklist_exceptions { wwid 360000000000000000e00000000010001 }", longhorn, false, ""},
		{"protocol", `blacklist { protocol "scsi:iscsi" }`, longhorn, true, "protocol"},
		{"product blacklist of a devices section", `devices { device { vendor IET product ZZ product_blacklist "VIRTUAL-DISK" } }`, longhorn, true, "devices"},
		{"devices section without one", `devices { device { vendor IET product VIRTUAL-DISK } }`, longhorn, false, ""},
		{"settings of other sections", `defaults { devnode "^sd" }`, longhorn, false, ""},
		{"a loop device is never taken", "", Disk{Devnode: "loop3"}, true, "built-in"},
		{"built-in overruled", `blacklist_exceptions { devnode "^vd" }`, Disk{Devnode: "vdb"}, false, ""},
		{"property", `blacklist { property "ID_ATA" }`, Disk{Devnode: "sda", Properties: map[string]string{"ID_ATA": "1"}}, true, "property"},
		{"property required", `blacklist_exceptions { property "(SCSI_IDENT_|ID_WWN)" }`, Disk{Devnode: "sda", Properties: map[string]string{"ID_BUS": "scsi"}}, true, "property"},
		{"property required and not seen", `blacklist_exceptions { property "ID_WWN" }`, Disk{Devnode: "sda"}, false, ""},
		{"broken expression", `blacklist { devnode "sd[" }`, longhorn, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, problems := Parse("etc/multipath.conf", c.conf)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, why := Excluded(cfg, c.disk)
			if got != c.want || !strings.Contains(why, c.why) {
				t.Errorf("got %v %q, want %v %q", got, why, c.want, c.why)
			}
		})
	}
}

func TestMaps(t *testing.T) {
	const answer = `{"major_version":0,"maps":[{"name":"mpatha","uuid":"3600","sysfs":"dm-3","path_groups":[{"paths":[{"dev":"sdc","dm_st":"active","chk_st":"ready"},{"dev":"sdd","dm_st":"failed","chk_st":"faulty"}]}]}]}`
	got, err := Maps([]byte(answer))
	if err != nil {
		t.Fatal(err)
	}
	want := []probes.MultipathMap{{Name: "mpatha", WWID: "3600", Sysfs: "dm-3", Paths: []string{"sdc", "sdd"}, Dead: []string{"sdd"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("maps mismatch (-want +got):\n%s", diff)
	}
}

func TestPathless(t *testing.T) {
	for answer, want := range map[string]bool{
		`"paths":0,"path_groups":[]`: true,
		`"path_groups":[]`:           true,
		`"paths":0`:                  true,
		`"paths":4`:                  false, // only counted
		`"paths":4,"path_groups":[]`: false,
		`"uuid":"3600"`:              false,
		`"paths":1,"path_groups":[{"paths":[{"dev":"sdc"}]}]`: false,
	} {
		got, err := Maps([]byte(`{"maps":[{"sysfs":"dm-3",` + answer + `}]}`))
		if err != nil || len(got) != 1 || got[0].Pathless != want {
			t.Errorf("%s: %+v %v, want Pathless %v", answer, got, err, want)
		}
	}
}

func TestWWIDs(t *testing.T) {
	got := WWIDs("# Valid WWIDs:\n/3600a/\n#/3600b/\n/3600c\n")
	if diff := cmp.Diff([]string{"3600a"}, got); diff != "" {
		t.Errorf("wwids mismatch (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("blacklist {\n devnode \"^sd\"\n device { vendor IET } }\n")
	f.Add("}}{ \"\"\" ! #")
	f.Fuzz(func(t *testing.T, text string) {
		cfg, _ := Parse("etc/multipath.conf", text)
		Excluded(cfg, Disk{Vendor: "IET", Product: "VIRTUAL-DISK", Devnode: "sda", WWID: "3600", Protocol: "scsi:iscsi", Properties: map[string]string{"ID_WWN": "1"}})
	})
}
