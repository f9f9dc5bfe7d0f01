package snapshot

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// Save writes a snapshot: a .tar.gz when the path says so, else a directory,
// which must not exist or be empty. It appears whole or not at all.
func Save(path string, s *Snapshot) error {
	var err error
	if strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz") {
		err = saveArchive(path, s)
	} else {
		err = saveDir(path, s)
	}
	if err != nil {
		return fmt.Errorf("save snapshot %s: %w", path, err)
	}
	return nil
}

// bare is an error without the temporary name that nobody asked for.
func bare(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func saveArchive(path string, s *Snapshot) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return bare(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, temp.Close(), os.Remove(temp.Name()))
		}
	}()
	if err := writeArchive(temp, s); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// writeArchive writes the same bytes for the same snapshot.
func writeArchive(w io.Writer, s *Snapshot) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	put := func(name string, data []byte) error {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: s.TakenAt.Truncate(time.Second)}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(data)
		return err
	}
	if err := write(s, put); err != nil {
		return err
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func saveDir(path string, s *Snapshot) (err error) {
	path = filepath.Clean(path)
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
		return errors.New("the directory is not empty")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return bare(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	put := func(name string, data []byte) error {
		file := filepath.Join(temp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o600)
	}
	if err := write(s, put); err != nil {
		return err
	}
	// Windows does not rename over a directory, not even over an empty one.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(temp, path)
}

// write puts every file of the snapshot in a fixed order.
func write(s *Snapshot, put func(name string, data []byte) error) error {
	checked := func(name string, data []byte) error {
		if clean, err := entryName(name); err != nil || clean != name || !wanted(name) {
			return fmt.Errorf("%q: %w", name, errOutside)
		}
		return put(name, data)
	}
	head, err := yaml.Marshal(header{
		APIVersion: APIVersion, Kind: "Snapshot", TakenAt: s.TakenAt.UTC().Format(time.RFC3339Nano),
		Server: headerServer{Version: s.Server}, Gaps: gapsOf(s),
	})
	if err != nil {
		return err
	}
	if err := checked(headerFile, head); err != nil {
		return err
	}
	if err := saveObjects(&s.Cluster, checked); err != nil {
		return err
	}
	if err := saveNodes(s, checked); err != nil {
		return err
	}
	return saveLogs(s, checked)
}

// gapsOf are the gaps of a snapshot and those of its capture: a node whose facts
// arrived without the recording that they come from.
func gapsOf(s *Snapshot) []Gap {
	var out []Gap
	for _, g := range s.Gaps {
		g.Detail = mask.Text(g.Detail)
		out = append(out, g)
	}
	for name, n := range s.Nodes {
		if n.Recording == nil {
			out = append(out, Gap{Need: "node/" + name, Reason: Truncated, Detail: "the node's recording did not arrive, so that what was found on it is not in this capture"})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Need < out[j].Need })
	return out
}

// saveNodes writes of each recording what probes and rules read. Facts alone cannot
// be saved, for what is in no recording cannot be replayed: they become a gap.
func saveNodes(s *Snapshot, put func(name string, data []byte) error) error {
	names := make([]string, 0, len(s.Nodes))
	for name := range s.Nodes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if s.Nodes[name].Recording == nil {
			continue // a gap: see unrecorded
		}
		data, err := kept.Recording(s.Nodes[name].Recording, s.Nodes[name].Facts)
		if err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
		if err := put(nodesDir+"/"+name+recordingExt, data); err != nil {
			return err
		}
	}
	return nil
}
