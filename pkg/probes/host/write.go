package host

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Write writes the canonical recording: answers first, then files, both sorted.
// Keep, when not nil, chooses by entry name: the recorder's own processes do not
// belong into a recording.
func (r *Recorder) Write(w io.Writer, comment string, keep func(name string) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if keep == nil {
		keep = func(string) bool { return true }
	}
	out := bufio.NewWriter(w)
	writeComment(out, comment)
	for _, kind := range slices.Sorted(maps.Keys(r.answers)) {
		for _, key := range slices.Sorted(maps.Keys(r.answers[kind])) {
			name := "@" + kind
			if kind != "clock" && kind != "hostname" && kind != "kmsg" {
				name += "/" + key
			}
			if n := r.answers[kind][key]; keep(name) && writable(name) {
				writeEntry(out, name, &n)
			}
		}
	}
	writeTree(out, "", r.tree(keep))
	return out.Flush()
}

// writeComment writes the text before the first entry; no line of it may look
// like the beginning of one.
func writeComment(out *bufio.Writer, comment string) {
	comment = strings.TrimSpace(comment)
	if comment == "" {
		return
	}
	for _, line := range strings.Split(comment, "\n") {
		if _, ok := marker([]byte(line)); ok {
			line = "| " + line
		}
		fmt.Fprintln(out, line)
	}
}

// tree places what was seen: links first and short paths before long ones, so
// that everything read through a link lands where the link leads.
func (r *Recorder) tree(keep func(string) bool) *node {
	root := &node{kind: Dir}
	paths := probes.Sorted(slices.Collect(maps.Keys(r.seen)), func(a, b *string) int {
		if d := rank(*a, r.seen[*a]) - rank(*b, r.seen[*b]); d != 0 {
			return d
		}
		return strings.Compare(*a, *b)
	})
	for _, p := range paths {
		if keep(clean(p)) && writable(clean(p)) {
			n := *r.seen[p]
			place(root, p, &n)
		}
	}
	dirs := slices.DeleteFunc(slices.Sorted(maps.Keys(r.listed)), func(dir string) bool {
		return !keep(dir) || !writable(dir)
	})
	for _, dir := range dirs {
		place(root, dir, &node{kind: Dir})
	}
	for _, dir := range dirs {
		r.placeNames(root, dir, keep)
	}
	return root
}

// rank orders links by depth, then everything else; directories come last, for
// the entries in them imply them.
func rank(p string, n *node) int {
	depth := strings.Count(p, "/")
	switch n.kind {
	case Link:
		return depth
	case Dir:
		return 10000
	}
	if n.err != nil {
		return 20000
	}
	return 5000
}

// placeNames makes the names of a listing exist that nobody asked more about.
func (r *Recorder) placeNames(root *node, dir string, keep func(string) bool) {
	for _, name := range r.listed[dir] {
		p := path.Join(dir, name)
		if r.absent[p] || r.seen[p] != nil || !keep(p) || !writable(clean(p)) {
			continue
		}
		if other, ok := otherSpelling(p); ok {
			if _, err := root.walk(other, false); err == nil {
				continue // listed as one, and there already
			}
		}
		unknown := &node{kind: File, data: []byte{}}
		if dir == "proc" || strings.HasSuffix(dir, "/task") {
			unknown = &node{kind: Dir}
		}
		place(root, p, unknown)
	}
}

// place puts an entry where its path leads through the links known so far; a path
// that ends in a slash also follows a link at its end. An
// entry that is there already, by another way, stays.
func place(root *node, p string, n *node) {
	through := strings.HasSuffix(p, "/")
	for range maxLinks {
		dir, prefix := root, ""
		comps := split(p)
		moved := false
		for i, c := range comps {
			next := dir.child(c)
			last := i == len(comps)-1 && !through
			if next != nil && next.kind == Link && !last {
				target := next.target
				if !strings.HasPrefix(target, "/") {
					target = path.Join("/"+prefix, target)
				}
				p, moved = path.Join(target, path.Join(comps[i+1:]...)), true
				break
			}
			if next == nil || next.kind != Dir {
				break
			}
			dir, prefix = next, path.Join(prefix, c)
		}
		if !moved {
			break
		}
		p = clean(p)
	}
	if p = clean(p); p != "" {
		_ = root.add(p, n) // twice by two ways: the first stays
	}
}

// writable tells whether a name can stand in the archive.
func writable(name string) bool {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.TrimSpace(name) != name {
		return false
	}
	return strings.HasPrefix(name, "@") || checkName(name) == nil
}

func writeTree(out *bufio.Writer, at string, n *node) {
	for _, name := range n.names() {
		sub := n.sub[name]
		p := path.Join(at, name)
		if sub.kind == Dir && len(sub.sub) > 0 {
			writeTree(out, p, sub)
			continue
		}
		writeEntry(out, p, sub)
	}
}

func writeEntry(out *bufio.Writer, name string, n *node) {
	fmt.Fprintf(out, "-- %s --\n", name)
	switch {
	case errors.Is(n.err, ErrHang):
		out.WriteString("@hang\n")
	case n.err != nil:
		fmt.Fprintf(out, "@error %s\n", ErrnoName(n.err))
	case n.kind == Link:
		fmt.Fprintf(out, "@link %s\n", n.target)
	case n.kind == Device:
		fmt.Fprintf(out, "@device block %s\n", n.dev)
	case n.kind == Char:
		fmt.Fprintf(out, "@device char %s\n", n.dev)
	case n.kind == Dir:
		out.WriteString("@dir\n")
	case n.kind == Socket:
		out.WriteString("@socket\n")
	default:
		writeContent(out, n.data)
	}
}

// writeContent chooses the most readable form that comes back as it was, save
// for a missing last newline, which the archive adds.
func writeContent(out *bufio.Writer, data []byte) {
	switch {
	case len(data) == 0:
		return
	case nulList(data):
		data = bytes.ReplaceAll(data, []byte{0}, []byte(nul))
	case !plainText(data):
		text := hex.EncodeToString(data)
		out.WriteString("@hex\n")
		for len(text) > 0 {
			n := min(64, len(text))
			out.WriteString(text[:n] + "\n")
			text = text[n:]
		}
		return
	}
	if data[0] == '@' {
		out.WriteString("@text\n")
	}
	out.Write(data)
	if data[len(data)-1] != '\n' {
		out.WriteByte('\n')
	}
}

// nulList tells whether a content is a list with NUL bytes that can be written
// with the symbol.
func nulList(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 && data[len(data)-1] != '\n' &&
		plainText(bytes.ReplaceAll(data, []byte{0}, nil)) && data[0] != '@'
}

// plainText tells whether a content can stand in the archive as it is.
func plainText(data []byte) bool {
	if !utf8.Valid(data) || bytes.Contains(data, []byte(nul)) {
		return false
	}
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7F {
			return false
		}
	}
	for line := range bytes.Lines(data) {
		if _, ok := marker(line); ok {
			return false
		}
	}
	return true
}
