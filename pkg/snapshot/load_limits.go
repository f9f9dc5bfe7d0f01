package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Limits bound what a snapshot may cost its reader: a file from a stranger must
// not fill the memory of the machine that diagnoses.
type Limits struct {
	Total   int64 // bytes of all files, uncompressed
	File    int64 // bytes of one file
	Entries int   // files and directories
}

// DefaultLimits are far above the snapshot of the largest cluster known to us.
var DefaultLimits = Limits{Total: 2 << 30, File: 256 << 20, Entries: 200_000}

// budget is what is left of the limits while a tree is read.
type budget struct {
	Limits
	total   int64
	entries int
}

// entry counts one file or directory.
func (b *budget) entry() error {
	if b.entries++; b.entries > b.Entries {
		return fmt.Errorf("more than %d files", b.Entries)
	}
	return nil
}

// read reads one file whole or refuses it by name. Its size, as it is said to be, only saves
// copies.
func (b *budget) read(name string, r io.Reader, size int64) ([]byte, error) {
	most := min(b.File, b.Total-b.total)
	whole := bytes.NewBuffer(make([]byte, 0, max(0, min(size, most))+bytes.MinRead))
	if _, err := whole.ReadFrom(io.LimitReader(r, most+1)); err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	data := whole.Bytes()
	b.total += int64(len(data))
	switch {
	case int64(len(data)) > b.File:
		return nil, fmt.Errorf("%q is larger than %d bytes", name, b.File)
	case b.total > b.Total:
		return nil, fmt.Errorf("the snapshot is larger than %d bytes (at %q)", b.Total, name)
	}
	return data, nil
}

// errOutside refuses names that lead out of the snapshot.
var errOutside = errors.New("leads outside of the snapshot")

// entryName is the slash-separated name of an entry below the snapshot's root.
func entryName(raw string) (string, error) {
	name := strings.TrimSuffix(raw, "/")
	for strings.HasPrefix(name, "./") {
		name = strings.TrimPrefix(name, "./")
	}
	if name == "" {
		name = "."
	}
	if strings.ContainsRune(name, 0) || path.Clean(name) != name || !fs.ValidPath(name) {
		return "", fmt.Errorf("%q: %w", raw, errOutside)
	}
	return name, nil
}

// wanted tells whether a file of this name is part of a snapshot. Other files
// (a README, the leavings of a desktop) may lie beside it and are not read.
func wanted(name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, "._") {
		return false
	}
	dir, _, nested := strings.Cut(name, "/")
	if !nested {
		return name == headerFile
	}
	switch dir {
	case clusterDir:
		ext := path.Ext(base)
		return ext == ".yaml" || ext == ".yml" || ext == ".json"
	case nodesDir:
		return strings.HasSuffix(base, recordingExt)
	case logsDir:
		return strings.HasSuffix(base, logExt)
	}
	return false
}
