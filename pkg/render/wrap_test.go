package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":          {"pod shop/db-0", "pod shop/db-0"},
		"escape":         {"\x1b[2J", `\x1b[2J`},
		"c1 control":     {"\u009b31m", `\x9b31m`},
		"invalid utf-8":  {"a\xffb", `a\xffb`},
		"bidi override":  {"\u202egnp", `\u202egnp`},
		"zero width":     {"a\u200bb", `a\u200bb`},
		"line separator": {"a\u2028b", `a\u2028b`},
		"tag character":  {"\U000e0041", `\U000e0041`},
		"carriage":       {"a\rb", `a\rb`},
		"accents stay":   {"größe é 名", "größe é 名"},
		"newline stays":  {"a\nb\tc", "a\nb\tc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := clean(c.in); got != c.want {
				t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		width int
		want  []string
	}{
		"words":     {"one two three", 8, []string{"one two", "three"}},
		"long path": {"see /var/lib/kubelet/plugins", 12, []string{"see", "/var/lib/", "kubelet/", "plugins"}},
		"no break":  {"aaaaaaaaaa", 4, []string{"aaaa", "aaaa", "aa"}},
		"empty":     {"", 4, []string{""}},
		"newline":   {"a\nb", 4, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, wrap(c.in, c.width)); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommandsSplitOnlyOutsideQuotes(t *testing.T) {
	t.Parallel()
	p := &page{}
	in := `kubectl debug node/a -- nsenter -t 1 -m -- sh -c 'multipath -f mpatha and a long tail' --flag value`
	parts := p.shell(in, 30)
	if got := strings.Join(parts, " "); got != in {
		t.Errorf("parts do not add up: %q", got)
	}
	for _, part := range parts {
		if strings.Count(part, "'")%2 != 0 {
			t.Errorf("cut inside quotes: %q", part)
		}
	}
}
