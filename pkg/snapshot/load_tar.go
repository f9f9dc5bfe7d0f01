package snapshot

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// readArchive reads a .tar.gz (or a plain .tar) of a snapshot's tree.
func readArchive(r io.Reader, limits Limits) (tree, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	magic, _ := buffered.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return readTar(buffered, limits)
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	return readTar(unzipped, limits)
}

// readTar reads all entries, then the rest of the stream, so that a cut archive
// or a wrong checksum is seen.
func readTar(r io.Reader, limits Limits) (tree, error) {
	files, seen, left := tree{}, map[string]bool{}, &budget{Limits: limits}
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read tar: %w", err)
		}
		if err := readEntry(archive, header, files, seen, left); err != nil {
			return nil, err
		}
	}
	if len(seen) == 0 {
		return nil, errors.New("the archive is empty")
	}
	if err := drain(r, left); err != nil {
		return nil, err
	}
	return files.unwrap(), nil
}

// readEntry reads one entry of the archive into files.
func readEntry(r io.Reader, header *tar.Header, files tree, seen map[string]bool, left *budget) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if err := left.entry(); err != nil {
		return err
	}
	name, err := entryName(header.Name)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		seen[name] = true
		return nil
	case tar.TypeReg:
	case tar.TypeLink:
		return fmt.Errorf("%q is a hard link, not a file", name)
	default:
		return fmt.Errorf("%q is a %s, not a file", name, typeName(header.FileInfo().Mode()))
	}
	if seen[name] {
		return fmt.Errorf("%q stands twice in the archive", name)
	}
	seen[name] = true
	data, err := left.read(name, r, header.Size)
	if err == nil {
		files[name] = data
	}
	return err
}

// drain reads what follows the end of the archive, which may only be zeros.
func drain(r io.Reader, left *budget) error {
	block := make([]byte, 1<<15)
	for {
		n, err := r.Read(block)
		if len(bytes.Trim(block[:n], "\x00")) > 0 {
			return errors.New("read tar: data after the end of the archive")
		}
		if left.total += int64(n); left.total > left.Total {
			return fmt.Errorf("the snapshot is larger than %d bytes", left.Total)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read gzip: %w", err)
		}
	}
}

// unwrap drops the files that are no part of a snapshot and a single directory
// around it, which "tar czf s.tar.gz DIR" leaves.
func (t tree) unwrap() tree {
	prefix := ""
	if _, ok := t[headerFile]; !ok {
		for name := range t {
			dir, base := path.Split(name)
			if base == headerFile && strings.Count(dir, "/") == 1 && (prefix == "" || dir < prefix) {
				prefix = dir
			}
		}
	}
	files := tree{}
	for name, data := range t {
		if rest, ok := strings.CutPrefix(name, prefix); ok && wanted(rest) {
			files[rest] = data
		}
	}
	return files
}
