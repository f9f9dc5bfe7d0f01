//go:build linux

package live

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// root is the host's root directory as process 1 has it.
const root = "/proc/1/root"

// direct returns the path by which the kernel's own filesystems are read. They
// contact no server, and their links do not leave them.
func direct(path string) (string, bool) {
	first, _, _ := strings.Cut(path, "/")
	switch first {
	case "proc":
		return "/" + path, true
	case "sys":
		// By the root of process 1, because a container's sysfs has its own view of
		// control groups and lacks what is mounted below (selinux, config, fuse).
		return root + "/" + path, true
	}
	return "", false
}

// forbidden are places of proc that lead away from it, wait for ever, or mount
// something when they are touched (binfmt_misc is an automount of systemd).
func forbidden(path string, follow bool) bool {
	rest, ok := strings.CutPrefix(path, "proc/")
	if !ok {
		return strings.HasPrefix(path, "sys/kernel/debug/tracing") || strings.HasPrefix(path, "sys/kernel/tracing")
	}
	parts := strings.Split(rest, "/")
	switch parts[0] {
	case "kmsg", "kcore", "self", "thread-self", "sysrq-trigger":
		return true
	case "sys":
		return strings.HasPrefix(rest, "sys/fs/binfmt_misc")
	}
	if _, err := strconv.Atoi(parts[0]); err != nil {
		return false
	}
	return magic(parts[1:], follow)
}

// magic tells whether a path below proc/PID passes through a link into a file
// system: cwd, root, exe, a descriptor or a mapped file (proc_pid_cwd(5) …).
func magic(parts []string, follow bool) bool {
	if len(parts) > 2 && parts[0] == "task" {
		parts = parts[2:]
	}
	if len(parts) == 0 {
		return false
	}
	depth := 0
	switch parts[0] {
	case "cwd", "root", "exe":
		depth = 1
	case "fd", "map_files", "ns":
		depth = 2
	default:
		return false
	}
	return len(parts) > depth || len(parts) == depth && follow
}

// prompt tells whether the kernel answers from memory under spin locks or RCU
// alone (fs/proc/base.c, fs/proc/array.c, fs/proc/fd.c). There are thousands of
// these per run. Not among them: cmdline, environ and maps, which take the
// process's mmap lock; cgroup and mountinfo, which take locks of whole subsystems.
func prompt(path string) bool {
	rest, ok := strings.CutPrefix(path, "proc/")
	if !ok {
		return false
	}
	pid, name, _ := strings.Cut(rest, "/")
	if pid == "" || pid[0] < '1' || pid[0] > '9' {
		return false
	}
	name, _, _ = strings.Cut(name, "/")
	switch name {
	case "stat", "comm", "status", "wchan", "ns", "fd", "fdinfo", "cwd", "root":
		return true
	}
	return false
}

// openFile opens a file for reading.
func (h *Host) openFile(path string) (int, error) {
	if forbidden(path, true) {
		return -1, host.ErrUnsafe
	}
	if p, ok := direct(path); ok {
		return open(p, unix.O_RDONLY|unix.O_NONBLOCK)
	}
	fd, err := h.walk(path, true, true)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	st, err := statFD(fd)
	if err != nil {
		return -1, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return reopen(fd, unix.O_RDONLY|unix.O_NONBLOCK)
	case unix.S_IFDIR:
		return -1, unix.EISDIR
	}
	// Opening a fifo, a socket or a device has effects of its own.
	return -1, unix.ENXIO
}

// openDir opens a directory for listing.
func (h *Host) openDir(path string) (int, error) {
	if forbidden(path, true) {
		return -1, host.ErrUnsafe
	}
	if p, ok := direct(path); ok {
		return open(p, unix.O_RDONLY|unix.O_DIRECTORY)
	}
	fd, err := h.walk(path, true, true)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return reopen(fd, unix.O_RDONLY|unix.O_DIRECTORY)
}

func (h *Host) readLink(path string) (string, error) {
	if forbidden(path, false) {
		return "", host.ErrUnsafe
	}
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf := (*pooled)[:unix.PathMax]
	if p, ok := direct(path); ok {
		n, err := unix.Readlink(p, buf)
		return string(buf[:max(n, 0)]), err
	}
	fd, err := h.walk(path, false, true)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	n, err := unix.Readlinkat(fd, "", buf)
	if isErrno(err, unix.ENOENT) {
		err = unix.EINVAL // not a link (readlink(2), empty path)
	}
	return string(buf[:max(n, 0)]), err
}

func (h *Host) lstat(path string) (*unix.Statx_t, error) {
	if forbidden(path, false) {
		return nil, host.ErrUnsafe
	}
	if p, ok := direct(path); ok {
		var st unix.Statx_t
		err := statx(unix.AT_FDCWD, p, unix.AT_SYMLINK_NOFOLLOW, &st)
		return &st, err
	}
	fd, err := h.walk(path, false, true)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return statFD(fd)
}

func open(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// reopen turns a path descriptor into one that reads. The time of the last
// access is left alone where the kernel allows it: nothing is written.
func reopen(fd, flags int) (int, error) {
	p := "/proc/self/fd/" + strconv.Itoa(fd)
	got, err := open(p, flags|unix.O_NOATIME)
	if isErrno(err, unix.EPERM) {
		return open(p, flags)
	}
	return got, err
}

func statFD(fd int) (*unix.Statx_t, error) {
	var st unix.Statx_t
	err := statx(fd, "", unix.AT_EMPTY_PATH, &st)
	return &st, err
}

// statx asks without contacting a server and without mounting anything. Kernels
// before 4.11 and old seccomp profiles have no statx; fstatat serves there.
func statx(dir int, path string, flags int, st *unix.Statx_t) error {
	const basics = unix.STATX_TYPE | unix.STATX_MODE
	err := unix.Statx(dir, path, flags|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, basics, st)
	if !isErrno(err, unix.ENOSYS) && !isErrno(err, unix.EPERM) {
		return err
	}
	var old unix.Stat_t
	if err := unix.Fstatat(dir, path, &old, flags|unix.AT_NO_AUTOMOUNT); err != nil {
		return err
	}
	st.Mode = uint16(old.Mode)
	st.Dev_major, st.Dev_minor = unix.Major(uint64(old.Dev)), unix.Minor(uint64(old.Dev))
	st.Rdev_major, st.Rdev_minor = unix.Major(uint64(old.Rdev)), unix.Minor(uint64(old.Rdev))
	return nil
}
