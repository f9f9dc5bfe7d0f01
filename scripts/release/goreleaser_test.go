package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// goreleaser is what is compared of .goreleaser.yaml.
type goreleaser struct {
	Builds []struct {
		Binary, Main                                     string
		Env, Goos, Goarch, Flags, Tags, Ldflags, Gcflags []string
	}
	Archives []struct {
		NameTemplate    string `json:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `json:"format_overrides"`
		Files []any
	}
	Checksum struct {
		NameTemplate string `json:"name_template"`
		Algorithm    string
	}
}

// TestGoreleaser: both ways to a release build the same programs for the same platforms
// in the same way, and pack the same files under the same names.
func TestGoreleaser(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config goreleaser
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || len(config.Archives) != 1 {
		t.Fatalf("%d builds, %d archives", len(config.Builds), len(config.Archives))
	}
	b, a := config.Builds[0], config.Archives[0]
	check(t, b.Binary == program && b.Main == "./cmd/"+program, "binary %s of %s", b.Binary, b.Main)
	check(t, slices.Contains(b.Env, "CGO_ENABLED=0"), "env %q", b.Env)
	var built []string
	for _, goos := range b.Goos {
		for _, arch := range b.Goarch {
			built = append(built, goos+"/"+arch)
		}
	}
	slices.Sort(built)
	if diff := cmp.Diff(platforms, built); diff != "" {
		t.Errorf("platforms (-ours +goreleaser):\n%s", diff)
	}
	ldflags := strings.ReplaceAll(strings.Join(b.Ldflags, " "), "{{ .Tag }}", "v1.2.3")
	want := append(slices.Clone(b.Flags), "-tags", strings.Join(b.Tags, ","), "-ldflags", ldflags)
	for _, g := range b.Gcflags {
		want = append(want, "-gcflags="+g)
	}
	if diff := cmp.Diff(flags("v1.2.3"), want); diff != "" {
		t.Errorf("flags (-ours +goreleaser):\n%s", diff)
	}
	check(t, a.NameTemplate == program+"_{{ .Os }}_{{ .Arch }}" && slices.Equal(a.Formats, []string{"tar.gz"}), "archives %+v", a)
	check(t, len(a.FormatOverrides) == 1 && a.FormatOverrides[0].Goos == "windows" && slices.Equal(a.FormatOverrides[0].Formats, []string{"zip"}), "formats %+v", a.FormatOverrides)
	check(t, config.Checksum.NameTemplate == "checksums.txt" && config.Checksum.Algorithm == "sha256", "checksums %+v", config.Checksum)
	var packed []string
	for _, f := range a.Files {
		name, plain := f.(string)
		if m, ok := f.(map[string]any); !plain && ok {
			name, _ = m["src"].(string)
			check(t, m["strip_parent"] == true, "%s keeps its directory", name)
		}
		packed = append(packed, path.Base(name))
	}
	slices.Sort(packed)
	if diff := cmp.Diff([]string{"LICENSE", noticesName, sbomName}, packed); diff != "" {
		t.Errorf("files (-ours +goreleaser):\n%s", diff)
	}
}

// TestMakefile: what is released is compiled as what is built and measured here.
func TestMakefile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nSELDOM    := ")
	line, _, _ := strings.Cut(rest, "\n")
	if diff := cmp.Diff(strings.Fields(line), strings.Fields(seldom)); diff != "" {
		t.Errorf("compiled without inlining (-Makefile +release):\n%s", diff)
	}
}
