//go:build linux

package live

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// maxLinks is the kernel's own limit (path_resolution(7)).
const maxLinks = 40

// walk finds a path below the host's root, one component at a time, so that no
// link leaves the root and no mount is entered that the guard refuses. It
// returns a descriptor that can only be looked at (O_PATH). The last component
// is guarded only when asked: statfs means the mount point itself.
func (h *Host) walk(path string, follow, guardLast bool) (int, error) {
	base, err := open(root, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	w := walker{h: h, stack: []int{base}}
	defer w.close()
	rest, links := parts(path), 0
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		if c == ".." {
			w.up()
			continue
		}
		target, err := w.down(c, guardLast || len(rest) > 0)
		if err != nil {
			return -1, err
		}
		if target == "" || len(rest) == 0 && !follow {
			continue
		}
		if links++; links > maxLinks {
			return -1, unix.ELOOP
		}
		w.up()
		if strings.HasPrefix(target, "/") {
			w.reset()
		}
		rest = append(parts(target), rest...)
		if len(rest) > 0 && w.kernel(rest[0]) {
			return -1, host.ErrUnsafe
		}
	}
	return w.take(), nil
}

type walker struct {
	h     *Host
	stack []int // descriptors of the way, the root first
	names []string
}

// kernel tells whether the next step leads from the root into proc, whose links
// lead out again (etc/mtab and the like).
func (w *walker) kernel(next string) bool { return len(w.names) == 0 && next == "proc" }

// down enters an entry; for a link it returns the text.
func (w *walker) down(name string, guarded bool) (string, error) {
	at := "/" + strings.Join(append(w.names, name), "/")
	if guarded {
		if err := w.h.guard.check(at); err != nil {
			return "", err
		}
	}
	fd, err := unix.Openat(w.stack[len(w.stack)-1], name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	w.stack, w.names = append(w.stack, fd), append(w.names, name)
	if !guarded {
		return "", nil
	}
	st, err := statFD(fd)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", err
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err == nil && n == 0 {
		err = unix.ENOENT
	}
	return string(buf[:max(n, 0)]), err
}

func (w *walker) up() {
	if len(w.names) == 0 {
		return
	}
	unix.Close(w.stack[len(w.stack)-1])
	w.stack, w.names = w.stack[:len(w.stack)-1], w.names[:len(w.names)-1]
}

func (w *walker) reset() {
	for len(w.names) > 0 {
		w.up()
	}
}

// take hands out the last descriptor.
func (w *walker) take() int {
	fd := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	return fd
}

func (w *walker) close() {
	for _, fd := range w.stack {
		unix.Close(fd)
	}
}

func parts(p string) []string {
	var out []string
	for _, c := range strings.Split(p, "/") {
		if c != "" && c != "." {
			out = append(out, c)
		}
	}
	return out
}
