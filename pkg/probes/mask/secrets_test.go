package mask

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var marked = regexp.MustCompile(`«([^»]*)»`)

// TestSecrets: what is marked in testdata/secrets.txt is hidden wherever a text may stand.
func TestSecrets(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	forms := 0
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	for l := range strings.Lines(string(data)) {
		name, form, ok := strings.Cut(strings.TrimRight(l, "\n"), " | ")
		if !ok || strings.HasPrefix(l, "#") {
			continue
		}
		forms++
		form = unescape.Replace(form)
		text := strings.NewReplacer("«", "", "»", "").Replace(form)
		for _, around := range [][2]string{{"", ""}, {`{"msg":"`, `"}`}, {"E1126 10:00:00.000000       1 x.go:1] ", " (volume pvc-1)"}} {
			got := Text(around[0] + text + around[1])
			for _, m := range marked.FindAllStringSubmatch(form, -1) {
				if strings.Contains(got, m[1]) {
					t.Errorf("%s tells %s: %s", name, m[1], got)
				}
			}
			if again := Text(got); again != got {
				t.Errorf("%s, masked twice: %q, once: %q", name, again, got)
			}
		}
	}
	if forms < 200 {
		t.Errorf("only %d forms were read", forms)
	}
}
