package host

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Recorder is a Host that passes every question on and remembers the answers.
// Write writes them as a recording, over which probes find the same facts.
type Recorder struct {
	inner   Host
	mu      sync.Mutex
	seen    map[string]*node           // by path; err set when only an error is known
	absent  map[string]bool            // asked, and not there
	listed  map[string][]string        // directory → names
	answers map[string]map[string]node // kind → question
}

var _ Host = (*Recorder)(nil)

// NewRecorder wraps a machine.
func NewRecorder(inner Host) *Recorder {
	return &Recorder{
		inner: inner, seen: map[string]*node{}, absent: map[string]bool{},
		listed: map[string][]string{}, answers: map[string]map[string]node{},
	}
}

// Recorded and Asked are those of the machine.
func (r *Recorder) Recorded() bool { return r.inner.Recorded() }

// Given is what the machine says of itself.
func (r *Recorder) Given() bool { return r.inner.Given() }

// Asked is what the machine says.
func (r *Recorder) Asked(kind string) []string { return r.inner.Asked(kind) }

func clean(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") }

// gone tells whether an error says that there is no such entry (any more).
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ESRCH) || errors.Is(err, ErrNotAsked)
}

// note keeps what is known of a path. An error never replaces a content, and
// neither gives way to the mere presence.
func (r *Recorder) note(p string, n *node, err error) {
	p = clean(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case gone(err):
		r.absent[p] = true
	case err != nil && !errors.Is(err, ErrUnsafe) && !errors.Is(err, ErrCut) && ErrnoName(err) != "hang" && !isErrnoName(ErrnoName(err)):
		// One of our own refusals: nothing was learnt about the machine.
	case err != nil:
		if old := r.seen[p]; old == nil || old.kind == Dir || old.kind == File && old.data == nil && old.err == nil {
			r.seen[p] = &node{kind: File, err: recordedError(err)}
		}
	default:
		if old := r.seen[p]; old != nil && old.kind == Link && n.kind == File && n.data != nil {
			p += "/" // read through the link: it lies where that leads
		}
		presence := n.kind == Dir || n.kind == File && n.data == nil
		if old := r.seen[p]; old == nil || !presence && (old.err != nil || old.kind == File && old.data == nil) {
			r.seen[p] = n
		}
	}
}

// recordedError is how a recording writes an error. What was not touched because
// it could hang is written as what would block, a directory that was too long as
// what is too big.
func recordedError(err error) error {
	switch {
	case errors.Is(err, ErrUnsafe):
		return syscall.EAGAIN
	case errors.Is(err, ErrCut):
		return syscall.EFBIG
	}
	if name := ErrnoName(err); name != "hang" {
		return Errno(name)
	}
	return ErrHang
}

func (r *Recorder) answer(kind, key, text string, err error) {
	if err != nil {
		if name := ErrnoName(err); name != "hang" && !isErrnoName(name) {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers[kind] == nil {
		r.answers[kind] = map[string]node{}
	}
	if _, ok := r.answers[kind][key]; ok {
		return
	}
	n := node{kind: File, data: []byte(text)}
	if err != nil {
		n.err = recordedError(err)
	}
	r.answers[kind][key] = n
}

// ReadFile passes on and remembers. What was cut is kept with a little more than
// the limit, so that the replay is cut as well.
func (r *Recorder) ReadFile(p string, limit int) ([]byte, error) {
	data, err := r.inner.ReadFile(p, limit)
	r.content(p, data, err)
	return data, err
}

func (r *Recorder) content(p string, data []byte, err error) {
	if errors.Is(err, ErrCut) {
		kept := append([]byte{}, data...)
		r.note(p, &node{kind: File, data: append(kept, '\n')}, nil)
		return
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	r.note(p, &node{kind: File, data: data}, err)
}

// ReadTail reads the end of a log where the machine can.
func (r *Recorder) ReadTail(p string, limit int) ([]byte, error) {
	data, err := ReadTail(r.inner, p, limit)
	if errors.Is(err, ErrCut) {
		r.note(p, &node{kind: File, data: data}, nil)
	} else {
		r.content(p, data, err)
	}
	return data, err
}

// ReadDir passes on and remembers the names.
func (r *Recorder) ReadDir(p string) ([]string, error) {
	names, err := r.inner.ReadDir(p)
	if err != nil {
		r.note(p, nil, err)
		return names, err
	}
	r.mu.Lock()
	r.listed[clean(p)] = names
	r.mu.Unlock()
	return names, nil
}

// ReadLink passes on and remembers the link.
func (r *Recorder) ReadLink(p string) (string, error) {
	target, err := r.inner.ReadLink(p)
	if !errors.Is(err, syscall.EINVAL) {
		r.link(p, target, err)
	}
	return target, err
}

// link lets a link win over what was read through it, which Write puts where
// the link leads.
func (r *Recorder) link(p, target string, err error) {
	if err != nil {
		r.note(p, nil, err)
		return
	}
	p = clean(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.seen[p]; old != nil && old.kind == File && old.data != nil {
		r.seen[p+"/"] = old // what was read through the link
	}
	r.seen[p] = &node{kind: Link, target: target}
}

// Lstat passes on and remembers the kind. Of a link the text is asked, too, for
// a recording cannot hold one without.
func (r *Recorder) Lstat(p string) (Kind, probes.Dev, error) {
	kind, dev, err := r.inner.Lstat(p)
	switch {
	case err != nil:
		r.note(p, nil, err)
	case kind == Absent:
		r.note(p, nil, fs.ErrNotExist)
	case kind == Link:
		_, _ = r.ReadLink(p)
	default:
		r.note(p, &node{kind: kind, dev: dev}, nil)
	}
	return kind, dev, err
}
