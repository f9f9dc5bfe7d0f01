package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// TestWriteBundles writes one case in every layout, to be looked at by hand:
// MOUNTDOCTOR_BUNDLE_CASE=name MOUNTDOCTOR_BUNDLE_DIR=/tmp/x go test -run WriteBundles
func TestWriteBundles(t *testing.T) {
	t.Parallel()
	name, dir := os.Getenv("MOUNTDOCTOR_BUNDLE_CASE"), os.Getenv("MOUNTDOCTOR_BUNDLE_DIR")
	if name == "" || dir == "" {
		t.Skip("MOUNTDOCTOR_BUNDLE_CASE and MOUNTDOCTOR_BUNDLE_DIR name no case and no directory")
	}
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	o := readCase(t, filepath.Join(root, name))
	for layout, write := range layoutsOf {
		for file, data := range write(o) {
			put(t, filepath.Join(dir, layout, filepath.FromSlash(file)), data)
		}
	}
}
