package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// plugin is what krew reads of a manifest (sigs.k8s.io/krew/pkg/index/types.go).
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
	Files  []struct{ From, To string }
}

// TestKrew checks the manifest by the rules of krew's own validation
// (internal/index/validation) and naming guide.
func TestKrew(t *testing.T) {
	t.Parallel()
	var archives []archive
	for i, p := range platforms {
		a := describe(p)
		a.SHA256 = strings.Repeat(string("0123456789abcdef"[i]), 64)
		archives = append(archives, a)
	}
	file := filepath.Join("..", "..", "deploy", "krew", "mountdoctor.yaml")
	text, err := render(file, "v1.2.3", archives)
	if err != nil {
		t.Fatal(err)
	}
	var p plugin
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	check(t, p.APIVersion == "krew.googlecontainertools.github.com/v1alpha2" && p.Kind == "Plugin", "%s %s", p.APIVersion, p.Kind)
	check(t, p.Metadata.Name+".yaml" == filepath.Base(file), "the name %q differs from the file's", p.Metadata.Name)
	check(t, regexp.MustCompile(`^[\w-]+$`).MatchString(p.Metadata.Name), "name %q", p.Metadata.Name)
	check(t, semantic.MatchString(p.Spec.Version), "version %q", p.Spec.Version)
	check(t, p.Spec.ShortDescription != "" && len(p.Spec.ShortDescription) <= 50 && !strings.ContainsAny(p.Spec.ShortDescription, "\r\n"),
		"short description %q", p.Spec.ShortDescription)
	check(t, p.Spec.Description != "" && strings.HasPrefix(p.Spec.Homepage, "https://"), "description or homepage is missing")
	check(t, len(p.Spec.Platforms) == len(platforms)-len(unlisted), "%d platforms", len(p.Spec.Platforms))
	seen := map[string]bool{}
	for _, one := range p.Spec.Platforms {
		checkPlatform(t, one, seen)
	}
}

func checkPlatform(t *testing.T, p platform, seen map[string]bool) {
	t.Helper()
	labels := p.Selector.MatchLabels
	key := labels["os"] + "/" + labels["arch"]
	check(t, len(labels) == 2 && !seen[key] && slices.Contains(platforms, key), "selector %v", labels)
	seen[key] = true
	check(t, regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(p.SHA256), "%s: sha256 %q", key, p.SHA256)
	check(t, strings.HasSuffix(p.URI, ".tar.gz") || strings.HasSuffix(p.URI, ".zip"), "%s: krew unpacks no %s", key, p.URI)
	check(t, strings.Contains(p.URI, "/v1.2.3/"), "%s: %s is not of this version", key, p.URI)
	check(t, (labels["os"] == "windows") == strings.HasSuffix(p.Bin, ".exe"), "%s: bin %s", key, p.Bin)
	var from []string
	for _, f := range p.Files {
		from = append(from, f.From)
		check(t, f.To == "." && !strings.Contains(f.From, ".."), "%s: file %+v", key, f)
	}
	check(t, slices.Contains(from, p.Bin) && slices.Contains(from, "LICENSE"), "%s: files %v", key, from)
}

func check(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// TestArchivesReproducible: the same files give the same bytes.
func TestArchivesReproducible(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), program)
	if err := os.WriteFile(file, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, pack := range map[string]func([]string) ([]byte, error){"tar.gz": packTar, "zip": packZip} {
		first, err := pack([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, epoch, epoch.AddDate(9, 0, 0)); err != nil {
			t.Fatal(err)
		}
		second, err := pack([]string{file})
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: differs, or %v", name, err)
		}
	}
}
