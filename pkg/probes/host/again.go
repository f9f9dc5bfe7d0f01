package host

import (
	"path"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Forget tells that a path and what was seen below it are gone since: it was on its way out
// when it was seen, and belongs to no recording.
func Forget(h Host, name string) {
	if r, ok := h.(interface{ forget(string) }); ok {
		r.forget(name)
	}
}

// Amend adds lines that came later to a file that was read before.
func Amend(h Host, file, lines string) {
	if r, ok := h.(interface{ amend(string, string) }); ok {
		r.amend(file, lines)
	}
}

func (w *Witness) forget(name string) {
	w.mu.Lock()
	w.refused = slices.DeleteFunc(w.refused, func(r Refusal) bool { return probes.Within(r.Path, name) })
	w.mu.Unlock()
	Forget(w.Host, name)
}

func (w *Witness) amend(file, lines string) { Amend(w.Host, file, lines) }

func (r *Recorder) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seen {
		if probes.Within(p, name) {
			delete(r.seen, p)
		}
	}
	dir := path.Dir(name)
	r.listed[dir] = slices.DeleteFunc(slices.Clone(r.listed[dir]), func(n string) bool { return n == path.Base(name) })
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
