package probes_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	oracle "github.com/moby/sys/mountinfo"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestCorpus runs the probes over every recording of the cases: nothing may be
// unreadable, and every mount line must be what another parser makes of it.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/cases/*/nodes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		node := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(file)))+"/"+node, func(t *testing.T) {
			t.Parallel()
			r := open(t, file)
			f := gather(t, r)
			for _, p := range f.Problems {
				if recorded(t, file, p.Path) {
					continue // what this machine could not read is part of its story
				}
				t.Errorf("problem: %+v", p)
			}
			if f.Identity.Hostname == "" || f.Identity.Kernel == "" || f.Identity.Clock.IsZero() || f.Identity.InitMntNS == 0 {
				t.Errorf("identity is not whole: %+v", f.Identity)
			}
			if len(f.Processes) == 0 || len(f.Namespaces) == 0 || f.Namespaces[0].TablePID == 0 {
				t.Error("no processes, or no mount table of process 1")
			}
			if n := len(f.Contents); n != len(r.Asked("content")) {
				t.Errorf("%d contents of %d", n, len(r.Asked("content")))
			}
			if n := len(f.Claims); n != len(r.Asked("claim")) {
				t.Errorf("%d claims of %d", n, len(r.Asked("claim")))
			}
			if n := len(f.Statfs); n != len(r.Asked("statfs")) {
				t.Errorf("%d statfs answers of %d", n, len(r.Asked("statfs")))
			}
			for _, ns := range f.Namespaces {
				compare(t, ns)
			}
		})
	}
}

// compare holds a table against github.com/moby/sys/mountinfo, which containerd
// and runc use.
func compare(t *testing.T, ns probes.MountNamespace) {
	t.Helper()
	var table bytes.Buffer
	for _, m := range ns.Mounts {
		table.WriteString(m.Raw + "\n")
	}
	want, err := oracle.GetMountsFromReader(&table, nil)
	if err != nil {
		t.Errorf("the other parser refuses the table of namespace %d: %v", ns.ID, err)
		return
	}
	if len(want) != len(ns.Mounts) {
		t.Errorf("namespace %d: %d lines, the other parser has %d", ns.ID, len(ns.Mounts), len(want))
		return
	}
	for i, m := range ns.Mounts {
		w := want[i]
		got := oracle.Info{
			ID: m.ID, Parent: m.Parent, Major: int(m.Dev.Major), Minor: int(m.Dev.Minor), Root: m.Root, Mountpoint: m.Point,
			Options: strings.Join(m.Options, ","), Optional: w.Optional, FSType: m.FSType, Source: m.Source, VFSOptions: strings.Join(m.Super, ","),
		}
		if diff := cmp.Diff(*w, got); diff != "" {
			t.Errorf("namespace %d, line %q (-other +ours):\n%s", ns.ID, m.Raw, diff)
		}
	}
}

// recorded tells whether a recording says itself that a path cannot be read.
func recorded(t *testing.T, file, path string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(raw), "\n-- "+strings.TrimPrefix(path, "/")+" --\n")
	return ok && strings.HasPrefix(body, "@error")
}
