package snapshot

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
)

// The names that a snapshot is made of.
const (
	headerFile   = "snapshot.yaml"
	clusterDir   = "cluster"
	nodesDir     = "nodes"
	logsDir      = "logs"
	recordingExt = ".txtar"
	logExt       = ".log"
)

// Load reads a snapshot: a directory, or a .tar.gz of the same tree. What
// cannot be read whole is an error or a gap that names it, never left out in silence.
func Load(path string) (*Snapshot, error) { return LoadWithin(path, DefaultLimits) }

// LoadWithin is Load with other limits.
func LoadWithin(path string, limits Limits) (*Snapshot, error) {
	files, err := readTree(path, limits)
	if err != nil {
		return nil, fmt.Errorf("load snapshot %s: %w", path, err)
	}
	s, err := decodeTree(files)
	if err != nil {
		return nil, fmt.Errorf("load snapshot %s: %w", path, err)
	}
	return s, nil
}

func readTree(path string, limits Limits) (tree, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return readDir(path, limits)
	case !info.Mode().IsRegular():
		return nil, errors.New("neither a directory nor a .tar.gz")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readArchive(f, limits)
}

// decodeTree makes a snapshot of its files. Each file's bytes are let go as soon
// as they are decoded.
func decodeTree(files tree) (*Snapshot, error) {
	data, ok := files[headerFile]
	if !ok {
		return nil, errors.New("no snapshot.yaml: not a snapshot")
	}
	s, err := decodeHeader(data)
	if err != nil {
		return nil, err
	}
	if err := decodeCluster(s, files); err != nil {
		return nil, err
	}
	if err := decodeLogs(s, files); err != nil {
		return nil, err
	}
	if err := decodeNodes(s, files); err != nil {
		return nil, err
	}
	return s, nil
}

// under returns the names of the files in a directory, sorted.
func (t tree) under(dir string) []string {
	var names []string
	for name := range t {
		if strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
