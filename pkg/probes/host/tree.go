package host

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// maxLinks is the kernel's own limit (path_resolution(7)).
const maxLinks = 40

// node is one entry of a recorded file system.
type node struct {
	kind    Kind
	data    []byte
	target  string // of a link
	dev     probes.Dev
	err     error // what reading it answers
	sub     map[string]*node
	implied bool // a directory that no entry names
}

func (n *node) child(name string) *node {
	if n == nil || n.sub == nil {
		return nil
	}
	return n.sub[name]
}

// add places an entry; directories on the way are implied.
func (n *node) add(name string, e *node) error {
	parts := strings.Split(strings.TrimSuffix(name, "/"), "/")
	dir := n
	for i, c := range parts[:len(parts)-1] {
		next := dir.child(c)
		if next == nil {
			next = &node{kind: Dir, implied: true}
			dir.put(c, next)
		}
		if next.kind != Dir {
			return fmt.Errorf("%s is a %s and cannot hold entries", strings.Join(parts[:i+1], "/"), next.kind)
		}
		dir = next
	}
	last := parts[len(parts)-1]
	old := dir.child(last)
	switch {
	case old == nil:
		dir.put(last, e)
	case old.implied && e.kind == Dir:
		old.implied = false
	case old.implied:
		return fmt.Errorf("entries below it make it a directory")
	default:
		return fmt.Errorf("name appears twice")
	}
	return nil
}

func (n *node) put(name string, e *node) {
	if n.sub == nil {
		n.sub = map[string]*node{}
	}
	n.sub[name] = e
}

// walk finds the entry of a path, following links in all components but the
// last, and in that too when follow is set. Links never leave the root.
func (n *node) walk(p string, follow bool) (*node, error) {
	rest := split(p)
	var at []string // where we are, links resolved
	cur, links := n, 0
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		if c == ".." {
			at = at[:max(0, len(at)-1)]
			cur = n.at(at)
			continue
		}
		if cur.err != nil { // nobody could look below it
			return nil, cur.err
		}
		if cur.kind != Dir {
			return nil, syscall.ENOTDIR
		}
		next := cur.child(c)
		if next == nil {
			return nil, syscall.ENOENT
		}
		if next.kind != Link || (len(rest) == 0 && !follow) {
			at, cur = append(at, c), next
			continue
		}
		if links++; links > maxLinks {
			return nil, syscall.ELOOP
		}
		if strings.HasPrefix(next.target, "/") {
			at, cur = nil, n
		}
		rest = append(split(next.target), rest...)
	}
	return cur, nil
}

func (n *node) at(parts []string) *node {
	for _, c := range parts {
		n = n.child(c)
	}
	return n
}

func split(p string) []string {
	var out []string
	for _, c := range strings.Split(p, "/") {
		if c != "" && c != "." {
			out = append(out, c)
		}
	}
	return out
}

// names lists a directory, sorted.
func (n *node) names() []string {
	out := make([]string, 0, len(n.sub))
	for c := range n.sub {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// merged are the directories that a merged /usr makes one place
// (file-hierarchy(7)); a recording may use either spelling.
var merged = []string{"bin", "sbin", "lib", "lib64"}

// otherSpelling returns the path on the other side of a merged /usr.
func otherSpelling(p string) (string, bool) {
	p = path.Clean("/" + p)[1:]
	bare, under := strings.CutPrefix(p, "usr/")
	first, _, _ := strings.Cut(bare, "/")
	if !slices.Contains(merged, first) {
		return "", false
	}
	if under {
		return bare, true
	}
	return "usr/" + p, true
}
