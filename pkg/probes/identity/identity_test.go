package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOSRelease(t *testing.T) {
	t.Parallel()
	got := ParseOSRelease("# comment\nID=talos\nNAME=\"Talos \\\"x\\\"\"\nVERSION='1.9 (a)'\n\nbroken line\nEMPTY=\n")
	want := map[string]string{"ID": "talos", "NAME": `Talos "x"`, "VERSION": "1.9 (a)", "EMPTY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func TestFirstCgroup(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"unified", "0::/init.scope\n", "/init.scope"},
		{"both hierarchies", "11:memory:/a\n1:name=systemd:/init.scope\n0::/\n", "/init.scope"},
		{"a container as process 1", "0::/docker/abc/init.scope", "/docker/abc/init.scope"},
		{"garbage", "x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := firstCgroup(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzParseOSRelease(f *testing.F) {
	f.Add("NAME=\"a\\\"b\"\nID='x'\n#c\n=\nA=\"")
	f.Fuzz(func(t *testing.T, in string) {
		for k := range ParseOSRelease(in) {
			if k == "" {
				t.Error("an empty key")
			}
		}
	})
}
