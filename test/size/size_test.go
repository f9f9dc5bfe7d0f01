// Package size holds the program to what people download without thinking.
package size

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents"
)

const (
	mega = 1 << 20
	// kubectl itself is larger.
	mostBinary  = 48 * mega
	mostArchive = 22_000_000
	// ofAgents is left free in a build without them.
	ofAgents = 7 * mega
)

// TestSize builds the plugin as the Makefile does and looks for what made it large: the
// template packages, which find methods by name, and Go plugins make the linker keep
// every exported method of the Kubernetes types.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	t.Parallel()
	binary := build(t)
	raw, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reserve := 0
	if len(agents.Architectures()) == 0 {
		reserve = ofAgents
		t.Log("no agents are embedded (make agents): their size is assumed")
	}
	t.Logf("the program has %d MB, its archive %d MB", len(raw)/mega, packed.Len()/mega)
	if n := len(raw) + reserve; n > mostBinary {
		t.Errorf("the program has %d bytes, at most %d", n, mostBinary)
	}
	if n := packed.Len() + reserve; n > mostArchive {
		t.Errorf("the archive has %d bytes, at most %d", n, mostArchive)
	}
	for _, name := range []string{"html/template.(*Template).Execute", "text/template.(*Template).Execute", "plugin.Open"} {
		if bytes.Contains(raw, []byte("\x00"+name+"\x00")) {
			t.Errorf("%s is linked in", name)
		}
	}
}

// build uses the tags of the Makefile.
func build(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS +:= (\S+)$`).FindSubmatch(makefile)
	if tags == nil {
		t.Fatal("the Makefile has no tags")
	}
	binary := filepath.Join(t.TempDir(), "kubectl-mountdoctor")
	args := []string{"build", "-tags", string(tags[1]), "-ldflags", "-s -w", "-o", binary}
	seldom := regexp.MustCompile(`(?m)^SELDOM +:= (.+)$`).FindSubmatch(makefile)
	if seldom == nil {
		t.Fatal("the Makefile does not say what is built small")
	}
	for _, packages := range strings.Fields(string(seldom[1])) {
		args = append(args, "-gcflags="+packages+"=-l")
	}
	cmd := exec.Command("go", append(args, "./cmd/kubectl-mountdoctor")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // as the tests are built, so that the packages are there already
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}
