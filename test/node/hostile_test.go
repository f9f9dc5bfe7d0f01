//go:build node

package node

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// enough is how long the agent may take where somebody tries to keep it busy.
const enough = 25 * time.Second

// complete fails the test for each table in which something is missing.
func complete(t *testing.T, f *probes.Facts, tables ...probes.Table) {
	t.Helper()
	for _, table := range tables {
		if c := f.Completeness(table); !c.Complete() {
			t.Errorf("table %s: %s", table, c.Why())
		}
	}
}

// TestThisMachineIsReadWhole: on a machine that nobody troubles nothing is partial.
func TestThisMachineIsReadWhole(t *testing.T) {
	start(t, holderOptions{what: "sleep", namespace: true})
	volume(t)
	complete(t, look(t), probes.Mounts, probes.Processes, probes.Descriptors, probes.Block, probes.DeviceNodes, probes.Swaps, probes.Superblocks,
		probes.Files, probes.KubeletDirs, probes.Sessions, probes.NVMeDevices, probes.RBDDevices, probes.Maps, probes.NFSClient, probes.KernelLog,
		probes.Reach, probes.Contents, probes.Machine)
}

// TestImpostors starts processes that call themselves what the agent looks for, in
// PID namespaces of their own and as a user: nothing changes, and nothing that their
// arguments name is read.
func TestImpostors(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kubelet")
	real := start(t, holderOptions{what: "sleep", name: "kubelet", args: []string{"--root-dir=" + root}})
	secret := filepath.Join("/run", fmt.Sprintf("mountdoctor-secret-%d", os.Getpid()))
	if err := os.WriteFile(secret, []byte("--root-dir=/canary-value\ncanary-line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(secret) })
	before := look(t)
	for _, name := range []string{"kubelet", "kubelite", "hyperkube", "k3s-server", "iscsid", "multipathd", "rpc.statd"} {
		args := []string{"kubelet", "--root-dir=/forged", "--kubelet-args-file=/etc/shadow"}
		start(t, holderOptions{what: "sleep", name: name, args: args, container: true})
		start(t, holderOptions{what: "user:65534", name: name, args: []string{"--kubelet-args-file=" + secret}})
	}
	start(t, holderOptions{what: "sleep", name: "longhorn", args: []string{"replica", "/etc/replicas/x", "/host/etc/../etc/ssl/replicas/y"}, container: true})
	after, recording := lookAndRecord(t, "--record", "-")
	if before.Kubelet.PID != real.pid || before.Kubelet.Root != root {
		t.Fatalf("the real kubelet was not found: %+v", before.Kubelet)
	}
	for what, diff := range map[string]string{
		"kubelet": cmp.Diff(before.Kubelet, after.Kubelet), "iscsi": cmp.Diff(before.ISCSI, after.ISCSI),
		"multipath": cmp.Diff(before.Multipath.DaemonPIDs, after.Multipath.DaemonPIDs), "nfs": cmp.Diff(before.NFS.StatdPIDs, after.NFS.StatdPIDs),
	} {
		if diff != "" {
			t.Errorf("impostors change what is known of %s (-before +after):\n%s", what, diff)
		}
	}
	shadow, err := os.ReadFile("/etc/shadow")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(shadow, []byte("\n"))
	for _, canary := range [][]byte{[]byte("canary-line"), []byte("canary-value"), first, []byte("-- etc/shadow --")} {
		if bytes.Contains(recording, canary) {
			t.Errorf("the recording holds %q", canary)
		}
	}
	// With only impostors there is no kubelet at all.
	real.release()
	if f := look(t); f.Kubelet.PID != 0 || f.Kubelet.Root == "/forged" || f.Kubelet.Root == "/canary-value" {
		t.Errorf("an impostor became the kubelet: %+v", f.Kubelet)
	}
}

// TestArgumentsFile reads the file as MicroK8s writes it, and of it only the line
// about the directory.
func TestArgumentsFile(t *testing.T) {
	dir := "/var/snap/mountdoctor-test/7/args"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll("/var/snap/mountdoctor-test") })
	text := "--kubeconfig=${SNAP_DATA}/credentials/kubelet.config\n--token=canary-token\n--root-dir=\"${SNAP_COMMON}/var/lib/kubelet\"\n"
	if err := os.WriteFile(dir+"/kubelet", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{"/etc/shadow", dir + "/out"}, {"kubelet", dir + "/in"}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	const common = "/var/snap/mountdoctor-test/common/var/lib/kubelet"
	for _, tt := range []struct{ file, want string }{
		{dir + "/kubelet", common}, {dir + "/in", common}, {dir + "/out", "/var/lib/kubelet"}, {dir + "/fifo", "/var/lib/kubelet"},
		{"/etc/shadow", "/var/lib/kubelet"}, {"../../etc/shadow", "/var/lib/kubelet"}, {"/var/snap/../../etc/shadow", "/var/lib/kubelet"},
	} {
		h := start(t, holderOptions{what: "sleep", name: "kubelite", args: []string{"--kubelet-args-file=" + tt.file}})
		f, recording := lookAndRecord(t, "--record", "-")
		if f.Kubelet.PID != h.pid || f.Kubelet.Root != tt.want {
			t.Errorf("%s: got process %d, root %q; want %d, %q", tt.file, f.Kubelet.PID, f.Kubelet.Root, h.pid, tt.want)
		}
		if bytes.Contains(recording, []byte("canary-token")) || bytes.Contains(recording, []byte("-- etc/shadow --")) {
			t.Errorf("%s: the recording holds more than the directory", tt.file)
		}
		h.release()
	}
}

// TestNamesFullOfEscapes: mount points and names of processes with every byte that
// means something to a table.
func TestNamesFullOfEscapes(t *testing.T) {
	d, _ := volume(t)
	points := []string{"with space", "with\ttab", "with\nline\n36 35 8:1 / /forged rw - ext4 /dev/sda1 rw", `with\040backslash\`, "with#hash", "ende \\134n", "-- etc/shadow --", "(deleted)"}
	base := t.TempDir()
	for _, p := range points {
		at := filepath.Join(base, p)
		if err := errors.Join(os.MkdirAll(at, 0o755), unix.Mount(d.path, at, "ext4", 0, "")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(at, 0); err != nil {
				t.Error(err)
			}
		})
	}
	comm := []string{"a) R 1 (b", "a\nUid:\t0", "\x1b[31mred", "x (deleted)", "-- @kmsg --"}
	for _, name := range comm {
		start(t, holderOptions{what: "comm:" + name})
	}
	f, recording := lookAndRecord(t, "--record", "-")
	complete(t, f, probes.Mounts, probes.Processes, probes.Descriptors)
	again, err := host.ParseRecording(recording)
	if err != nil {
		t.Fatal(err)
	}
	for what, facts := range map[string]*probes.Facts{"machine": f, "recording": agent.Gather(t.Context(), again)} {
		var got []string
		for _, list := range mountsOf(facts, d.dev) {
			got = append(got, list...)
		}
		for _, p := range points {
			if !slices.Contains(got, filepath.Join(base, p)) {
				t.Errorf("%s: no mount at %q", what, p)
			}
		}
		if len(got) != len(points)+1 {
			t.Errorf("%s: %d mounts, want %d: %q", what, len(got), len(points)+1, got)
		}
		for _, name := range comm {
			if !slices.ContainsFunc(facts.Processes, func(p probes.Process) bool { return p.Comm == name }) {
				t.Errorf("%s: no process %q", what, name)
			}
		}
	}
}

// TestFarmsBelowTheKubelet: links in circles and out of the tree, FIFOs and devices
// where files are expected. It ends, leaves the tree by no link, and says what it
// could not read.
func TestFarmsBelowTheKubelet(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kubelet")
	pv := root + "/pods/5b7b9d6e-1111-4222-8333-444444444444/volumes/kubernetes.io~csi/pv"
	staged := root + "/plugins/kubernetes.io/csi/driver.example"
	for _, dir := range []string{pv + "/mount", staged + "/a", staged + "/b"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5000 {
		if err := os.Symlink([]string{"/", ".", "..", "/proc/self/root", "/etc"}[i%5], fmt.Sprintf("%s/mount/link-%d", pv, i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{root + "/pods/out", root + "/plugins/out", pv + "/../out"} {
		if err := os.Symlink("/etc", link); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		unix.Mkfifo(staged+"/a/vol_data.json", 0o600), os.Symlink("/etc/shadow", staged+"/b/vol_data.json"),
		unix.Mkfifo(pv+"/vol_data.json", 0o600), unix.Mknod(root+"/plugins/driver", unix.S_IFCHR|0o600, int(unix.Mkdev(10, 130))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	start(t, holderOptions{what: "sleep", name: "kubelet", args: []string{"--root-dir=" + root}})
	begin := time.Now()
	f, recording := lookAndRecord(t, "--record", "-")
	if took := time.Since(begin); took > enough {
		t.Errorf("the agent took %v", took)
	}
	if bytes.Contains(recording, []byte("-- etc/shadow --")) {
		t.Error("the recording holds a file that a link led to")
	}
	for _, p := range f.Kubelet.PodDirs {
		for _, v := range p.Volumes {
			if strings.Contains(v.Plugin+v.Name, "passwd") {
				t.Errorf("a link was followed out of the tree: %+v", v)
			}
		}
	}
	c := f.Completeness(probes.KubeletDirs)
	if c.Count() < 1000 || !slices.ContainsFunc(c.Gaps(), func(p probes.Problem) bool { return strings.HasSuffix(p.Path, "vol_data.json") && p.Text == "ENXIO" }) {
		t.Errorf("what was left out is not said: %d, %+v", c.Count(), c.Gaps())
	}
}
