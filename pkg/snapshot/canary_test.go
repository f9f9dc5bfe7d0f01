package snapshot

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var planted = regexp.MustCompile(`(?i)canary[0-9A-Za-z]*`)

// TestHostileCapture writes the snapshot of testdata/hostile in which somebody planted
// passwords: no capture holds one of them.
func TestHostileCapture(t *testing.T) {
	t.Parallel()
	s := loaded(t, filepath.Join("..", "..", "testdata", "hostile", "secrets-in-capture"))
	for name, of := range map[string]*Snapshot{"plain": s, "redacted": redactedFor(t, s)} {
		for file, data := range written(t, of) {
			for _, c := range planted.FindAllString(file+"\n"+data, -1) {
				t.Errorf("the %s capture holds %s in %s: %s", name, c, file, around(data, c))
			}
		}
	}
}

func redactedFor(t *testing.T, s *Snapshot) *Snapshot {
	t.Helper()
	r, err := Redact(s, []byte("key of the test"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written are the files of a capture.
func written(t *testing.T, s *Snapshot) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := write(s, func(name string, data []byte) error {
		out[name] = string(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func around(data, word string) string {
	i := strings.Index(data, word)
	if i < 0 {
		return word
	}
	return data[max(0, i-60):min(len(data), i+60)]
}
