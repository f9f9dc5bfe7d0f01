//go:build linux

package live

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// maxKernelLog bounds the kernel log; its newest part is kept.
const maxKernelLog = 8 << 20

// Clock reads the wall clock and the time since boot.
func (h *Host) Clock() (host.Clock, error) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return host.Clock{}, fmt.Errorf("clock: %w", err)
	}
	wall := time.Now().UTC().Round(0)
	first, _, _ := strings.Cut(string(b), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return host.Clock{Wall: wall}, fmt.Errorf("clock: proc/uptime: %w", err)
	}
	return host.Clock{Wall: wall, Uptime: time.Duration(math.Round(seconds*100)) * 10 * time.Millisecond}, nil
}

// KernelLog reads /dev/kmsg to its present end (Documentation/ABI/testing/dev-kmsg).
// Reading it changes nothing: every reader has its own place in the log.
func (h *Host) KernelLog() ([]byte, error) {
	log, err := within(h, 2*h.deadline, func() ([]byte, error) {
		fd, err := h.openKmsg()
		if err != nil {
			return nil, err
		}
		defer unix.Close(fd)
		return readRecords(fd)
	})
	if err != nil {
		return nil, fmt.Errorf("read dev/kmsg: %w", err)
	}
	return log, nil
}

func (h *Host) openKmsg() (int, error) {
	if fd, err := h.walk("dev/kmsg", true, true); err == nil {
		defer unix.Close(fd)
		st, err := statFD(fd)
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev_major == 1 && st.Rdev_minor == 11 {
			return open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_NONBLOCK)
		}
	}
	return open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK)
}

func readRecords(fd int) ([]byte, error) {
	var log bytes.Buffer
	record := make([]byte, 32<<10) // CONSOLE_EXT_LOG_MAX is 8 KiB
	for {
		n, err := unix.Read(fd, record)
		switch {
		case err == unix.EINTR, err == unix.EPIPE:
			continue // EPIPE: records were overwritten before they were read
		case err == unix.EAGAIN, err == nil && n == 0:
			return log.Bytes(), nil
		case err != nil:
			return nil, err
		}
		log.Write(record[:n])
		if log.Len() > 2*maxKernelLog {
			keep := bytes.Clone(log.Bytes()[log.Len()-maxKernelLog:])
			log.Reset()
			log.Write(keep[bytes.IndexByte(keep, '\n')+1:])
		}
	}
}

// DevOf asks for the device number behind a magic link of proc: that of the
// block device itself, else of the filesystem that the file lies on. The kernel
// answers from the inode that it holds; no server is asked (AT_STATX_DONT_SYNC).
func (h *Host) DevOf(link string) (probes.Dev, error) {
	if !strings.HasPrefix(link, "proc/") {
		return probes.Dev{}, fmt.Errorf("device of %s: not a link of proc", link)
	}
	st, err := within(h, h.deadline, func() (*unix.Statx_t, error) {
		var st unix.Statx_t
		err := statx(unix.AT_FDCWD, "/"+link, 0, &st)
		return &st, err
	})
	if err != nil {
		return probes.Dev{}, fmt.Errorf("device of %s: %w", link, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		return probes.Dev{Major: st.Rdev_major, Minor: st.Rdev_minor}, nil
	}
	return probes.Dev{Major: st.Dev_major, Minor: st.Dev_minor}, nil
}

// Statfs asks a mount point for its numbers. It may hang on a dead server or
// device; then the call is left behind and the answer is ErrHang.
func (h *Host) Statfs(path string) (probes.FSStat, error) {
	s, err := within(h, h.deadline, func() (probes.FSStat, error) {
		fd, err := h.walk(path, true, false)
		if err != nil {
			return probes.FSStat{}, err
		}
		defer unix.Close(fd)
		var st unix.Statfs_t
		if err := unix.Fstatfs(fd, &st); err != nil {
			return probes.FSStat{}, err
		}
		return probes.FSStat{
			Blocks: st.Blocks, Free: st.Bfree, Avail: st.Bavail,
			Files: st.Files, FilesFree: st.Ffree, BlockSize: uint64(st.Bsize),
		}, nil
	})
	if err != nil {
		return probes.FSStat{Err: host.ErrnoName(err)}, fmt.Errorf("statfs %s: %w", path, err)
	}
	return s, nil
}
