package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
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
		"newline":        {"a\nb\tc", `a\nb\tc`},
		"blank ends":     {" a\n", "a"},
		"filler":         {"a\u3164b\u115fc\u2800", `a\u3164b\u115fc\u2800`},
		"selector":       {"a\ufe0fb", `a\ufe0fb`},
		"no-break space": {"a\u00a0b", `a\xa0b`},
		"ideographic":    {"a\u3000b", `a\u3000b`},
		"stacked marks":  {"a\u0301\u0302\u0303\u0304b", "a\u0301\u0302\\u0303\u0304b"},
		"mark first":     {"\u0301a", `\u0301a`},
		"replacement":    {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Line(c.in); got != c.want {
				t.Errorf("Line(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\x1b[2J\xff\u202e", "a\u0301\u0301\u0301\u0301", " \t x \u200b ", "\u115f\u1160"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if Line(got) != got || Hidden(got) || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x1b") {
			t.Errorf("Line(%q) = %q is no visible line", s, got)
		}
		if Lines(Lines(s)) != Lines(s) {
			t.Errorf("Lines(%q) changes its own answer", s)
		}
	})
}

// TestVisible asks what the three special kinds of strings become.
func TestVisible(t *testing.T) {
	t.Parallel()
	evil := "m\n$ reboot\u202e"
	in := &Report{
		Summary: evil, Subject: Subject{Name: evil}, NotChecked: []NotChecked{{Causes: []string{evil}}},
		RootCauses: []Cause{{
			Message: evil, Evidence: []Evidence{{Locator: evil, Text: "a\n\tb"}, {Text: "a\n\xff"}},
			Remedies: []Remedy{{Title: "Flush " + evil, Commands: []string{"ls", "multipath -f '" + evil + "'"}, Risk: "reversible"}, {Title: "Look", Commands: []string{"ls  'a  b'"}}},
		}},
	}
	seen := `m\n$ reboot\u202e`
	want := &Report{
		Summary: seen, Subject: Subject{Name: seen}, NotChecked: []NotChecked{{Causes: []string{seen}}},
		RootCauses: []Cause{{
			Message: seen, Evidence: []Evidence{{Locator: seen, Text: "a\n\tb"}, {Text: "a\n\\xff"}},
			Remedies: []Remedy{{Title: "Flush " + seen + withheld, Risk: "reversible"}, {Title: "Look", Commands: []string{"ls  'a  b'"}}},
		}},
	}
	got := Visible(in)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, Visible(got)); diff != "" {
		t.Errorf("twice is not once (-once +twice):\n%s", diff)
	}
	if in.RootCauses[0].Remedies[0].Commands == nil || in.Summary != evil {
		t.Error("the report itself was changed")
	}
}
