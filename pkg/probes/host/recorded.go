package host

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Recorded is a Host that answers from a recording (FORMAT, host recording).
// It is immutable after parsing and safe for concurrent use.
type Recorded struct {
	comment string
	root    *node
	answers map[string]map[string]*node // kind → question → answer
}

var _ Host = (*Recorded)(nil)

// defaultLimit is how much ReadFile returns when no limit is given.
const defaultLimit = 1 << 20

// NewRecorded returns a machine of which nothing is known.
func NewRecorded() *Recorded {
	return &Recorded{root: &node{kind: Dir}, answers: map[string]map[string]*node{}}
}

// Comment is the text before the first entry: what this machine suffers from.
func (r *Recorded) Comment() string { return r.comment }

// Recorded is true.
func (r *Recorded) Recorded() bool { return true }

// Given is true.
func (r *Recorded) Given() bool { return true }

// Asked lists the questions of a kind that the recording answers, sorted.
func (r *Recorded) Asked(kind string) []string {
	return slices.Sorted(maps.Keys(r.answers[kind]))
}

// find looks a path up in both spellings of a merged /usr.
func (r *Recorded) find(p string, follow bool) (*node, error) {
	n, err := r.root.walk(p, follow)
	if !errors.Is(err, syscall.ENOENT) {
		return n, err
	}
	if other, ok := otherSpelling(p); ok {
		if m, otherErr := r.root.walk(other, follow); otherErr == nil {
			return m, nil
		}
	}
	return nil, err
}

// ReadFile returns the recorded content.
func (r *Recorded) ReadFile(path string, limit int) ([]byte, error) {
	n, err := r.find(path, true)
	if err == nil {
		err = n.err
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	switch n.kind {
	case Dir:
		return nil, fmt.Errorf("read %s: %w", path, syscall.EISDIR)
	case Socket, Device, Char:
		return nil, fmt.Errorf("read %s: %w", path, syscall.ENXIO)
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	if len(n.data) > limit {
		return n.data[:limit:limit], fmt.Errorf("read %s: %w", path, ErrCut)
	}
	return slices.Clone(n.data), nil
}

// ReadDir returns the recorded names; lib and usr/lib are read as one.
func (r *Recorded) ReadDir(path string) ([]string, error) {
	n, err := r.find(path, true)
	if err == nil {
		err = n.err
	}
	if err == nil && n.kind != Dir {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	names := n.names()
	if other, ok := otherSpelling(path); ok {
		if m, err := r.root.walk(other, true); err == nil && m.kind == Dir && m != n {
			names = append(names, m.names()...)
			slices.Sort(names)
			names = slices.Compact(names)
		}
	}
	return names, nil
}

// ReadLink returns the text of a recorded link.
func (r *Recorded) ReadLink(path string) (string, error) {
	n, err := r.find(path, false)
	if err == nil {
		err = n.err
	}
	if err == nil && n.kind != Link {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", fmt.Errorf("read link %s: %w", path, err)
	}
	return n.target, nil
}

// Lstat tells the kind of a recorded entry.
func (r *Recorded) Lstat(path string) (Kind, probes.Dev, error) {
	n, err := r.find(path, false)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return Absent, probes.Dev{}, nil
	case err != nil:
		return Absent, probes.Dev{}, fmt.Errorf("lstat %s: %w", path, err)
	}
	return n.kind, n.dev, nil
}

// answer returns the recorded answer as text.
func (r *Recorded) answer(kind, key string) (string, error) {
	a, ok := r.answers[kind][key]
	if !ok {
		return "", fmt.Errorf("%s %s: %w", kind, key, ErrNotAsked)
	}
	if a.err != nil {
		return "", fmt.Errorf("%s %s: %w", kind, key, a.err)
	}
	return string(bytes.TrimRight(a.data, "\n")), nil
}

// Clock returns the recorded time.
func (r *Recorded) Clock() (Clock, error) {
	text, err := r.answer("clock", "")
	if err != nil {
		return Clock{}, err
	}
	wall, up, _ := strings.Cut(text, "\n")
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(wall))
	if err != nil {
		return Clock{}, fmt.Errorf("clock: %w", err)
	}
	c := Clock{Wall: at}
	if up = strings.TrimSpace(up); up == "" {
		return c, nil
	}
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil || seconds < 0 || seconds > 1e10 {
		return c, fmt.Errorf("clock: seconds since boot %q", up)
	}
	c.Uptime = time.Duration(math.Round(seconds * float64(time.Second)))
	return c, nil
}

// Hostname returns the recorded host name.
func (r *Recorded) Hostname() (string, error) { return r.answer("hostname", "") }

// KernelLog returns the recorded kernel log.
func (r *Recorded) KernelLog() ([]byte, error) {
	text, err := r.answer("kmsg", "")
	return []byte(text), err
}

// Claim returns the recorded answer of the claim test.
func (r *Recorded) Claim(d probes.Dev) (string, error) { return r.answer("claim", d.String()) }

// Content returns what the first bytes of the device were.
func (r *Recorded) Content(d probes.Dev) (probes.Content, error) {
	text, err := r.answer("content", d.String())
	if err != nil {
		if errors.Is(err, ErrNotAsked) {
			return probes.Content{}, err
		}
		return probes.Content{Err: ErrnoName(err)}, err
	}
	return parseContent(text), nil
}

// DevOf returns the recorded device number behind a magic link.
func (r *Recorded) DevOf(link string) (probes.Dev, error) {
	text, err := r.answer("dev", link)
	if err != nil {
		return probes.Dev{}, err
	}
	return probes.ParseDev(text)
}

// Statfs returns the recorded numbers.
func (r *Recorded) Statfs(path string) (probes.FSStat, error) {
	text, err := r.answer("statfs", strings.TrimPrefix(path, "/"))
	if err != nil {
		if errors.Is(err, ErrNotAsked) {
			return probes.FSStat{}, err
		}
		return probes.FSStat{Err: ErrnoName(err)}, err
	}
	return parseStatfs(text)
}

// Dial returns the recorded outcome of a TCP connect.
func (r *Recorded) Dial(hostport string) (string, error) { return r.answer("dial", hostport) }

// Told is what the recording tells of a probe beyond its entries (FORMAT, @probe).
func (r *Recorded) Told(probe string) (text string, ok bool) {
	text, err := r.answer("probe", probe)
	return text, err == nil
}

// Resolve returns the recorded answer of the host's resolver.
func (r *Recorded) Resolve(name string) (string, error) { return r.answer("resolve", name) }

// Multipathd returns the recorded answer of the daemon.
func (r *Recorded) Multipathd(command string) (string, error) { return r.answer("multipathd", command) }
