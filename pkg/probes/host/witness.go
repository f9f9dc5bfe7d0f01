package host

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Refusal is a path that was there and could not be read.
type Refusal struct {
	Path string
	Err  error
}

// Witness passes every question on and notes which answers were refused, so that
// no probe has to think of it and none can forget it. One witness sees one run of
// one probe.
type Witness struct {
	Host

	mu      sync.Mutex
	refused []Refusal
	paths   map[string]bool
	more    int
}

// mostRefusals bounds what a hostile tree can make us keep; the rest is counted.
const mostRefusals = 500

// Watch wraps a machine for one run of one probe.
func Watch(h Host) *Witness { return &Witness{Host: h, paths: map[string]bool{}} }

// Refused are the paths that could not be read, each once, in the order in which
// they were met, and how many more there were.
func (w *Witness) Refused() (list []Refusal, more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Refusal(nil), w.refused...), w.more
}

func (w *Witness) note(path string, err error) {
	if !Refuses(path, err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.paths[path]:
	case len(w.refused) == mostRefusals:
		w.more++
	default:
		w.paths[path] = true
		w.refused = append(w.refused, Refusal{path, err})
	}
}

// Vanished tells whether an error only says that the thing is not there, or no
// longer: a process that ended answers ESRCH (fs/proc/base.c), an unplugged device
// ENODEV.
func Vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) ||
		errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, ErrNotAsked)
}

// Refuses tells whether an error hides something that is there. EINVAL says that a
// link is none, or that an attribute has no value now; drivers say the latter in
// some more ways, but only in the kernel's own file systems. Elsewhere ENXIO is a
// FIFO, a socket or a device that stands where a file is expected.
func Refuses(path string, err error) bool {
	switch {
	case err == nil, Vanished(err), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EISDIR):
		return false
	case strings.HasPrefix(path, "sys/"), strings.HasPrefix(path, "proc/"):
		if errors.Is(err, ErrUnsafe) {
			return false // a place that is never asked
		}
		for _, silent := range []error{syscall.ENXIO, syscall.ENOTCONN, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EBUSY, syscall.EAGAIN} {
			if errors.Is(err, silent) {
				return false
			}
		}
		return !writeOnly(path, err)
	}
	return true
}

// writeOnly tells a module parameter that nobody may read, such as md_mod's
// new_array (mode 0200): its refusal is no gap.
func writeOnly(path string, err error) bool {
	return strings.HasPrefix(path, "sys/module/") && errors.Is(err, fs.ErrPermission)
}

// ReadFile passes on.
func (w *Witness) ReadFile(path string, limit int) ([]byte, error) {
	b, err := w.Host.ReadFile(path, limit)
	w.note(path, err)
	return b, err
}

// ReadTail passes on; that a log was cut at its beginning is what was asked for.
func (w *Witness) ReadTail(path string, limit int) ([]byte, error) {
	b, err := ReadTail(w.Host, path, limit)
	if !errors.Is(err, ErrCut) {
		w.note(path, err)
	}
	return b, err
}

// ReadDir passes on.
func (w *Witness) ReadDir(path string) ([]string, error) {
	names, err := w.Host.ReadDir(path)
	w.note(path, err)
	return names, err
}

// ReadLink passes on.
func (w *Witness) ReadLink(path string) (string, error) {
	target, err := w.Host.ReadLink(path)
	w.note(path, err)
	return target, err
}

// Lstat passes on.
func (w *Witness) Lstat(path string) (Kind, probes.Dev, error) {
	kind, dev, err := w.Host.Lstat(path)
	w.note(path, err)
	return kind, dev, err
}

// DevOf passes on.
func (w *Witness) DevOf(link string) (probes.Dev, error) {
	dev, err := w.Host.DevOf(link)
	w.note(link, err)
	return dev, err
}

// Claim passes on. Where the question itself fails there is no answer at all.
func (w *Witness) Claim(d probes.Dev) (string, error) {
	answer, err := w.Host.Claim(d)
	w.note("@claim/"+d.String(), err)
	return answer, err
}

// Hostname passes on.
func (w *Witness) Hostname() (string, error) {
	name, err := w.Host.Hostname()
	w.note("@hostname", err)
	return name, err
}

// Clock passes on.
func (w *Witness) Clock() (Clock, error) {
	c, err := w.Host.Clock()
	w.note("@clock", err)
	return c, err
}
