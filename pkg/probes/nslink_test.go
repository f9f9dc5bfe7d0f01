package probes

import "testing"

func TestUnescape(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "/mnt/a", "/mnt/a"},
		{"space", `/mnt/a\040b`, "/mnt/a b"},
		{"backslash stays one", `a\134040b`, `a\040b`},
		{"torn escape at the end", `/mnt/a\04`, `/mnt/a\04`},
		{"above one byte", `a\777b`, `a\777b`},
		{"at the end", `a\012`, "a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Unescape(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseNamespace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, kind string
		inode          uint64
		ok             bool
	}{
		{"mount", "mnt:[4026531841]", "mnt", 4026531841, true},
		{"no bracket", "mnt:4026531841", "", 0, false},
		{"no number", "mnt:[]", "", 0, false},
		{"a pipe is the same form", "pipe:[12]", "pipe", 12, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			kind, inode, ok := ParseNamespace(tt.in)
			if kind != tt.kind || inode != tt.inode || ok != tt.ok {
				t.Errorf("got %q %d %t, want %q %d %t", kind, inode, ok, tt.kind, tt.inode, tt.ok)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a/b", "/a/", true}, {"/ab", "/a", false}, {"/a", "/a/b", false},
		{"/a", "/", true}, {"/", "/", true}, {"a", "/", false}, {"/a", "", false}, {"", "", false}, {"sys/b", "sys", true},
	} {
		if got := Within(tt.path, tt.dir); got != tt.want {
			t.Errorf("%q within %q: %v", tt.path, tt.dir, got)
		}
	}
}
