package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// parts are what a capture writes; what else lies in a case stays.
var parts = []string{"snapshot.yaml", "cluster", "nodes", "logs"}

// rewrite loads a snapshot and writes it again in its place, as small as a capture
// is today. It says how much was there before.
func rewrite(dir string, out io.Writer) error {
	s, err := snapshot.Load(dir)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".shorten.*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	fresh := filepath.Join(temp, "capture")
	if err := snapshot.Save(fresh, s); err != nil {
		return err
	}
	before := size(dir)
	for _, p := range parts {
		if err := os.RemoveAll(filepath.Join(dir, p)); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(fresh, p), filepath.Join(dir, p)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	fmt.Fprintf(out, "%s: %d kB, were %d kB\n", dir, size(dir)>>10, before>>10)
	return nil
}

func size(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
