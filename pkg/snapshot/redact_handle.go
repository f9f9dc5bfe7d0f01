package snapshot

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// opaque learns an identifier that may have structure ("name##iscsi##wwid"): its parts
// are replaced one by one, so that a WWID in a handle stays that of the disk. Servers
// and IQNs in it become what they become everywhere else, so that they are still found.
func (w *vocabulary) opaque(kind, s string) {
	if s == "" || keptName(s) || w.exact[s] != "" {
		return
	}
	token := outside(s, ownShape, func(rest string) string {
		return handlePart.ReplaceAllStringFunc(rest, func(part string) string { return w.part(kind, part) })
	})
	w.put(s, token)
	w.exact[s] = w.shapes(token)
	// NVMe serials are volume ids without dashes.
	if bare := strings.ReplaceAll(s, "-", ""); bare != s && len(bare) > 8 && w.exact[bare] == "" {
		w.put(bare, strings.ReplaceAll(token, "-", ""))
	}
}

var (
	handlePart = pattern.MustCompile(`[A-Za-z0-9_.-]+`)
	uuidInside = pattern.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	cloudID    = pattern.MustCompile(`^([a-z]{1,8}-)([0-9a-f]{8,40})$`)
	wwidShape  = pattern.MustCompile(`^[0-9a-fA-F]{16,33}$`)
	// ownShape are parts of a handle that have a form of their own: IQNs, addresses, the
	// server before a share.
	ownShape = pattern.MustCompile(iqnShape.String() + `|` + ipv4Shape.String() + `|^[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+[/#:@]`)
)

// outside replaces what lies between the matches of a form.
func outside(s string, form *pattern.Pattern, replace func(string) string) string {
	var out strings.Builder
	last := 0
	for _, m := range form.FindAllStringIndex(s, -1) {
		out.WriteString(replace(s[last:m[0]]))
		out.WriteString(s[m[0]:m[1]])
		last = m[1]
	}
	out.WriteString(replace(s[last:]))
	return out.String()
}

// part is one part of an identifier: UID-shaped ones, numbers and words of protocols stay.
func (w *vocabulary) part(kind, s string) string {
	switch {
	case keptName(s), len(s) < 6, uuidInside.MatchString(s):
		return s // names inside are replaced as words
	case wwidShape.MatchString(s):
		w.identity(s)
		return w.whole(s)
	}
	if m := cloudID.FindStringSubmatch(s); m != nil {
		return m[1] + w.token("name", s)[:len(m[2])] // vol-…, disk-…: drivers look at the form
	}
	return kind + "-" + w.token("name", s)[:16]
}
