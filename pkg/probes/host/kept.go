package host

import (
	"bytes"
	"errors"
)

// ReadTail reads the last bytes of a file such as a log, from the beginning of a
// line; ErrCut is wrapped beside them when there was more before. A machine can do
// so without reading the rest.
func ReadTail(h Host, path string, limit int) ([]byte, error) {
	if t, ok := h.(interface {
		ReadTail(string, int) ([]byte, error)
	}); ok {
		return t.ReadTail(path, limit)
	}
	b, err := h.ReadFile(path, 64*limit)
	if len(b) <= limit {
		return b, err
	}
	b = b[len(b)-limit:]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	}
	return b, errors.Join(err, ErrCut)
}

// ReadKept reads a file of which only a part may be kept: what the filter leaves is
// the answer, and the only thing that a recording ever holds of the file. The
// filter must leave alone what it left before.
func ReadKept(h Host, path string, limit int, filter func([]byte) []byte) ([]byte, error) {
	if k, ok := h.(interface {
		readKept(string, int, func([]byte) []byte) ([]byte, error)
	}); ok {
		return k.readKept(path, limit, filter)
	}
	b, err := h.ReadFile(path, limit)
	return filter(b), err
}

// Refuse notes a path that a probe does not touch because it could hang: nothing is
// known of what is there.
func Refuse(h Host, path string) {
	if r, ok := h.(interface{ refuse(string) }); ok {
		r.refuse(path)
	}
}

func (w *Witness) refuse(path string) {
	w.note(path, ErrUnsafe)
	Refuse(w.Host, path)
}

func (r *Recorder) refuse(path string) {
	r.note(path, nil, ErrUnsafe)
	Refuse(r.inner, path)
}

func (r *Recorder) readKept(path string, limit int, filter func([]byte) []byte) ([]byte, error) {
	b, err := ReadKept(r.inner, path, limit, filter)
	r.content(path, b, err)
	return b, err
}

func (w *Witness) readKept(path string, limit int, filter func([]byte) []byte) ([]byte, error) {
	b, err := ReadKept(w.Host, path, limit, filter)
	w.note(path, err)
	return b, err
}
