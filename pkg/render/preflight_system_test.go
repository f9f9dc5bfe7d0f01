package render

import "testing"

func TestShortSystem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Debian GNU/Linux 12 (bookworm)":         "Debian 12",
		"Rocky Linux 9.4 (Blue Onyx)":            "Rocky 9.4",
		"Talos (v1.13.8)":                        "Talos v1.13.8",
		"SUSE Linux Enterprise Server 15 SP6":    "SLES 15 SP6",
		"Red Hat Enterprise Linux CoreOS 417.94": "RHCOS 417.94",
		"Amazon Linux 2":                         "Amazon 2",
		"":                                       "",
	} {
		if got := shortSystem(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
