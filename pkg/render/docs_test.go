package render

import (
	"bytes"
	"strings"
	"testing"
)

// TestPageOfACause: with the address of a site every format for people links to the page
// of a cause, without one none does.
func TestPageOfACause(t *testing.T) {
	t.Parallel()
	const page = "https://docs.example.com/storage/causes/multipath-claims-device/"
	for _, format := range []string{"text", "wide", "markdown", "html"} {
		for docs, want := range map[string]bool{"": false, "https://docs.example.com/storage": true, "https://docs.example.com/storage/": true} {
			var b bytes.Buffer
			if err := Write(&b, sample(), format, Options{Docs: docs}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), page); got != want {
				t.Errorf("%s with the site %q: link %v, want %v", format, docs, got, want)
			}
		}
	}
}
