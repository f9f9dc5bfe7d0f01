// Package bundle reads what other tools collected of a cluster as a snapshot: a
// Longhorn support bundle, a must-gather, a bundle of troubleshoot.sh, a dump of
// kubectl cluster-info, and any heap of Kubernetes objects.
//
// What has a kind and an apiVersion is an object wherever it lies. What such a bundle
// does not hold is a gap, so that no rule takes its absence for an empty list.
package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// Load reads a snapshot of ours or a bundle: a directory, an archive (.zip, .tar,
// .tar.gz), a file of objects, or with Stdin one of these from the stream.
func Load(path string, stdin io.Reader) (*snapshot.Snapshot, error) {
	return LoadWithin(path, stdin, snapshot.DefaultLimits)
}

// LoadWithin is Load with other limits.
func LoadWithin(path string, stdin io.Reader, limits snapshot.Limits) (*snapshot.Snapshot, error) {
	if path != Stdin {
		return load(path, path, limits)
	}
	kept, err := spool(stdin, limits.Total)
	if err != nil {
		return nil, fmt.Errorf("load stdin: %w", err)
	}
	s, err := load(kept, "stdin", limits)
	return s, errors.Join(err, os.Remove(kept))
}

// load reads a path; name is what errors call it.
func load(path, name string, limits snapshot.Limits) (*snapshot.Snapshot, error) {
	if _, err := os.Stat(filepath.Join(path, "snapshot.yaml")); err == nil {
		return snapshot.LoadWithin(path, limits)
	}
	c := &collection{limits: limits, files: map[string]file{}}
	err := c.path(path, filepath.Base(name))
	if c.ours() {
		if c.zipped {
			return within(name)(snapshot.Decode(c.bytes()))
		}
		s, err := snapshot.LoadWithin(path, limits)
		if err != nil && path != name {
			err = errors.New(strings.ReplaceAll(err.Error(), path, name))
		}
		return s, err
	}
	if err != nil {
		return within(name)(nil, err)
	}
	return within(name)(c.snapshot())
}

func within(name string) func(*snapshot.Snapshot, error) (*snapshot.Snapshot, error) {
	return func(s *snapshot.Snapshot, err error) (*snapshot.Snapshot, error) {
		var path *fs.PathError
		if errors.As(err, &path) && path.Path == name {
			err = path.Err // the name stands before it
		}
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", name, err)
		}
		return s, nil
	}
}

// spool keeps a stream in a file, because a zip is read from its end.
func spool(r io.Reader, most int64) (path string, err error) {
	f, err := os.CreateTemp("", "mountdoctor-*")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	if err == nil && n == 0 {
		err = errors.New("it is empty")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// snapshot makes a snapshot of what was collected.
func (c *collection) snapshot() (*snapshot.Snapshot, error) {
	l := recognise(c.names())
	b := &importer{
		layout: l, collection: c,
		objects: map[key]*object{}, read: coverage{whole: map[string]bool{}, in: map[string]map[string]bool{}, some: map[string]bool{}},
		out: map[string][]byte{}, resources: known(),
	}
	for _, name := range c.names() {
		b.file(name)
	}
	if len(b.objects) == 0 {
		return nil, b.nothing()
	}
	b.put()
	taken := b.clock()
	nodes := b.nodes(taken)
	b.logs()
	in := snapshot.Imported{TakenAt: taken, Server: b.server(), Files: b.out}
	in.Gaps = append(append(append(in.Gaps, c.gaps...), b.gaps...), append(b.missing(), nodes...)...)
	in.Gaps = once(in.Gaps)
	return in.Snapshot()
}

// nothing is the error for what holds no object that rules know: it says what was seen.
func (b *importer) nothing() error {
	const reads = "it is no snapshot of mountdoctor, no Longhorn support bundle, no must-gather, no bundle of troubleshoot.sh and no dump of kubectl cluster-info"
	what := fmt.Sprintf("%d files", len(b.files))
	if len(b.files) == 1 {
		what = fmt.Sprintf("one file (%q)", b.names()[0])
	}
	switch {
	case b.layout != heap:
		what = "the layout of a " + b.layout.String() + " in " + what + ", but no object of a kind that rules know"
	case b.foreign > 0:
		what += fmt.Sprintf(" with %d objects, none of a kind that rules know", b.foreign)
	default:
		what += " without any Kubernetes object"
	}
	if why := b.first(); why != "" {
		what += "; " + why
	}
	return fmt.Errorf("%s: recognised %s", reads, what)
}

// first says the first thing that could not be read.
func (b *importer) first() string {
	for _, g := range append(b.collection.gaps, b.gaps...) {
		return strings.TrimPrefix(g.Need, "object/") + ": " + g.Detail
	}
	return ""
}

// once keeps the first gap of each need.
func once(gaps []snapshot.Gap) []snapshot.Gap {
	seen := map[string]bool{}
	var out []snapshot.Gap
	for _, g := range gaps {
		if !seen[g.Need] {
			seen[g.Need] = true
			out = append(out, g)
		}
	}
	return out
}

// modified is when a file was written, as far as that is known.
func modified(info fs.FileInfo) time.Time {
	if info == nil {
		return time.Time{}
	}
	return info.ModTime().UTC()
}
