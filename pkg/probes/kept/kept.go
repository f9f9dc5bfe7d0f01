// Package kept says what of a machine may be known: of every file only the lines
// and keys that some probe or rule reads. What no line of the table names is only
// there, without content. The same table stands before the probes (Door) and
// before a capture (Recording), so that a report and its capture know the same.
package kept

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// filter keeps what may be known of a content.
type filter func(content string) string

// line is one line of the table.
type line struct {
	pattern string // components as of path.Match; "**" stands for any number of components
	filter  filter
	why     string
}

// Content is what may be known of a file, by its path without leading slash.
func Content(name string, data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	l := find(name)
	if l == nil {
		return []byte{}
	}
	return []byte(l.filter(string(data)))
}

// Why says what an entry of a recording is there for.
func Why(name string) string {
	if kind, _, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); strings.HasPrefix(name, "@") {
		if !ok {
			kind = strings.TrimPrefix(name, "@")
		}
		if w := answers[kind]; w != "" {
			return w
		}
		return "an answer of the machine"
	}
	if l := find(name); l != nil {
		return l.why
	}
	return "that it is there, without its content"
}

// find returns the first line of the table for a path. What a process sees below
// its own root is judged like the same path of the host, and what a thread shows
// like the same file of its process.
func find(name string) *line {
	name = path.Clean("/" + name)[1:]
	if rest, ok := strings.CutPrefix(name, "proc/"); ok {
		if _, below, ok := strings.Cut(rest, "/root/"); ok {
			name = below
		}
	}
	parts := strings.Split(name, "/")
	if len(parts) > 4 && parts[0] == "proc" && parts[2] == "task" {
		parts = append(parts[:2:2], parts[4:]...)
	}
	for i := range table {
		if matches(table[i].parts, parts) {
			return &table[i].line
		}
	}
	return nil
}

// matches compares components; "**" swallows any number of them.
func matches(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(parts); i++ {
				if matches(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// compiled is a line whose pattern is taken apart.
type compiled struct {
	line
	parts []string
}

var table = func() []compiled {
	var out []compiled
	for _, list := range [][]line{processes, kernel, devices, configuration, storage, logs} {
		for _, l := range list {
			out = append(out, compiled{l, strings.Split(l.pattern, "/")})
		}
	}
	return out
}()

// whole keeps everything but secrets.
func whole(s string) string { return mask.Text(s) }

// verbatim keeps numbers and names of the kernel's own, which hold no secret.
func verbatim(s string) string { return s }

// nothing keeps no content.
func nothing(string) string { return "" }

// lines keeps the lines that a function accepts. The others become empty, so that
// the number of a line stays that of the file.
func lines(accept func(string) bool) filter { return accepted(accept, mask.Text) }

func accepted(accept func(string) bool, hide filter) filter {
	return func(s string) string {
		var out strings.Builder
		for l := range strings.Lines(s) {
			if body := strings.TrimRight(l, "\r\n"); body != "" && accept(body) {
				out.WriteString(hide(body))
			}
			if strings.HasSuffix(l, "\n") {
				out.WriteByte('\n')
			}
		}
		return ended(out.String())
	}
}

// told keeps the lines that a function accepts and drops the others: the number of
// a line in the tail of a log says nothing.
func told(accept func(string) bool) filter {
	return func(s string) string {
		var out strings.Builder
		for l := range strings.Lines(s) {
			if accept(strings.TrimRight(l, "\r\n")) {
				out.WriteString(mask.Text(auditFields(l)))
			}
		}
		return out.String()
	}
}

// logSize is how much of one text log of the host is kept.
const logSize = 6 << 10

// repeats keeps of lines of one wording the first and the last two, and of all the newest.
func repeats(next filter) filter {
	return func(s string) string {
		out := strings.Join(Newest(strings.SplitAfter(next(s), "\n"), 2), "")
		if over := len(out) - logSize; over > 0 {
			_, out, _ = strings.Cut(out[over:], "\n")
		}
		return out
	}
}

// varying are the parts of a line that differ from one time to the next.
var varying = pattern.MustCompile(`[0-9a-fA-F]{6,}(?:-[0-9a-fA-F]+)*|[0-9]+`)

// Newest empties repeated lines: of one wording the first stays, and the last n. A
// component that tries again says the same for hours.
func Newest(lines []string, n int) []string {
	total, seen := map[string]int{}, map[string]int{}
	shapes := make([]string, len(lines))
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			shapes[i] = varying.ReplaceAllString(l, "0")
			total[shapes[i]]++
		}
	}
	out := make([]string, len(lines))
	for i, s := range shapes {
		if seen[s]++; s != "" && (seen[s] == 1 || seen[s] > total[s]-n) {
			out[i] = lines[i]
		}
	}
	return out
}

// ended trims empty lines at the end to one.
func ended(s string) string {
	trimmed := strings.TrimRight(s, "\n")
	if trimmed == "" {
		return ""
	}
	return trimmed + s[len(trimmed):min(len(s), len(trimmed)+1)]
}

// comment tells a line that is empty or begins with a sign of comments.
func comment(l string) bool {
	l = strings.TrimSpace(l)
	return l == "" || l[0] == '#' || l[0] == ';'
}

// keys keeps lines "KEY = VALUE" of the named keys, and the heads of sections.
func keys(names ...string) filter {
	known := map[string]bool{}
	for _, n := range names {
		known[strings.ToLower(n)] = true
	}
	return lines(func(l string) bool {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]") {
			return true
		}
		key, _, ok := strings.Cut(l, "=")
		return ok && known[strings.ToLower(strings.TrimSpace(key))]
	})
}
