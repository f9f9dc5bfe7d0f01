package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// zip collects the files of a zip archive.
func (c *collection) zip(prefix string, f io.ReaderAt, size int64, depth int) error {
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("read zip: %w", err)
	}
	for _, entry := range archive.File {
		if err := c.count(); err != nil {
			return err
		}
		name, err := entryName(entry.Name)
		switch {
		case err != nil:
			c.refuse(prefix+entry.Name, err.Error())
			continue
		case entry.Mode().IsDir() || strings.HasSuffix(entry.Name, "/"):
			continue
		case !entry.Mode().IsRegular():
			c.refuse(prefix+name, "it is a link or a special file, which is not followed")
			continue
		case !wanted(name) && !header(name):
			continue
		}
		data, err := c.unzip(prefix+name, entry)
		if fatal(err) {
			return err
		}
		if err != nil {
			c.refuse(prefix+name, "it could not be unpacked: "+err.Error())
			c.cut(prefix+name, err)
			continue
		}
		if err := c.add(prefix+name, data, entry.Modified.UTC(), depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) unzip(name string, entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	data, err := c.read(name, r)
	return data, errors.Join(err, r.Close())
}

// header tells whether an entry belongs to a snapshot of ours that somebody zipped.
func header(name string) bool { return strings.HasSuffix(name, ".txtar") }

// gzip collects a .tar.gz, or the one file that is packed.
func (c *collection) gzip(prefix, name string, f io.Reader, at time.Time, depth int) error {
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read gzip: %w", err)
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(unzipped, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read gzip: %w", err)
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), unzipped)
	if isTar(head[:n]) {
		return c.tar(prefix, whole, depth)
	}
	plain := strings.TrimSuffix(name, ".gz")
	data, err := c.read(plain, whole)
	if err != nil && !fatal(err) {
		c.cut(plain, err)
		err = nil
	}
	if err != nil {
		return err
	}
	return c.add(plain, data, at, maxDepth)
}

// isTar tells whether a block is the first one of a tar archive.
func isTar(head []byte) bool {
	return len(head) == 512 && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// tar collects the files of a tar archive. One that ends too early is read as far as
// it goes, and nothing in it is whole.
func (c *collection) tar(prefix string, r io.Reader, depth int) error {
	counted := &counter{r: r, left: c.limits.Total + int64(c.limits.Entries)*1024}
	archive, last := tar.NewReader(counted), prefix
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if fatal(err) {
			return err
		}
		if err != nil {
			c.cut("after "+last, err)
			return nil
		}
		if err := c.count(); err != nil {
			return err
		}
		if err := c.tarred(prefix, entry, archive, depth); err != nil {
			return err
		}
		if path.Base(entry.Name) == "snapshot.yaml" && !c.zipped && c.ours() {
			return nil // the rest is read by who reads snapshots
		}
		last = entry.Name
	}
}

func (c *collection) tarred(prefix string, entry *tar.Header, archive io.Reader, depth int) error {
	if entry.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name, err := entryName(entry.Name)
	switch {
	case err != nil:
		c.refuse(prefix+entry.Name, err.Error())
		return nil
	case entry.Typeflag == tar.TypeDir:
		return nil
	case entry.Typeflag != tar.TypeReg:
		c.refuse(prefix+name, "it is a link or a special file, which is not followed")
		return nil
	case !wanted(name):
		return nil
	}
	data, err := c.read(prefix+name, archive)
	if fatal(err) {
		return err
	}
	if err != nil {
		c.cut(prefix+name, err)
		return nil
	}
	return c.add(prefix+name, data, entry.ModTime.UTC(), depth)
}

// counter bounds what is unpacked, also of entries that nobody wants.
type counter struct {
	r    io.Reader
	left int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, tooLarge{"the archive unpacks to more than the limit"}
	}
	return n, err
}

// sized describes an archive inside another one.
type sized struct {
	size int64
	at   time.Time
}

func (s sized) Name() string       { return "" }
func (s sized) Size() int64        { return s.size }
func (s sized) Mode() fs.FileMode  { return 0o600 }
func (s sized) ModTime() time.Time { return s.at }
func (s sized) IsDir() bool        { return false }
func (s sized) Sys() any           { return nil }
