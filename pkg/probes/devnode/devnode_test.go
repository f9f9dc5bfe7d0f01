package devnode

import "testing"

func TestFollow(t *testing.T) {
	t.Parallel()
	links := map[string]string{
		"/dev/disk/by-id/x": "../../sda", "/dev/vg/lv": "../mapper/vg-lv", "/dev/mapper/vg-lv": "../dm-0",
		"/dev/abs": "/dev/sdb", "/dev/loop": "loop", "/dev/up": "../../../../etc",
	}
	tests := []struct{ name, in, want string }{
		{"relative", "/dev/disk/by-id/x", "/dev/sda"},
		{"two steps", "/dev/vg/lv", "/dev/dm-0"},
		{"absolute", "/dev/abs", "/dev/sdb"},
		{"a circle ends", "/dev/loop", "/dev/loop"},
		{"above the root", "/dev/up", "/etc"},
		{"no link", "/dev/sda", "/dev/sda"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Follow(tt.in, func(p string) (string, bool) { v, ok := links[p]; return v, ok }); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("/dev/disk/by-id/x", "../../sda")
	f.Fuzz(func(t *testing.T, from, target string) {
		Follow(from, func(p string) (string, bool) { return target, p == from })
	})
}
