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

func saveArchive(path string, s *Snapshot) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
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
		return err
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
		Server: headerServer{Version: s.Server}, Gaps: s.Gaps,
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

// saveNodes writes the recordings verbatim. Facts alone cannot be saved: what is
// in no recording cannot be replayed.
func saveNodes(s *Snapshot, put func(name string, data []byte) error) error {
	names := make([]string, 0, len(s.Nodes))
	for name := range s.Nodes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if s.Nodes[name].Recording == nil {
			return fmt.Errorf("node %s has no recording", name)
		}
		if err := put(nodesDir+"/"+name+recordingExt, s.Nodes[name].Recording); err != nil {
			return err
		}
	}
	return nil
}

func saveLogs(s *Snapshot, put func(name string, data []byte) error) error {
	for _, log := range s.Logs {
		ext := logExt
		if log.Previous {
			ext = previousLog
		}
		name := strings.Join([]string{logsDir, log.Namespace, log.Pod, log.Container + ext}, "/")
		text := ""
		if len(log.Lines) > 0 {
			text = strings.Join(log.Lines, "\n") + "\n"
		}
		if err := put(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}
