package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func zipped(f files) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sortedKeys(f) {
		data := f[name]
		e, err := w.Create(name)
		if err != nil {
			panic(err)
		}
		if _, err := e.Write(data); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func tarred(f files) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range sortedKeys(f) {
		data := f[name]
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			panic(err)
		}
		if _, err := w.Write(data); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// write puts a bundle on disk: a directory, a zip or a .tar.gz.
func write(t testing.TB, f files, form string) string {
	t.Helper()
	dir := t.TempDir()
	switch form {
	case "zip":
		name := filepath.Join(dir, "b.zip")
		put(t, name, zipped(f))
		return name
	case "tar.gz":
		name := filepath.Join(dir, "b.tar.gz")
		put(t, name, tarred(f))
		return name
	}
	for name, data := range f {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return dir
}

func put(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
