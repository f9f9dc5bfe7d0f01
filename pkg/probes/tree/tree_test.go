package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

func guarded() Guard {
	return NewGuard(&probes.Facts{
		Identity: probes.Identity{InitMntNS: 1},
		Namespaces: []probes.MountNamespace{
			{ID: 1, Mounts: []probes.Mount{
				{Point: "/", FSType: "ext4", Dev: probes.Dev{Major: 8, Minor: 1}},
				{Point: "/srv/nas", FSType: "nfs4"},
				{Point: "/srv/disk", FSType: "ext4", Dev: probes.Dev{Major: 8, Minor: 16}},
				{Point: "/srv/good", FSType: "xfs", Dev: probes.Dev{Major: 8, Minor: 32}},
				{Point: "/misc", FSType: "autofs"},
			}},
			{ID: 2, Mounts: []probes.Mount{{Point: "/etc", FSType: "nfs4"}}},
		},
		Block: []probes.BlockDevice{
			{Name: "sda1", Dev: probes.Dev{Major: 8, Minor: 1}, State: "running"},
			{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, State: "transport-offline"},
		},
	})
}

func TestSafe(t *testing.T) {
	g := guarded()
	for path, want := range map[string]bool{
		"etc/fstab": true, "srv": true, "srv/nas": false, "srv/nas/a/b": false, "srv/nas2": true, "srv/disk/x": false, "srv/good/x": true, "misc/home": false,
	} {
		if got := g.Safe(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestAliasKnowsMountsBehindALink(t *testing.T) {
	g := guarded()
	g.Alias("/srv", "/var/data")
	if g.Safe("var/data/nas/x") || !g.Point("var/data/nas") {
		t.Error("a mount behind a link is not guarded")
	}
}

func TestWalkerNeverLooksBehindAMount(t *testing.T) {
	h, err := host.ParseRecording([]byte("-- srv/a --\nx\n-- srv/nas/below --\nx\n-- srv/good/below --\nx\n-- srv/d/e/f --\nx\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pattern string
		left    int
		want    []string
		cut     int
	}{
		{"srv/*", 99, []string{"srv/a", "srv/d", "srv/good", "srv/nas"}, 0},
		{"srv/*/below", 99, []string{"srv/good/below"}, 0},
		{"srv/**", 99, []string{"srv/a", "srv/d", "srv/d/e", "srv/d/e/f", "srv/good", "srv/nas"}, 0},
		{"srv/nas", 99, []string{"srv/nas"}, 0},
		{"srv/nas/below", 99, nil, 0},
		{"srv/**", 2, []string{"srv/a", "srv/d"}, 3},
	} {
		w := Walker{Host: h, Guard: guarded(), Left: c.left}
		var got []string
		w.Glob(t.Context(), c.pattern, func(e Entry) { got = append(got, e.Path) })
		if diff := cmp.Diff(c.want, got); diff != "" || w.Cut != c.cut {
			t.Errorf("%s: cut %d, mismatch (-want +got):\n%s", c.pattern, w.Cut, diff)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("srv/*/below")
	f.Add("**/[a")
	f.Fuzz(func(t *testing.T, pattern string) {
		h := host.NewRecorded()
		w := Walker{Host: h, Guard: guarded(), Left: 100}
		w.Glob(t.Context(), pattern, func(Entry) {})
	})
}

// unsafe refuses to look at one path, as a machine does where something was mounted.
type unsafe struct {
	host.Host
	path string
}

func (u unsafe) Lstat(p string) (host.Kind, probes.Dev, error) {
	if p == u.path {
		return host.Absent, probes.Dev{}, host.ErrUnsafe
	}
	return u.Host.Lstat(p)
}

// TestLate: what became a mount point since the guard was made is one, and no gap; what is
// refused for another reason stays one.
func TestLate(t *testing.T) {
	recorded, err := host.ParseRecording([]byte("-- srv/late/x --\ny\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		late    func(string) bool
		want    Entry
		refused int
	}{
		"mounted meanwhile": {func(string) bool { return true }, Entry{"srv/late", host.Dir, true}, 0},
		"something else":    {func(string) bool { return false }, Entry{"srv/late", host.Absent, false}, 1},
		"nobody looks":      {nil, Entry{"srv/late", host.Absent, false}, 1},
	} {
		watched := host.Watch(unsafe{recorded, "srv/late"})
		w := Walker{Host: watched, Left: 9, Late: tt.late}
		if got := w.Entry("srv/late"); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
		if list, _ := watched.Refused(); len(list) != tt.refused {
			t.Errorf("%s: %d refusals, want %d", name, len(list), tt.refused)
		}
	}
}
