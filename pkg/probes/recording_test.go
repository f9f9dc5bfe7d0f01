package probes_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/blockdev"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/content"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/devnode"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/identity"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/openfiles"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/superblock"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/swap"
)

// inOrder are the probes of mounts, processes and block devices as the agent
// runs them.
var inOrder = []struct {
	name string
	run  func(context.Context, host.Host, *probes.Facts) error
}{
	{"identity", identity.Run}, {"process", process.Run}, {"mountns", mountns.Run}, {"blockdev", blockdev.Run},
	{"devnode", devnode.Run}, {"swap", swap.Run}, {"superblock", superblock.Run}, {"openfiles", openfiles.Run}, {"content", content.Run},
}

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
	f := &probes.Facts{}
	for _, p := range inOrder {
		if err := p.run(t.Context(), h, f); err != nil {
			t.Errorf("%s: %v", p.name, err)
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
