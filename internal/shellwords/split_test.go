package shellwords

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"a b":                   {"a", "b"},
		"a 'b c' \"d e\" f\\ g": {"a", "b c", "d e", "f g"},
		`'it'\''s'`:             {"it's"},
		"a | b && c":            {"a", "operator |", "b", "operator &", "operator &", "c"},
		"a $b ~c d~e":           {"a", "expansion $", "b", "expansion ~", "c", "d~e"},
		"a '$(b)'":              {"a", "$(b)"},
		`x -- sh -c 'u "p q"'`:  {"x", "--", "sh", "-c", "u", "p q"},
	} {
		if diff := cmp.Diff(want, Split(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}
