package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle"
)

const nodeList = `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","creationTimestamp":"2026-05-04T09:00:00Z"}}]}`

// small are limits that a test can exceed.
var small = snapshot.Limits{Total: 1 << 20, File: 1 << 16, Entries: 30}

// rawTar writes entries of any type and name.
func rawTar(t *testing.T, entries ...*tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range append([]*tar.Header{{Name: "nodes.json", Linkname: nodeList}}, entries...) {
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
	name := filepath.Join(t.TempDir(), "b.tar")
	put(t, name, b.Bytes())
	return name
}

// TestHostile reads bundles that an attacker or a broken disk wrote: each is refused,
// or read in part with a gap that names the entry.
func TestHostile(t *testing.T) {
	t.Parallel()
	many := files{}
	for i := range 31 {
		many["a"+strings.Repeat("b", i)+".yaml"] = []byte("kind: x\n")
	}
	bomb := bytes.Repeat([]byte(" "), 1<<20)
	deep := zipped(files{"a.zip": zipped(files{"b.zip": zipped(files{"c.json": []byte(nodeList)})})})
	alias := "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
		"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nkind: Pod\napiVersion: v1\n"
	tests := map[string]struct {
		path string
		err  string // it is refused
		gap  string // it is read, and the gap says this
	}{
		"climbs out":          {path: rawTar(t, &tar.Header{Name: "../../etc/pods.yaml", Linkname: "x"}), gap: `object/../../etc/pods.yaml: its name leads outside`},
		"absolute":            {path: rawTar(t, &tar.Header{Name: "/etc/pods.yaml", Linkname: "x"}), gap: `object//etc/pods.yaml: its name leads outside`},
		"backslashes":         {path: write(t, files{`..\..\pods.yaml`: []byte("x"), "nodes.json": []byte(nodeList)}, "zip"), gap: `its name leads outside`},
		"zip climbs out":      {path: write(t, files{"../pods.yaml": []byte("x"), "nodes.json": []byte(nodeList)}, "zip"), gap: `object/../pods.yaml: its name leads outside`},
		"symbolic link":       {path: rawTar(t, &tar.Header{Name: "pods.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), gap: `object/pods.yaml: it is a link`},
		"hard link":           {path: rawTar(t, &tar.Header{Name: "pods.yaml", Typeflag: tar.TypeLink, Linkname: "nodes.json"}), gap: `object/pods.yaml: it is a link`},
		"device":              {path: rawTar(t, &tar.Header{Name: "pods.yaml", Typeflag: tar.TypeChar}), gap: `object/pods.yaml: it is a link or a special file`},
		"link in zip":         {path: linkInZip(t), gap: `object/pods.yaml: it is a link`},
		"entry twice":         {path: rawTar(t, &tar.Header{Name: "./nodes.json", Linkname: "{}"}), gap: `object/nodes.json: stands twice`},
		"too many":            {path: write(t, many, "zip"), err: "more than 30 files"},
		"file too large":      {path: write(t, files{"nodes.json": bomb}, "tar.gz"), err: `"nodes.json" is larger than 65536 bytes`},
		"zip bomb":            {path: write(t, files{"nodes.json": bomb}, "zip"), err: `"nodes.json" is larger than 65536 bytes`},
		"unwanted bomb":       {path: write(t, files{"core.bin": bytes.Repeat(bomb, 2), "z.json": []byte(nodeList)}, "tar.gz"), err: "unpacks to more than the limit"},
		"bomb in an archive":  {path: write(t, files{"nodes/n1.zip": zipped(files{"n1/logs/dmesg.log": bomb})}, "zip"), err: `"nodes/n1.zip/n1/logs/dmesg.log" is larger than 65536 bytes`},
		"archives in depth":   {path: write(t, files{"a.zip": deep, "nodes.json": []byte(nodeList)}, "zip"), gap: ""},
		"broken archive in":   {path: write(t, files{"nodes/n1.zip": []byte("PK\x03\x04 no zip"), "nodes.json": []byte(nodeList)}, "zip"), gap: `object/nodes/n1.zip: the archive could not be read`},
		"cut in the middle":   {path: cut(t, write(t, files{"nodes.json": []byte(nodeList), "x.log": randomText()}, "tar.gz")), gap: `api: the bundle could not be read whole`},
		"invalid UTF-8":       {path: write(t, files{"nodes.json": []byte(nodeList), "pods.yaml": []byte("kind: Pod\nmetadata: {name: \"\xff\xfe\xfd\"}\n")}, "dir"), gap: `object/pods.yaml: line 2: not UTF-8`},
		"aliases":             {path: write(t, files{"nodes.json": []byte(nodeList), "pods.yaml": []byte(alias)}, "dir"), gap: `object/pods.yaml: `},
		"keys twice":          {path: write(t, files{"nodes.json": []byte(nodeList), "pods.yaml": []byte("kind: Pod\nkind: Node\n")}, "dir"), gap: `object/pods.yaml: `},
		"half a file of JSON": {path: write(t, files{"nodes.json": []byte(nodeList), "pods.json": []byte(`{"kind":"List","items":[{"kind":"Po`)}, "dir"), gap: `object/pods.json: line 1`},
		"no objects":          {path: write(t, files{"a.yaml": []byte("a: b\n"), "b.log": []byte("x\n")}, "zip"), err: "without any Kubernetes object"},
		"other objects":       {path: write(t, files{"a.yaml": []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n")}, "zip"), err: `one file ("a.yaml") with 1 objects, none of a kind that rules know`},
		"packed with xz":      {path: file(t, "b.tar.xz", []byte("\xfd7zXZ\x00...")), err: "packed with xz: unpack it"},
		"empty":               {path: file(t, "b.zip", nil), err: "without any Kubernetes object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := bundle.LoadWithin(test.path, nil, small)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Cluster.Nodes) != 1 {
				t.Errorf("%d nodes were read, want 1", len(s.Cluster.Nodes))
			}
			if !says(s, test.gap) {
				t.Errorf("no gap says %q:\n%v", test.gap, s.Gaps)
			}
		})
	}
}

func says(s *snapshot.Snapshot, text string) bool {
	for _, g := range s.Gaps {
		if strings.Contains(g.Need+": "+g.Detail, text) {
			return true
		}
	}
	return false
}

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	put(t, name, data)
	return name
}

func cut(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	put(t, name, data[:len(data)*3/4])
	return name
}

// randomText does not compress, so that a cut falls into it.
func randomText() []byte {
	out, x := make([]byte, 60000), uint32(1)
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = byte('!' + x>>24%90)
	}
	return out
}

func linkInZip(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "pods.yaml"}
	h.SetMode(os.ModeSymlink | 0o777)
	e, err := w.CreateHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write([]byte("/etc/passwd")); err != nil {
		t.Fatal(err)
	}
	if e, err = w.Create("nodes.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write([]byte(nodeList)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file(t, "l.zip", b.Bytes())
}

// TestLinkInDirectory does not follow a link out of a bundle.
func TestLinkInDirectory(t *testing.T) {
	t.Parallel()
	dir := write(t, files{"nodes.json": []byte(nodeList)}, "dir")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "pods.yaml")); err != nil {
		t.Fatal(err)
	}
	s, err := bundle.Load(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !says(s, "object/pods.yaml: it is a link") {
		t.Errorf("no gap names the link: %v", s.Gaps)
	}
}

// FuzzLoad reads anything as a bundle: it never panics, and what is missing is a gap.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(nodeList))
	f.Add(zipped(files{"x/yamls/cluster/v1/nodes.yaml": []byte(nodeList), "x/nodes/n1.zip": zipped(files{"n1/logs/dmesg.log": []byte("kern  :err   : [Mon May  4 09:58:12 2026] EXT4-fs error (device sda)\n")})}))
	f.Add(tarred(files{"a/cluster-resources/pods/shop.json": []byte(`[{"metadata":{"name":"a","namespace":"shop"}}]`)}))
	f.Add([]byte("==== START logs for container c of pod a/b ====\nx\n==== END logs for container c of pod a/b ====\n" + nodeList))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := bundle.LoadWithin(bundle.Stdin, bytes.NewReader(data), small)
		if err != nil {
			return
		}
		if _, missing := snapshot.NewIndex(s).GapFor("/persistentvolumes"); !missing && len(s.Cluster.PVs) == 0 && !bytes.Contains(data, []byte("ersistent")) && !bytes.Contains(data, []byte("mountdoctor.io")) {
			t.Error("volumes that nobody collected were read as none")
		}
	})
}
