//go:build node

package node

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestStagedAndPublished(t *testing.T) {
	d := disk(t)
	command(t, "mkfs.ext4", "-q", "-F", d.path)
	root := filepath.Join(t.TempDir(), "kubelet")
	staging := root + "/plugins/kubernetes.io/csi/driver.example/0123/globalmount"
	target := root + "/pods/5b7b9d6e-1111-4222-8333-444444444444/volumes/kubernetes.io~csi/pv-1/mount"
	mount(t, d.path, staging)
	mount(t, "--bind", staging, target)
	kubelet := start(t, holderOptions{what: "sleep", name: "kubelet", args: []string{"--root-dir=" + root}})

	f := look(t)
	if f.Kubelet.PID != kubelet.pid || f.Kubelet.Root != root {
		t.Errorf("kubelet: got process %d, root %q; want %d, %q", f.Kubelet.PID, f.Kubelet.Root, kubelet.pid, root)
	}
	want := map[uint64][]string{f.Identity.InitMntNS: {staging, target}}
	if diff := cmp.Diff(want, mountsOf(f, d.dev)); diff != "" {
		t.Errorf("mounts mismatch (-want +got):\n%s", diff)
	}
	if !alive(f, d.name) {
		t.Errorf("no live superblock on %s: %+v", d.name, f.Superblocks)
	}
}

func TestPinnedInPrivateNamespace(t *testing.T) {
	d, point := volume(t)
	h := start(t, holderOptions{what: "sleep", namespace: true})
	command(t, "umount", point)

	f := look(t)
	mounts := mountsOf(f, d.dev)
	if len(mounts[f.Identity.InitMntNS]) != 0 || len(mounts) != 1 {
		t.Fatalf("mounts: %v", mounts)
	}
	for _, ns := range f.Namespaces {
		if mounts[ns.ID] != nil && !slices.Equal(ns.PIDs, []int{h.pid}) {
			t.Errorf("namespace %d holds the device with processes %v, want %d", ns.ID, ns.PIDs, h.pid)
		}
	}
	if !alive(f, d.name) {
		t.Errorf("no live superblock on %s", d.name)
	}
	h.release()
	if f := look(t); alive(f, d.name) || len(mountsOf(f, d.dev)) > 0 {
		t.Errorf("the device is free, but the facts say %v", mountsOf(f, d.dev))
	}
}

func TestDetachedMount(t *testing.T) {
	for _, tt := range []struct{ name, what, link string }{
		{"held by an open file", "file", "fd"},
		{"held by a working directory", "cwd", "cwd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, point := volume(t)
			held := point
			if tt.what == "file" {
				held = filepath.Join(point, "data")
				if err := os.WriteFile(held, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h := start(t, holderOptions{what: tt.what + ":" + held})
			command(t, "umount", "--lazy", point)

			f := look(t)
			if len(mountsOf(f, d.dev)) > 0 || !alive(f, d.name) {
				t.Fatalf("mounts %v, superblock alive %v; want none, true", mountsOf(f, d.dev), alive(f, d.name))
			}
			got := openers(f, d.dev)
			if len(got) != 1 || got[0].PID != h.pid {
				t.Fatalf("holders: got %+v, want process %d", got, h.pid)
			}
			if base := filepath.Base(filepath.Dir(got[0].Open[0].Path)); base != tt.link && filepath.Base(got[0].Open[0].Path) != tt.link {
				t.Errorf("held by %s, want its %s", got[0].Open[0].Path, tt.link)
			}
		})
	}
}

func TestExclusiveOpener(t *testing.T) {
	d := disk(t)
	h := start(t, holderOptions{what: "exclusive:" + d.path})
	f := look(t)
	got := openers(f, d.dev)
	if len(got) != 1 || got[0].PID != h.pid || !got[0].Open[0].Device {
		t.Errorf("openers: got %+v, want process %d with the device itself", got, h.pid)
	}
}

func TestSwap(t *testing.T) {
	d := disk(t)
	command(t, "mkswap", d.path)
	command(t, "swapon", d.path)
	t.Cleanup(func() { command(t, "swapoff", d.path) })
	f := look(t)
	if !slices.ContainsFunc(f.Swaps, func(s probes.Swap) bool { return s.Dev == d.dev }) {
		t.Errorf("swaps: got %+v, want one on %s", f.Swaps, d.dev)
	}
}

func TestLoopOverDevice(t *testing.T) {
	below := disk(t)
	above := loop(t, below.path)
	f := look(t)
	i := slices.IndexFunc(f.Block, func(b probes.BlockDevice) bool { return b.Dev == above.dev })
	if i < 0 || f.Block[i].LoopFile != below.path {
		t.Errorf("loop %s: got %+v, want a backing file %s", above.name, f.Block, below.path)
	}
}

func TestProcessOfPod(t *testing.T) {
	const (
		uid = "5b7b9d6e-1111-4222-8333-444444444444"
		id  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	)
	top := ""
	for _, dir := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/systemd"} {
		if _, err := os.Stat(dir + "/cgroup.procs"); err == nil {
			top = dir
			break
		}
	}
	if top == "" {
		t.Skip("NOT TESTED: no writable control group hierarchy")
	}
	top += "/kubepods-test-" + strconv.Itoa(os.Getpid())
	dirs := []string{top, top + "/burstable", top + "/burstable/pod" + uid, top + "/burstable/pod" + uid + "/" + id}
	t.Cleanup(func() {
		for _, dir := range slices.Backward(dirs) {
			_ = os.Remove(dir)
		}
	})
	for _, dir := range dirs {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
	}
	d, point := volume(t)
	h := start(t, holderOptions{what: "cwd:" + point, name: "kubelet", args: []string{"--root-dir=/forged"}})
	t.Cleanup(h.release)
	if err := os.WriteFile(dirs[3]+"/cgroup.procs", []byte(strconv.Itoa(h.pid)), 0o600); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	f := look(t)
	i := slices.IndexFunc(f.Processes, func(p probes.Process) bool { return p.PID == h.pid })
	if i < 0 {
		t.Fatal("the process is not in the facts")
	}
	if p := f.Processes[i]; p.Standing != probes.OfPod || f.Kubelet.PID != 0 || f.Kubelet.Root == "/forged" {
		t.Errorf("a pod's process that calls itself a kubelet is %q, the kubelet %+v", p.Standing, f.Kubelet)
	}
	if p := f.Processes[i]; p.PodUID != uid || p.ContainerID != id {
		t.Errorf("process: got pod %q, container %q from %q", p.PodUID, p.ContainerID, p.Cgroup)
	}
	if len(mountsOf(f, d.dev)) != 1 {
		t.Errorf("mounts: %v", mountsOf(f, d.dev))
	}
}
