package host

import (
	"path"
	"slices"
	"strings"
)

// Forget tells that what was seen of all paths that begin with a prefix is gone since: it
// was on its way out when it was seen, and belongs to no recording.
func Forget(h Host, prefix string) {
	if r, ok := h.(interface{ forget(string) }); ok {
		r.forget(prefix)
	}
}

// Amend adds lines that came later to a file that was read before.
func Amend(h Host, file, lines string) {
	if r, ok := h.(interface{ amend(string, string) }); ok {
		r.amend(file, lines)
	}
}

func (w *Witness) forget(prefix string) {
	w.mu.Lock()
	w.refused = slices.DeleteFunc(w.refused, func(r Refusal) bool { return strings.HasPrefix(r.Path, prefix) })
	w.mu.Unlock()
	Forget(w.Host, prefix)
}

func (w *Witness) amend(file, lines string) { Amend(w.Host, file, lines) }

func (r *Recorder) forget(prefix string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seen {
		if strings.HasPrefix(p, prefix) {
			delete(r.seen, p)
		}
	}
	for dir, names := range r.listed {
		r.listed[dir] = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(path.Join(dir, n), prefix) })
	}
}

func (r *Recorder) amend(file, lines string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.seen[clean(file)]; n != nil && n.kind == File && n.err == nil {
		more := *n
		more.data = append(slices.Clip(n.data), lines...)
		r.seen[clean(file)] = &more
	}
}
