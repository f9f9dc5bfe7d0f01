// Package security answers questions about what SELinux and AppArmor denied: does a line
// of the kernel or of the audit log belong to a volume.
package security

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Line is one denial that was enforced.
type Line struct {
	At      time.Time
	SELinux bool
	fields  map[string]string
	perms   []string // of SELinux: what was denied
	fact    report.Evidence
}

// Comm is the name of the process.
func (l Line) Comm() string { return l.fields["comm"] }

// pid is its number; 0: not known.
func (l Line) pid() int {
	n, err := strconv.Atoi(l.fields["pid"])
	if err != nil {
		return 0
	}
	return n
}

// Fact quotes the line.
func (l Line) Fact() report.Evidence { return l.fact }

// What names what was denied: "create of dir", "mount".
func (l Line) What() string {
	if l.SELinux {
		return strings.Join(l.perms, " ") + " of " + l.fields["tclass"]
	}
	return l.fields["operation"]
}

// Object is the name of what was denied, and Label its label.
func (l Line) Object() string { return l.fields["name"] }

// Label is that of what was denied; empty: of AppArmor.
func (l Line) Label() string { return l.fields["tcontext"] }

const (
	fresh    = 10 * time.Minute
	auditLog = "var/log/audit/audit.log"
)

var (
	field   = pattern.MustCompile(`\b(\w+)=("[^"]*"|\S+)`)
	perms   = pattern.MustCompile(`avc:\s+denied\s+\{([^}]*)\}`)
	stamped = pattern.MustCompile(`audit\((\d+)\.\d+:\d+\)`)
)

// enforced are the fresh denials of a node that stopped somebody, newest first.
func enforced(x *snapshot.Index, node string) []Line {
	view := x.View(node)
	if view == nil {
		return nil
	}
	var out []Line
	for _, k := range view.Facts.Kernel {
		if l, ok := parse(view, k.Text, k.At); ok && x.Age(l.At) < fresh {
			l.fact = evidence.FromNode(node, "@kmsg", k.Text)
			out = append(out, l)
		}
	}
	for _, text := range strings.Split(view.Facts.Files[auditLog].Content, "\n") {
		if l, ok := parse(view, text, time.Time{}); ok && x.Age(l.At) < fresh {
			l.fact = evidence.FromNode(node, auditLog, strings.TrimSpace(text))
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Line) int { return b.At.Compare(a.At) })
	return out
}

func parse(view *snapshot.NodeView, text string, at time.Time) (Line, bool) {
	m, armor := perms.FindStringSubmatch(text), strings.Contains(text, `apparmor="DENIED"`)
	if m == nil && !armor {
		return Line{}, false
	}
	l := Line{At: at, SELinux: m != nil, fields: map[string]string{}}
	for _, f := range field.FindAllStringSubmatch(text, -1) {
		if _, ok := l.fields[f[1]]; !ok {
			l.fields[f[1]] = strings.Trim(f[2], `"`)
		}
	}
	if s := stamped.FindStringSubmatch(text); s != nil && at.IsZero() {
		if n, err := strconv.ParseInt(s[1], 10, 64); err == nil {
			l.At = time.Unix(n, 0)
		}
	}
	if l.At.IsZero() {
		return l, false
	}
	if !l.SELinux {
		return l, true
	}
	l.perms = strings.Fields(m[1])
	return l, l.fields["permissive"] == "0" && Enforcing(view).Yes()
}

// Enforcing asks whether SELinux of a node stops what it denies.
func Enforcing(view *snapshot.NodeView) evidence.Answer {
	const file = "sys/fs/selinux/enforce"
	f, ok := view.Facts.Files[file]
	if !ok || f.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + view.Name + "/" + string(probes.Files), Node: view.Name, Why: file + " was not read"})
	}
	return evidence.When(strings.TrimSpace(f.Content) == "1", evidence.FromNode(view.Name, file, strings.TrimSpace(f.Content)))
}
