package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBill writes the papers of a small program and holds them against what the
// specification of SPDX 2.3 asks for.
func TestBill(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "small")
	build := exec.Command("go", "build", "-o", binary, "../longhornfields")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read := func() (document, string) {
		files, err := describeBinary(binary, "v1.2.3", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		return d, string(text)
	}
	d, first := read()
	if _, second := read(); first != second {
		t.Error("two bills of one binary differ")
	}
	check(t, d.SPDXVersion == "SPDX-2.3" && d.DataLicense == "CC0-1.0" && d.SPDXID == "SPDXRef-DOCUMENT", "head %+v", d)
	id := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	var ids, names []string
	for _, p := range d.Packages {
		check(t, id.MatchString(p.SPDXID) && !slices.Contains(ids, p.SPDXID), "%s: id %s", p.Name, p.SPDXID)
		ids, names = append(ids, p.SPDXID), append(names, p.Name)
		check(t, p.Version != "" && p.DownloadLocation != "" && p.LicenseDeclared != "" && p.LicenseDeclared != "NOASSERTION", "package %+v", p)
	}
	for _, want := range []string{program, "stdlib", "sigs.k8s.io/yaml"} {
		check(t, slices.Contains(names, want), "%s is not in %s", want, strings.Join(names, ", "))
	}
	for _, r := range d.Relationships {
		check(t, slices.Contains(append(ids, "SPDXRef-DOCUMENT"), r.Element) && slices.Contains(ids, r.Related), "relationship %+v", r)
	}
	check(t, len(d.Relationships) == len(d.Packages), "%d relationships of %d packages", len(d.Relationships), len(d.Packages))
}
