//go:build node

package node

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// TestThousandNamespaces measures the agent where grep takes minutes.
func TestThousandNamespaces(t *testing.T) {
	d, point := volume(t)
	const many = 1000
	h := start(t, holderOptions{what: fmt.Sprintf("namespaces:%d", many)})
	command(t, "umount", point)
	begin := time.Now()
	f := look(t)
	t.Logf("%d namespaces, %d processes in %v", len(f.Namespaces), len(f.Processes), time.Since(begin).Round(time.Millisecond))
	if got := len(mountsOf(f, d.dev)); got != many {
		t.Errorf("%d namespaces hold the device, want %d", got, many)
	}
	h.release()
}

// dead mounts a FUSE filesystem whose daemon never answers: every question to it
// waits for ever, as on a hard NFS mount of a dead server.
func dead(t *testing.T, point string) {
	t.Helper()
	if err := os.MkdirAll(point, 0o755); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("NOT TESTED: open /dev/fuse: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := unix.Mount("dead-server", point, "fuse.dead", 0, options); err != nil {
		unix.Close(fd)
		t.Skipf("NOT TESTED: mount a FUSE filesystem: %v", err)
	}
	t.Cleanup(func() {
		unix.Close(fd) // ends the connection, and every wait with it
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func TestDeadMountDoesNotHangTheAgent(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kubelet")
	pod := root + "/pods/5b7b9d6e-1111-4222-8333-444444444444"
	dead(t, pod+"/volumes/kubernetes.io~csi/pv-dead/mount")
	dead(t, root+"/plugins/kubernetes.io/csi/driver.example/0123/globalmount")
	start(t, holderOptions{what: "sleep", name: "kubelet", args: []string{"--root-dir", root}})
	begin := time.Now()
	f := look(t)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the agent took %v", took)
	}
	if len(f.Kubelet.PodDirs) != 1 {
		t.Errorf("pod directories: got %+v, want one beside the dead mount", f.Kubelet.PodDirs)
	}
}

// TestWritesNothing looks at every system call of the agent that could change
// the machine.
func TestWritesNothing(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("NOT TESTED: strace is not installed (apt-get install strace)")
	}
	volume(t)
	log := filepath.Join(t.TempDir(), "strace")
	calls := "open,openat,openat2,creat,mknod,mknodat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat," +
		"chmod,fchmodat,chown,fchownat,truncate,ftruncate,mount,umount2,move_mount,fsopen,open_tree,pivot_root,swapon,swapoff,setxattr,lsetxattr," +
		"init_module,finit_module,delete_module,kill,tgkill,ptrace,ioctl,bind,listen,sethostname,utimensat"
	var out bytes.Buffer
	c := exec.Command("strace", "-f", "-qq", "-o", log, "-e", "trace="+calls, os.Getenv(agentEnv), "--record", "-")
	c.Stdout = &out
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := agent.ReadFrames(&out, 1<<30, ""); err != nil {
		t.Fatal(err)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	opens := 0
	for line := range strings.Lines(string(trace)) {
		if strings.Contains(line, " open") {
			opens++
		}
		if harmful(line) {
			t.Errorf("the agent called: %s", line)
		}
	}
	if opens < 100 {
		t.Errorf("strace saw %d opens only: the test proves nothing", opens)
	}
}

var (
	reading = regexp.MustCompile(`^\d+ +(<\.\.\. )?open(at2?)?\b`)
	// The Go runtime prods its own threads; a terminal is asked for its size.
	ownThread = regexp.MustCompile(`^\d+ +(<\.\.\. )?tgkill(\(\d+, \d+, SIGURG| resumed)`)
	signals   = regexp.MustCompile(`^\d+ +(---|\+\+\+)`)
)

func harmful(line string) bool {
	switch {
	case signals.MatchString(line), ownThread.MatchString(line):
		return false
	case reading.MatchString(line):
		for _, flag := range []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"} {
			if strings.Contains(line, flag) {
				return true
			}
		}
		return false
	}
	return true
}

// TestRecordingBringsTheSameFacts records this machine and replays it.
func TestRecordingBringsTheSameFacts(t *testing.T) {
	start(t, holderOptions{what: "sleep", namespace: true})
	d, point := volume(t)
	start(t, holderOptions{what: "cwd:" + point})
	command(t, "umount", "--lazy", point)
	want, text := lookAndRecord(t, "--record", "-")
	r, err := host.ParseRecording(text)
	if err != nil {
		t.Fatal(err)
	}
	got := agent.Gather(t.Context(), r)
	if len(openers(got, d.dev)) != 1 {
		t.Errorf("the holder is not in the recording")
	}
	ignore := cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(probes.ProbeState{}, "Elapsed"),
		// A recording is read whole, so it tells more of files and small attributes
		// than a probe keeps on a machine.
		cmpopts.IgnoreFields(probes.Facts{}, "Files"),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("facts mismatch (-machine +recording):\n%s", diff)
	}
	for path, file := range want.Files {
		again, ok := got.Files[path]
		if !ok || again.Kind != file.Kind || file.Content != "" && strings.TrimSpace(file.Content) != strings.TrimSpace(again.Content) {
			t.Errorf("%s: got %+v, want %+v", path, again, file)
		}
	}
}
