// Command site writes the sources of the documentation's site: one page for each cause and
// each symptom, a page from symptom to command, the pages of docs/, and mkdocs.yml. The
// rest is mkdocs with the theme material (make site).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

const repository = "https://github.com/mountdoctor/kubectl-mountdoctor"

// pages are those of docs/ and of the root, in the order of the navigation.
var pages = []struct{ section, title, file string }{
	{"Use", "Preflight", "docs/preflight.md"}, {"Use", "Jobs, alerts, scripts", "docs/automation.md"}, {"Use", "Permissions", "docs/permissions.md"},
	{"Use", "When a node cannot be looked at", "docs/faults.md"}, {"Use", "Steps", "docs/remedies.md"}, {"Use", "Reports of incidents", "docs/incidents.md"},
	{"Bundles and captures", "Reading bundles, for Longhorn maintainers", "docs/bundles.md"}, {"Bundles and captures", "What a capture holds", "docs/captures.md"},
	{"Bundles and captures", "Formats", "docs/formats.md"},
	{"Trust", "Security of the probe", "docs/security.md"}, {"Trust", "Supply chain", "docs/supply-chain.md"}, {"Trust", "Licences", "docs/licences.md"}, {"Trust", "Threat model", "SECURITY.md"},
	{"Contribute", "Architecture", "ARCHITECTURE.md"}, {"Contribute", "Recipes", "CONTRIBUTING.md"}, {"Contribute", "krew", "docs/krew.md"},
}

func main() {
	out := flag.String("out", filepath.Join("dist", "site"), "directory for mkdocs.yml and docs/")
	url := flag.String("url", "", "where the site will stand (site_url)")
	flag.Parse()
	if err := site(".", *out, *url); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// site writes everything below out from the repository at root.
func site(root, out, url string) error {
	w := writer{root: root, out: filepath.Join(out, "docs")}
	w.copy("README.md", "index.md")
	for _, p := range pages {
		w.copy(p.file, filepath.Base(p.file))
	}
	rules := slices.Clone(causes.Catalog().Rules)
	sort.SliceStable(rules, func(i, j int) bool {
		a, b := diagnosis.Depth(rules[i].Layer), diagnosis.Depth(rules[j].Layer)
		return a < b || a == b && rules[i].Name < rules[j].Name
	})
	for _, r := range rules {
		w.write("causes/"+r.Name+".md", cause(r))
	}
	w.write("causes/index.md", catalog(rules))
	w.write("symptoms.md", symptoms(rules))
	for _, f := range []string{"docs/report.png", "docs/demo.svg"} {
		w.raw(f, filepath.Base(f))
	}
	if w.err != nil {
		return w.err
	}
	return os.WriteFile(filepath.Join(out, "mkdocs.yml"), []byte(configuration(rules, url)), 0o644)
}

// writer remembers the first error.
type writer struct {
	root, out string
	err       error
}

func (w *writer) write(name, text string) {
	path := filepath.Join(w.out, filepath.FromSlash(name))
	if w.err == nil {
		w.err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if w.err == nil {
		w.err = os.WriteFile(path, []byte(text), 0o644)
	}
}

// copy takes a page over; links into the repository lead there.
func (w *writer) copy(from, to string) {
	raw, err := os.ReadFile(filepath.Join(w.root, from))
	if err != nil && w.err == nil {
		w.err = err
	}
	w.write(to, relink(string(raw), from))
}

// raw copies a picture; one that is not there yet is left out.
func (w *writer) raw(from, to string) {
	if raw, err := os.ReadFile(filepath.Join(w.root, from)); err == nil {
		w.write(to, string(raw))
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// relink makes links between pages relative to the site, and others lead to the repository.
func relink(text, from string) string {
	return link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		target := m[1]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			return s
		}
		path := filepath.ToSlash(filepath.Join(filepath.Dir(from), target))
		if path == "README.md" {
			return "](index.md" + m[2] + ")"
		}
		if onSite(path) {
			return "](" + filepath.Base(path) + m[2] + ")"
		}
		return "](" + repository + "/blob/main/" + path + m[2] + ")"
	})
}

func onSite(path string) bool {
	for _, p := range pages {
		if p.file == path {
			return true
		}
	}
	return path == "docs/report.png" || path == "docs/demo.svg"
}

// cause is a rule's document with what it declares.
func cause(r *diagnosis.Rule) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(strings.Replace(r.Doc, "\n## Says\n", "\n## What a report says\n", 1)))
	fmt.Fprintf(&b, "\n\n## In the catalog\n\n| | |\n| --- | --- |\n| layer | %s |\n| severity | %s |\n", r.Layer, r.Severity)
	row(&b, "explains", r.Explains, "../symptoms.md#")
	row(&b, "leads to", r.LeadsTo, "")
	row(&b, "gives way to", r.YieldsTo, "")
	row(&b, "may advise", r.Offers, "-")
	fmt.Fprintf(&b, "\n```\nkubectl mountdoctor explain %s\n```\n", r.Name)
	return b.String()
}

// row lists names, each with its link: a prefix, or to the cause of that name.
func row(b *strings.Builder, word string, names []string, to string) {
	var out []string
	for _, n := range names {
		switch to {
		case "-":
			out = append(out, n)
		case "":
			out = append(out, "["+n+"]("+n+".md)")
		default:
			out = append(out, "["+n+"]("+to+n+")")
		}
	}
	if len(out) > 0 {
		fmt.Fprintf(b, "| %s | %s |\n", word, strings.Join(out, ", "))
	}
}

// catalog lists the causes by layer, with the first sentence of each.
func catalog(rules []*diagnosis.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %d causes\n\nFrom the claim down to the bytes. A cause that lies deeper explains those above it.\n", len(rules))
	layer := ""
	for _, r := range rules {
		if string(r.Layer) != layer {
			layer = string(r.Layer)
			fmt.Fprintf(&b, "\n## %s\n\n| cause | means |\n| --- | --- |\n", layer)
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", r.Name, r.Name, strings.ReplaceAll(sentence(r.Doc), "|", `\|`))
	}
	return b.String()
}

// sentence is the first one below "## Means".
func sentence(doc string) string {
	_, rest, _ := strings.Cut(doc, "## Means")
	first, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	first = strings.Join(strings.Fields(first), " ")
	if i := strings.Index(first, ". "); i > 0 {
		return first[:i+1]
	}
	return first
}
