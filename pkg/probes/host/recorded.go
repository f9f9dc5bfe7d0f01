package host

import (
	"encoding/hex"
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Recorded answers from a recording: a txtar in the format of nodes/NODE.txtar.
// What is not in it does not exist; a question without an answer is ErrNotAsked.
type Recorded struct {
	Comment string // the text before the first entry

	nodes   map[string]*node
	answers map[string]map[string]string // kind → argument → body
}

type node struct {
	kind  Kind
	data  []byte
	to    string // of a link
	dev   probes.Dev
	err   error
	names map[string]bool // of a directory
}

// ParseRecording reads a recording. Errors name the entry.
func ParseRecording(data []byte) (*Recorded, error) {
	comment, entries, err := splitArchive(data)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	r := &Recorded{Comment: strings.TrimSpace(comment), nodes: map[string]*node{"": {kind: Dir, names: map[string]bool{}}}, answers: map[string]map[string]string{}}
	for _, e := range entries {
		if strings.HasPrefix(e.name, "@") {
			r.addAnswer(e)
			continue
		}
		n, err := parseBody(e.body, strings.HasPrefix(e.name, "proc/"))
		if err != nil {
			return nil, fmt.Errorf("read recording: entry %s: %w", e.name, err)
		}
		if err := r.place(e.name, n); err != nil {
			return nil, fmt.Errorf("read recording: entry %s: %w", e.name, err)
		}
	}
	return r, nil
}

func (r *Recorded) addAnswer(e entry) {
	kind, arg, _ := strings.Cut(strings.TrimPrefix(e.name, "@"), "/")
	if r.answers[kind] == nil {
		r.answers[kind] = map[string]string{}
	}
	r.answers[kind][arg] = strings.TrimSuffix(string(e.body), "\n")
}

// place puts an entry into the tree and makes the directories above it.
func (r *Recorded) place(name string, n *node) error {
	if old := r.nodes[name]; old != nil {
		if old.kind != Dir || n.kind != Dir {
			return fmt.Errorf("the name is a directory of other entries")
		}
		return nil
	}
	r.nodes[name] = n
	for child := name; child != ""; {
		parent, base := path.Split(child)
		parent = strings.TrimSuffix(parent, "/")
		d := r.nodes[parent]
		if d == nil {
			d = &node{kind: Dir, names: map[string]bool{}}
			r.nodes[parent] = d
		}
		if d.kind != Dir {
			return fmt.Errorf("%s is not a directory", parent)
		}
		d.names[base] = true
		child = parent
	}
	return nil
}

// parseBody understands the first lines that begin with @.
func parseBody(body []byte, nul bool) (*node, error) {
	first, rest, _ := strings.Cut(string(body), "\n")
	word, arg, _ := strings.Cut(strings.TrimRight(first, "\r"), " ")
	switch word {
	case "@link":
		return &node{kind: Link, to: arg}, nil
	case "@device":
		kind, number, _ := strings.Cut(arg, " ")
		dev, err := probes.ParseDev(number)
		if err != nil {
			return nil, err
		}
		if kind == "char" {
			return &node{kind: Char, dev: dev}, nil
		}
		return &node{kind: Device, dev: dev}, nil
	case "@dir":
		return &node{kind: Dir, names: map[string]bool{}}, nil
	case "@socket":
		return &node{kind: Socket}, nil
	case "@error":
		e, ok := ErrnoNamed(strings.TrimSpace(arg))
		if !ok {
			return nil, fmt.Errorf("unknown errno %q", arg)
		}
		return &node{kind: File, err: e}, nil
	case "@hang":
		return &node{kind: File, err: ErrHang}, nil
	case "@hex":
		b, err := hex.DecodeString(strings.Join(strings.Fields(rest), ""))
		if err != nil {
			return nil, fmt.Errorf("bad hexadecimal: %w", err)
		}
		return &node{kind: File, data: b}, nil
	case "@text":
		return &node{kind: File, data: []byte(rest)}, nil
	}
	if nul && strings.Contains(string(body), "␀") {
		return &node{kind: File, data: []byte(strings.ReplaceAll(string(body), "␀", "\x00"))}, nil
	}
	return &node{kind: File, data: body}, nil
}

// merged are places that are one on a usr-merged host.
var merged = [][2]string{{"usr/lib/", "lib/"}, {"usr/sbin/", "sbin/"}, {"usr/bin/", "bin/"}}

// find resolves a path, following links in all elements but, with last false, the last.
func (r *Recorded) find(name string, last bool) (*node, string) {
	if n, p := r.resolve(name, last); n != nil {
		return n, p
	}
	for _, m := range merged {
		for _, swap := range [][2]string{m, {m[1], m[0]}} {
			if rest, ok := strings.CutPrefix(name, swap[0]); ok {
				if n, p := r.resolve(swap[1]+rest, last); n != nil {
					return n, p
				}
			}
		}
	}
	return nil, ""
}

const maxLinks = 40

func (r *Recorded) resolve(name string, last bool) (*node, string) {
	todo := strings.Split(strings.Trim(name, "/"), "/")
	cur, links := "", 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			cur = parentOf(cur)
			continue
		}
		p := path.Join(cur, part)
		n := r.nodes[p]
		if n == nil {
			return nil, ""
		}
		if n.kind == Link && (last || len(todo) > 0) {
			if links++; links > maxLinks {
				return nil, ""
			}
			if strings.HasPrefix(n.to, "/") {
				cur = ""
			}
			todo = append(strings.Split(n.to, "/"), todo...)
			continue
		}
		cur = p
	}
	return r.nodes[cur], cur
}

