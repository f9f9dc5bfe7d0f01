//go:build node

package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Numbers of include/uapi/linux/fuse.h.
const (
	fuseGetattr = 3
	fuseOpen    = 14
	fuseStatfs  = 17
	fuseInit    = 26
	fuseOpendir = 27
	fuseReaddir = 28
)

// fuseFile is a small FUSE daemon: a filesystem whose root is a plain file or a
// directory, which answers like any other until it is told to fall silent. From then
// on every question to it waits for ever.
type fuseFile struct {
	fd     int
	silent atomic.Bool
	asked  atomic.Int64 // questions that were never answered
	mode   uint32
	ready  chan struct{} // closed when the kernel's first question, FUSE_INIT, was answered
}

// serveFUSE mounts such a filesystem.
func serveFUSE(t *testing.T, point string, mode uint32) *fuseFile {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("NOT TESTED: open /dev/fuse: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other", fd, mode)
	if err := unix.Mount("silent", point, "fuse.silent", 0, options); err != nil {
		unix.Close(fd)
		t.Skipf("NOT TESTED: mount a FUSE filesystem: %v", err)
	}
	s := &fuseFile{fd: fd, mode: mode, ready: make(chan struct{})}
	go s.serve()
	<-s.ready
	t.Cleanup(func() {
		if err := unix.Unmount(point, unix.MNT_DETACH|unix.MNT_FORCE); err != nil { // ends every wait
			t.Error(err)
		}
		unix.Close(fd)
	})
	return s
}

func (s *fuseFile) serve() {
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(s.fd, buf)
		if err == unix.EINTR || err == unix.EAGAIN || err == unix.ENOENT {
			continue
		}
		if err != nil || n < 40 {
			return // unmounted
		}
		le := binary.NativeEndian
		opcode, unique := le.Uint32(buf[4:]), le.Uint64(buf[8:])
		if s.silent.Load() {
			s.asked.Add(1)
			continue
		}
		payload, errno := s.answer(opcode)
		reply := le.AppendUint32(nil, uint32(16+len(payload)))
		reply = le.AppendUint32(reply, uint32(-int32(errno)))
		reply = append(le.AppendUint64(reply, unique), payload...)
		_, _ = unix.Write(s.fd, reply)
		if opcode == fuseInit {
			close(s.ready)
		}
	}
}

// answer makes the payload of a reply.
func (s *fuseFile) answer(opcode uint32) ([]byte, unix.Errno) {
	le := binary.NativeEndian
	switch opcode {
	case fuseInit: // fuse_init_out: 7.31, no features
		out := make([]byte, 64)
		le.PutUint32(out, 7)
		le.PutUint32(out[4:], 31)
		le.PutUint32(out[20:], 1<<17) // max_write
		return out, 0
	case fuseGetattr: // fuse_attr_out; valid for no time at all, so that each look asks again
		out := make([]byte, 104)
		le.PutUint64(out[16:], 1) // ino
		le.PutUint32(out[16+60:], s.mode)
		le.PutUint32(out[16+64:], 1) // nlink
		return out, 0
	case fuseOpen, fuseOpendir:
		return make([]byte, 16), 0
	case fuseReaddir:
		return nil, 0
	case fuseStatfs:
		return make([]byte, 80), 0
	}
	return nil, unix.ENOSYS
}

// TestSilentFUSE mounts filesystems whose daemons worked and fell silent wherever the
// agent looks: over plugins of the kubelet, over single files of the host, over a
// volume in which a process works. It must neither wait nor say that nothing is there.
func TestSilentFUSE(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kubelet")
	volumeDir := root + "/pods/5b7b9d6e-1111-4222-8333-444444444444/volumes/kubernetes.io~csi/pv/mount"
	var daemons []*fuseFile
	for _, dir := range []string{volumeDir, root + "/plugins_registry", root + "/plugins/driver.example", "/etc/udev/rules.d"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		daemons = append(daemons, serveFUSE(t, dir, unix.S_IFDIR|0o755))
	}
	daemons = append(daemons, serveFUSE(t, "/etc/fstab", unix.S_IFREG|0o644))
	for i := range 30 { // more than the agent would wait for one by one
		dir := fmt.Sprintf("%s/plugins/kubernetes.io/csi/driver.example/%d/globalmount", root, i)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		daemons = append(daemons, serveFUSE(t, dir, unix.S_IFDIR|0o755))
	}
	start(t, holderOptions{what: "sleep", name: "kubelet", args: []string{"--root-dir=" + root}})
	works := start(t, holderOptions{what: "cwd:" + volumeDir})
	for _, d := range daemons {
		d.silent.Store(true)
	}
	begin := time.Now()
	f := look(t)
	if took := time.Since(begin); took > enough {
		t.Errorf("the agent took %v", took)
	}
	asked := int64(0)
	for _, d := range daemons {
		asked += d.asked.Load()
	}
	if asked > 0 {
		t.Errorf("the agent asked the silent daemons %d times", asked)
	}
	complete(t, f, probes.Mounts, probes.Processes, probes.Descriptors, probes.Block)
	if !slices.ContainsFunc(f.Processes, func(p probes.Process) bool { return p.PID == works.pid && len(p.Open) > 0 }) {
		t.Error("the process that works in the volume is not seen")
	}
	for place, table := range map[string]probes.Table{
		root[1:] + "/plugins_registry": probes.KubeletDirs, "etc/udev/rules.d": probes.Files, "etc/fstab": probes.Files,
	} {
		c := f.Completeness(table)
		if !slices.ContainsFunc(c.Gaps(), func(p probes.Problem) bool { return p.Path == place }) {
			t.Errorf("table %s does not say that %s was not touched: %+v", table, place, c.Gaps())
		}
	}
}

// TestFIFOsAndDevicesForFiles: what stands where a file of the host is expected and
// is none is not opened, and said.
func TestFIFOsAndDevicesForFiles(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		unix.Mkfifo(dir+"/fifo.conf", 0o600), unix.Mknod(dir+"/device.conf", unix.S_IFCHR|0o600, int(unix.Mkdev(10, 130))),
		unix.Mknod(dir+"/socket.conf", unix.S_IFSOCK|0o600, 0),
		os.WriteFile(dir+"/plain.conf", []byte("Nfsvers=3\n"), 0o600), os.WriteFile(dir+"/long.conf", bytes.Repeat([]byte("# long\n"), 100000), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mount(t, "--bind", dir, place(t, "/etc/nfsmount.conf.d"))
	f := look(t)
	got := map[string]string{}
	for _, p := range f.Completeness(probes.Files).Gaps() {
		got[filepath.Base(p.Path)] = p.Text
	}
	if got["fifo.conf"] != "ENXIO" || got["plain.conf"] != "" || got["long.conf"] == "" || len(got) != 2 {
		t.Errorf("gaps: %v", got)
	}
	if f.Files["etc/nfsmount.conf.d/device.conf"].Kind != "char" || f.Files["etc/nfsmount.conf.d/socket.conf"].Kind != "socket" || f.Files["etc/nfsmount.conf.d/plain.conf"].Content == "" {
		t.Errorf("files: %+v", f.Files["etc/nfsmount.conf.d/device.conf"])
	}
}

// place makes a directory of the host for the time of a test, unless it is there.
func place(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err == nil {
		t.Cleanup(func() { os.Remove(dir) })
	} else if !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	return dir
}
