package probes_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// inOrder are the probes of mounts, processes and block devices.
var inOrder = []string{"identity", "process", "mountns", "blockdev", "devnode", "swap", "superblock", "openfiles", "content"}

func open(t *testing.T, path string) *host.Recorded {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := host.ParseRecording(b)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

func gather(t *testing.T, h host.Host) *probes.Facts {
	t.Helper()
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range agent.Probes {
		if !slices.Contains(inOrder, p.Name) {
			continue
		}
		agent.Step(t.Context(), h, p, f)
		if s := f.Status[p.Name]; s.State != "ok" {
			t.Errorf("%s: %s", p.Name, s.Detail)
		}
	}
	return f
}

func kernel(t *testing.T, snapshot string) *probes.Facts {
	t.Helper()
	return gather(t, open(t, filepath.Join("testdata", "kernels", snapshot+".txtar")))
}

func block(t *testing.T, f *probes.Facts, name string) probes.BlockDevice {
	t.Helper()
	for _, d := range f.Block {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no block device %s", name)
	return probes.BlockDevice{}
}

func superblockOf(f *probes.Facts, kname string) *probes.Superblock {
	for i := range f.Superblocks {
		if f.Superblocks[i].KName == kname {
			return &f.Superblocks[i]
		}
	}
	return nil
}

// mounts lists the lines with a number: those of the first namespace and those of
// all others.
func mounts(f *probes.Facts, dev probes.Dev) (first, others []probes.Mount) {
	for _, ns := range f.Namespaces {
		for _, m := range ns.Mounts {
			switch {
			case m.Dev != dev:
			case ns.ID == f.Identity.InitMntNS:
				first = append(first, m)
			default:
				others = append(others, m)
			}
		}
	}
	return first, others
}
