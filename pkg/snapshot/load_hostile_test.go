package snapshot

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodHeader = "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: \"2026-05-04T10:00:00Z\"\n"

// archiveOf writes a .tar.gz of a header and more entries; the text of a plain
// file stands in Linkname.
func archiveOf(t testing.TB, headers ...*tar.Header) string {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	w := tar.NewWriter(zipped)
	for _, h := range append([]*tar.Header{{Name: headerFile, Linkname: goodHeader}}, headers...) {
		body := ""
		if h.Typeflag == 0 {
			body, h.Linkname = h.Linkname, ""
		}
		h.Size, h.Mode = int64(len(body)), 0o600
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.tar.gz")
	if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadRefusesArchive(t *testing.T) {
	t.Parallel()
	small := Limits{Total: 1 << 20, File: 1 << 16, Entries: 20}
	many := make([]*tar.Header, 21)
	for i := range many {
		many[i] = &tar.Header{Name: "cluster/" + strings.Repeat("a", i+1) + ".yaml"}
	}
	large := strings.Repeat("#", 1<<16)
	tests := map[string]struct {
		headers []*tar.Header
		want    string
	}{
		"path that climbs out": {[]*tar.Header{{Name: "cluster/../../etc/passwd.yaml"}}, `"cluster/../../etc/passwd.yaml": leads outside`},
		"absolute path":        {[]*tar.Header{{Name: "/cluster/a.yaml"}}, `"/cluster/a.yaml": leads outside`},
		"symbolic link":        {[]*tar.Header{{Name: "cluster/a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}, `"cluster/a.yaml" is a symbolic link`},
		"hard link":            {[]*tar.Header{{Name: "cluster/a.yaml", Typeflag: tar.TypeLink, Linkname: "snapshot.yaml"}}, `"cluster/a.yaml" is a hard link`},
		"named pipe":           {[]*tar.Header{{Name: "cluster/a.yaml", Typeflag: tar.TypeFifo}}, `"cluster/a.yaml" is a named pipe`},
		"entry twice":          {[]*tar.Header{{Name: "cluster/a.yaml"}, {Name: "./cluster/a.yaml"}}, `"cluster/a.yaml" stands twice`},
		"file too large":       {[]*tar.Header{{Name: "cluster/a.yaml", Linkname: large + "#"}}, `"cluster/a.yaml" is larger than 65536 bytes`},
		"too many files":       {many, "more than 20 files"},
		"too large in sum": {[]*tar.Header{
			{Name: "a", Linkname: large}, {Name: "b", Linkname: large}, {Name: "c", Linkname: large}, {Name: "d", Linkname: large},
			{Name: "e", Linkname: large}, {Name: "f", Linkname: large}, {Name: "g", Linkname: large}, {Name: "h", Linkname: large},
			{Name: "i", Linkname: large}, {Name: "j", Linkname: large}, {Name: "k", Linkname: large}, {Name: "l", Linkname: large},
			{Name: "m", Linkname: large}, {Name: "n", Linkname: large}, {Name: "o", Linkname: large}, {Name: "p", Linkname: large},
		}, "the snapshot is larger than 1048576 bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := LoadWithin(archiveOf(t, test.headers...), small)
			wantError(t, err, test.want)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

func TestLoadArchiveInDirectory(t *testing.T) {
	t.Parallel()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for name, body := range map[string]string{"./capture/snapshot.yaml": goodHeader, "./capture/cluster/._pods.yaml": "\x00\x05"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.tar")
	if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
}

// Every cut of an archive is an error: half a snapshot looks like health.
func TestLoadRefusesCutArchive(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(archiveOf(t, &tar.Header{Name: "cluster/a.yaml", Linkname: strings.Repeat("# padding\n", 300)}))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.tar.gz")
	for end := range len(whole) {
		if err := os.WriteFile(path, whole[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("the first %d of %d bytes load without an error", end, len(whole))
		}
	}
}

func TestLoadRefusesLinkInDirectory(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{"file": "cluster/a.yaml", "directory": "nodes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, headerFile), []byte(goodHeader), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/etc", filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
			_, err := Load(dir)
			wantError(t, err, `"`+link+`" is a symbolic link`)
		})
	}
}
