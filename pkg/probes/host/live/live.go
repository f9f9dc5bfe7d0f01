//go:build linux

// Package live is the door to the machine that the program runs on, seen as
// process 1 sees it. It reads proc, sysfs and files through /proc/1/root, and
// never waits longer than its deadline for any of them.
package live

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Limits of one run.
const (
	defaultDeadline = 3 * time.Second
	maxAbandoned    = 24      // calls that never returned; then nothing that can block is asked any more
	defaultLimit    = 1 << 20 // of ReadFile
	maxNames        = 300000  // in one directory
)

// Host answers from the running machine. It is safe for concurrent use.
type Host struct {
	deadline  time.Duration
	abandoned atomic.Int64
	guard     guard
	wanted    map[string][]string // by kind
}

var _ host.Host = (*Host)(nil)

// New returns the machine. The deadline is that of each single question; 0
// means the default of three seconds.
func New(deadline time.Duration) *Host {
	if deadline <= 0 {
		deadline = defaultDeadline
	}
	return &Host{deadline: deadline}
}

// Recorded is false.
func (h *Host) Recorded() bool { return false }

// Given is false.
func (h *Host) Given() bool { return false }

// Want adds a question that the machine itself does not lead to, such as the name of a
// server that a pod waits for. Call it before the first probe.
func (h *Host) Want(kind, question string) {
	if h.wanted == nil {
		h.wanted = map[string][]string{}
	}
	h.wanted[kind] = append(h.wanted[kind], question)
}

// Asked are the wanted questions: on a live machine the probes decide about the rest.
func (h *Host) Asked(kind string) []string { return h.wanted[kind] }

// Abandoned is the number of calls that did not return before their deadline.
// Each keeps one thread until the kernel lets it go or the process ends.
func (h *Host) Abandoned() int { return int(h.abandoned.Load()) }

// within runs a call that may block under the deadline. A call that does not
// return is left behind: a task in D state cannot be interrupted.
func within[T any](h *Host, limit time.Duration, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var zero T
	if h.abandoned.Load() >= maxAbandoned {
		return zero, fmt.Errorf("%d calls hang already: %w", maxAbandoned, host.ErrHang)
	}
	done := make(chan answer, 1)
	go func() {
		v, err := call()
		done <- answer{v, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		h.abandoned.Add(1)
		return zero, host.ErrHang
	}
}

// guarded runs a call under the deadline unless its path cannot block.
func guarded[T any](h *Host, path string, call func() (T, error)) (T, error) {
	if prompt(path) {
		return call()
	}
	return within(h, h.deadline, call)
}

// ReadFile reads a file of proc, of sysfs or of the host's root.
func (h *Host) ReadFile(path string, limit int) ([]byte, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	data, err := guarded(h, path, func() ([]byte, error) {
		fd, err := h.openFile(path)
		if err != nil {
			return nil, err
		}
		defer unix.Close(fd)
		return readAll(fd, limit)
	})
	if err != nil {
		return data, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// ReadTail reads the last bytes of a regular file such as a log; ErrCut is
// wrapped beside them when there was more before.
func (h *Host) ReadTail(path string, limit int) ([]byte, error) {
	type tail struct {
		data []byte
		cut  bool
	}
	got, err := within(h, h.deadline, func() (tail, error) {
		fd, err := h.openFile(path)
		if err != nil {
			return tail{}, err
		}
		defer unix.Close(fd)
		size, err := unix.Seek(fd, 0, unix.SEEK_END)
		if err != nil {
			return tail{}, err
		}
		from := max(0, size-int64(limit))
		if _, err := unix.Seek(fd, from, unix.SEEK_SET); err != nil {
			return tail{}, err
		}
		data, err := readAll(fd, limit)
		if errors.Is(err, host.ErrCut) {
			err = nil // it grew meanwhile
		}
		return tail{data, from > 0}, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", path, err)
	}
	if !got.cut {
		return got.data, nil
	}
	if _, whole, ok := bytes.Cut(got.data, []byte("\n")); ok {
		got.data = whole
	}
	return got.data, fmt.Errorf("read the end of %s: %w", path, host.ErrCut)
}

// buffers are what files, directories and links are read into.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// readAll reads to the end or to the limit. Files of proc have no length, and
// give at most a page per read on older kernels (fs/seq_file.c).
func readAll(fd, limit int) ([]byte, error) {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	var data []byte // what did not fit
	buf, used := *pooled, 0
	for {
		n, err := unix.Read(fd, buf[used:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return append(data, buf[:used]...), nil
		}
		used += n
		if len(data)+used > limit {
			data = append(data, buf[:used]...)
			return data[:limit:limit], host.ErrCut
		}
		if used == len(buf) {
			data, used = append(data, buf...), 0
		}
	}
}

// ReadDir lists a directory.
func (h *Host) ReadDir(path string) ([]string, error) {
	names, err := guarded(h, path, func() ([]string, error) {
		fd, err := h.openDir(path)
		if err != nil {
			return nil, err
		}
		defer unix.Close(fd)
		return list(fd)
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	slices.Sort(names)
	return names, nil
}

func list(fd int) ([]string, error) {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf := *pooled
	var names []string
	for {
		n, err := unix.Getdents(fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return names, nil
		case len(names) > maxNames:
			return nil, host.ErrCut
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// ReadLink reads a link, those of proc included, and follows none at the end.
func (h *Host) ReadLink(path string) (string, error) {
	text, err := guarded(h, path, func() (string, error) { return h.readLink(path) })
	if err != nil {
		return "", fmt.Errorf("read link %s: %w", path, err)
	}
	return text, nil
}

// Lstat tells the kind of an entry. A name of a mount point is not asked where
// the mount is not known to be local and alive.
func (h *Host) Lstat(path string) (host.Kind, probes.Dev, error) {
	st, err := within(h, h.deadline, func() (*unix.Statx_t, error) { return h.lstat(path) })
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return host.Absent, probes.Dev{}, nil
	case err != nil:
		return host.Absent, probes.Dev{}, fmt.Errorf("lstat %s: %w", path, err)
	}
	number := probes.Dev{Major: st.Rdev_major, Minor: st.Rdev_minor}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return host.Dir, probes.Dev{}, nil
	case unix.S_IFLNK:
		return host.Link, probes.Dev{}, nil
	case unix.S_IFBLK:
		return host.Device, number, nil
	case unix.S_IFCHR:
		return host.Char, number, nil
	case unix.S_IFSOCK:
		return host.Socket, probes.Dev{}, nil
	}
	return host.File, probes.Dev{}, nil
}

// isErrno tells whether an error is this errno.
func isErrno(err error, want syscall.Errno) bool {
	var e syscall.Errno
	return errors.As(err, &e) && e == want
}
