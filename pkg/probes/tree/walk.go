package tree

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Walker lists trees of one host within bounds.
type Walker struct {
	Host  host.Host
	Guard Guard
	Depth int // levels below the root; 0: 8
	Left  int // entries that may still be visited; what is not visited is counted in Cut
	Cut   int
	// Late tells whether something was mounted at a path since the guard was made; it may
	// make the guard anew. Without it that is not known.
	Late func(p string) bool
}

// Entry is one thing that was found.
type Entry struct {
	Path string // without leading slash
	Kind host.Kind
	// Mount tells that the entry is a mount point: nothing more is known of it,
	// and nothing below it was listed.
	Mount bool
}

// Walk visits everything below root in the order of names, directories first
// themselves and then what is in them. An absent root visits nothing.
func (w *Walker) Walk(ctx context.Context, root string, visit func(Entry)) {
	if !w.safe(root) {
		return
	}
	depth := w.Depth
	if depth == 0 {
		depth = 8
	}
	w.walk(ctx, strings.Trim(root, "/"), depth, visit)
}

func (w *Walker) walk(ctx context.Context, dir string, depth int, visit func(Entry)) {
	names, err := w.Host.ReadDir(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return
		}
		if w.Left <= 0 {
			w.Cut++
			continue
		}
		w.Left--
		e := w.Entry(path.Join(dir, name))
		visit(e)
		if e.Kind == host.Dir && !e.Mount && depth > 1 {
			w.walk(ctx, e.Path, depth-1, visit)
		}
	}
}

// safe tells whether a place may be touched; of one that may not, nothing is known.
func (w *Walker) safe(dir string) bool {
	if w.Guard.Safe(dir) {
		return true
	}
	host.Refuse(w.Host, strings.Trim(dir, "/"))
	return false
}

// Entry looks at one path. A mount point is never looked at.
func (w *Walker) Entry(p string) Entry {
	if w.Guard.Point(p) {
		return Entry{p, host.Dir, true}
	}
	kind, _, err := w.Host.Lstat(p)
	if errors.Is(err, host.ErrUnsafe) && w.Late != nil && w.Late(p) {
		host.Forget(w.Host, p)
		return Entry{p, host.Dir, true}
	}
	if err != nil {
		return Entry{p, host.Absent, false}
	}
	return Entry{p, kind, false}
}

// Glob visits what matches a pattern whose components may hold the wildcards of
// path.Match; a last component "**" visits everything below.
func (w *Walker) Glob(ctx context.Context, pattern string, visit func(Entry)) {
	if before, ok := strings.CutSuffix(pattern, "/**"); ok {
		w.Glob(ctx, before, func(e Entry) {
			if !e.Mount {
				w.Walk(ctx, e.Path, visit)
			}
		})
		return
	}
	w.glob(ctx, "", strings.Split(pattern, "/"), visit)
}

// kernels tells a directory of the kernel's file systems, where links lead to other
// objects of the kernel. Elsewhere a link that a pattern happens to match leads
// wherever its maker wants.
func kernels(dir string) bool {
	return dir == "proc" || dir == "sys" || strings.HasPrefix(dir, "proc/") || strings.HasPrefix(dir, "sys/")
}

func (w *Walker) glob(ctx context.Context, dir string, rest []string, visit func(Entry)) {
	fixed := 0
	for fixed < len(rest) && !strings.ContainsAny(rest[fixed], "*?[") {
		fixed++
	}
	dir = path.Join(dir, path.Join(rest[:fixed]...))
	if ctx.Err() != nil {
		return
	}
	if fixed == len(rest) { // a mount point itself is told by the table, without a look
		if !w.safe(path.Dir("/"+dir)) || !w.Guard.Point(dir) && !w.safe(dir) {
			return
		}
		if e := w.Entry(dir); e.Kind != host.Absent {
			visit(e)
		}
		return
	}
	if !w.safe(dir) {
		return
	}
	names, err := w.Host.ReadDir(dir)
	if err != nil {
		return
	}
	last := fixed == len(rest)-1
	for _, name := range names {
		if ok, _ := path.Match(rest[fixed], name); !ok {
			continue
		}
		if !last && !kernels(dir) && w.Entry(path.Join(dir, name)).Kind != host.Dir {
			continue
		}
		if w.Left <= 0 {
			w.Cut++
			continue
		}
		w.Left--
		w.glob(ctx, path.Join(dir, name), rest[fixed+1:], visit)
	}
}
