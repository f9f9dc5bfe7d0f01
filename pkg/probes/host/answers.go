package host

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func (r *Recorded) answer(kind, arg string) (string, error) {
	a, ok := r.answers[kind][arg]
	if !ok {
		return "", pathError("ask", "@"+strings.TrimSuffix(kind+"/"+arg, "/"), ErrNotAsked)
	}
	return a, nil
}

// Asked implements Host.
func (r *Recorded) Asked(kind string) []string {
	out := make([]string, 0, len(r.answers[kind]))
	for a := range r.answers[kind] {
		out = append(out, a)
	}
	sort.Strings(out)
	return out
}

// Clock implements Host.
func (r *Recorded) Clock() (Clock, error) {
	a, err := r.answer("clock", "")
	if err != nil {
		return Clock{}, err
	}
	wall, up, _ := strings.Cut(a, "\n")
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(wall))
	if err != nil {
		return Clock{}, fmt.Errorf("read @clock: %w", err)
	}
	s, err := strconv.ParseFloat(strings.TrimSpace(up), 64)
	if err != nil {
		return Clock{Wall: t}, fmt.Errorf("read @clock: seconds since boot %q are no number", up)
	}
	return Clock{Wall: t, Uptime: time.Duration(s * float64(time.Second))}, nil
}

// Hostname implements Host.
func (r *Recorded) Hostname() (string, error) {
	a, err := r.answer("hostname", "")
	return strings.TrimSpace(a), err
}

// KernelLog implements Host.
func (r *Recorded) KernelLog() ([]byte, error) {
	a, err := r.answer("kmsg", "")
	if err != nil {
		return nil, err
	}
	if e := answerError(a); e != nil {
		return nil, pathError("read", "@kmsg", e)
	}
	return []byte(a), nil
}

// Claim implements Host.
func (r *Recorded) Claim(d probes.Dev) (string, error) {
	a, err := r.answer("claim", d.String())
	return strings.TrimSpace(a), err
}

// Content implements Host.
func (r *Recorded) Content(d probes.Dev) (probes.Content, error) {
	a, err := r.answer("content", d.String())
	if err != nil {
		return probes.Content{}, err
	}
	if e := answerError(a); e != nil {
		return probes.Content{Err: ErrnoName(e)}, nil
	}
	var c probes.Content
	for _, line := range strings.Split(a, "\n") {
		k, v, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		switch k {
		case "TYPE":
			c.Type = v
		case "UUID":
			c.UUID = v
		case "STATE":
			c.State = v
		default:
			if c.Extra == nil {
				c.Extra = map[string]string{}
			}
			c.Extra[k] = v
		}
	}
	return c, nil
}

// DevOf implements Host.
func (r *Recorded) DevOf(link string) (probes.Dev, error) {
	a, err := r.answer("dev", link)
	if err != nil {
		return probes.Dev{}, err
	}
	if e := answerError(a); e != nil {
		return probes.Dev{}, pathError("ask", "@dev/"+link, e)
	}
	return probes.ParseDev(a)
}

// Statfs implements Host.
func (r *Recorded) Statfs(path string) (probes.FSStat, error) {
	a, err := r.answer("statfs", path)
	if err != nil {
		return probes.FSStat{}, err
	}
	if e := answerError(a); e != nil {
		return probes.FSStat{Err: ErrnoName(e)}, nil
	}
	f := strings.Fields(a)
	if len(f) != 6 {
		return probes.FSStat{}, fmt.Errorf("read @statfs/%s: %d numbers, want 6", path, len(f))
	}
	var n [6]uint64
	for i := range f {
		if n[i], err = strconv.ParseUint(f[i], 10, 64); err != nil {
			return probes.FSStat{}, fmt.Errorf("read @statfs/%s: %q is no number", path, f[i])
		}
	}
	return probes.FSStat{Blocks: n[0], Free: n[1], Avail: n[2], Files: n[3], FilesFree: n[4], BlockSize: n[5]}, nil
}

// Dial implements Host.
func (r *Recorded) Dial(hostport string) (string, error) { return r.answer("dial", hostport) }

// Resolve implements Host.
func (r *Recorded) Resolve(name string) (string, error) { return r.answer("resolve", name) }

// Multipathd implements Host.
func (r *Recorded) Multipathd(command string) (string, error) { return r.answer("multipathd", command) }

// answerError understands "@error ERRNO" and "@hang" as an answer.
func answerError(a string) error {
	word, arg, _ := strings.Cut(strings.TrimSpace(a), " ")
	switch word {
	case "@hang":
		return ErrHang
	case "@error":
		if e, ok := ErrnoNamed(strings.TrimSpace(arg)); ok {
			return e
		}
		return fmt.Errorf("unknown errno %q", arg)
	}
	return nil
}

var _ Host = (*Recorded)(nil)