func parentOf(p string) string {
	d := path.Dir(p)
	if d == "." || d == "/" {
		return ""
	}
	return d
}

func pathError(op, name string, err error) error { return fmt.Errorf("%s %s: %w", op, name, err) }

// ReadFile implements Host.
func (r *Recorded) ReadFile(name string, max int) ([]byte, error) {
	n, _ := r.find(name, true)
	switch {
	case n == nil:
		return nil, pathError("read", name, ENOENT)
	case n.err != nil:
		return nil, pathError("read", name, n.err)
	case n.kind == Dir:
		return nil, pathError("read", name, EISDIR)
	case n.kind != File:
		return nil, pathError("read", name, EINVAL)
	}
	return cut(n.data, name, max)
}

// DefaultLimit is how much of a file is read when nothing else is said.
const DefaultLimit = 1 << 20

func cut(data []byte, name string, max int) ([]byte, error) {
	if max <= 0 {
		max = DefaultLimit
	}
	if len(data) > max {
		return data[:max:max], pathError("read", name, ErrCut)
	}
	return data, nil
}

// ReadDir implements Host.
func (r *Recorded) ReadDir(name string) ([]string, error) {
	n, _ := r.find(name, true)
	switch {
	case n == nil:
		return nil, pathError("list", name, ENOENT)
	case n.err != nil:
		return nil, pathError("list", name, n.err)
	case n.kind != Dir:
		return nil, pathError("list", name, ENOTDIR)
	}
	out := make([]string, 0, len(n.names))
	for s := range n.names {
		out = append(out, s)
	}
	sort.Strings(out)
	return out, nil
}

// ReadLink implements Host.
func (r *Recorded) ReadLink(name string) (string, error) {
	n, _ := r.find(name, false)
	switch {
	case n == nil:
		return "", pathError("readlink", name, ENOENT)
	case n.err != nil:
		return "", pathError("readlink", name, n.err)
	case n.kind != Link:
		return "", pathError("readlink", name, EINVAL)
	}
	return n.to, nil
}

// Lstat implements Host.
func (r *Recorded) Lstat(name string) (Kind, probes.Dev, error) {
	n, _ := r.find(name, false)
	if n == nil {
		return Absent, probes.Dev{}, nil
	}
	if n.err != nil {
		return n.kind, probes.Dev{}, pathError("stat", name, n.err)
	}
	return n.kind, n.dev, nil
}

// Recorded implements Host.
func (r *Recorded) Recorded() bool { return true }
