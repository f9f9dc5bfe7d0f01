package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// seen is what people see of a symptom, and what they ask then.
var seen = map[string]struct{ words, ask string }{
	"claim-pending":          {"`kubectl get pvc` says Pending, or Terminating for ever", "pvc NAME"},
	"attach-failed":          {"`FailedAttachVolume`, `AttachVolume.Attach failed`", "pod NAME"},
	"multi-attach-error":     {"`Multi-Attach error for volume …: Volume is already exclusively attached to one node`", "pod NAME"},
	"mount-failed":           {"`FailedMount`, `MountVolume.MountDevice failed`, `MountVolume.SetUp failed`", "pod NAME"},
	"mount-busy":             {"`already mounted or mount point busy`, `Device or resource busy`", "pod NAME"},
	"format-failed":          {"`mkfs.ext4 … failed`, `is apparently in use by the system`", "pod NAME"},
	"fsck-failed":            {"`'fsck' found errors on device … but could not correct them`", "pod NAME"},
	"detach-stuck":           {"`kubectl get volumeattachments` shows one of a node that nobody uses", "pvc NAME"},
	"modification-pending":   {"the claim keeps the attributes of its old VolumeAttributesClass; `VolumeModifyFailed`", "pvc NAME"},
	"expansion-pending":      {"the claim shows the old size; `FileSystemResizePending`", "pvc NAME"},
	"pod-stuck-terminating":  {"`kubectl get pods` says Terminating for ever", "pod NAME"},
	"pod-waiting-for-volume": {"ContainerCreating for minutes; `Unable to attach or mount volumes: timed out waiting for the condition`", "pod NAME"},
	"share-manager-failing":  {"a share-manager pod of Longhorn restarts or does not start", "pvc NAME"},
	"unmount-blocked":        {"`UnmountVolume.TearDown failed`, `target is busy`", "pod NAME"},
	"volume-attach-loop":     {"Longhorn's UI shows attaching and detaching in turn", "volume NAME"},
	"volume-degraded":        {"Longhorn's UI says Degraded", "volume NAME"},
	"volume-hung":            {"`ls` hangs; processes in state D", "node NAME"},
	"volume-io-error":        {"`Input/output error`, `Stale file handle`, `Transport endpoint is not connected`", "pod NAME"},
	"volume-readonly":        {"`Read-only file system`", "pod NAME"},
}

// symptoms is the page from what is seen to what is typed, with the causes of each.
func symptoms(rules []*diagnosis.Rule) string {
	var names []string
	for _, s := range causes.Catalog().Symptoms {
		names = append(names, s.Name)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString("# From symptom to command\n\n| what you see | what to type | symptom |\n| --- | --- | --- |\n")
	for _, n := range names {
		s := seen[n]
		fmt.Fprintf(&b, "| %s | `kubectl mountdoctor %s` | [%s](#%s) |\n", s.words, s.ask, n, n)
	}
	b.WriteString("\nNothing of it, and you want to know beforehand: `kubectl mountdoctor preflight` and `kubectl mountdoctor cluster`.\nOnly a support bundle at hand: the same with `--from BUNDLE.zip` ([reading bundles](bundles.md)).\n")
	for _, n := range names {
		fmt.Fprintf(&b, "\n## %s\n\n%s. `kubectl mountdoctor %s` looks for these causes:\n\n", n, upper(seen[n].words), seen[n].ask)
		layer := ""
		for _, r := range rules {
			if !explains(r, n) {
				continue
			}
			if string(r.Layer) != layer {
				if layer != "" {
					b.WriteString("\n")
				}
				layer = string(r.Layer)
				fmt.Fprintf(&b, "- **%s**: ", layer)
			} else {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "[%s](causes/%s.md)", r.Name, r.Name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func explains(r *diagnosis.Rule, symptom string) bool {
	for _, s := range r.Explains {
		if s == symptom {
			return true
		}
	}
	return false
}

func upper(s string) string {
	if s == "" || s[0] == '`' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// configuration is mkdocs.yml. No font, script or picture is fetched from elsewhere.
func configuration(rules []*diagnosis.Rule, url string) string {
	var b strings.Builder
	b.WriteString("site_name: kubectl mountdoctor\nsite_description: Say why a Kubernetes volume does not attach, mount or let go\n")
	if url != "" {
		fmt.Fprintf(&b, "site_url: %q\n", url)
	}
	fmt.Fprintf(&b, "repo_url: %s\nedit_uri: ''\nuse_directory_urls: true\n", repository)
	b.WriteString(`theme:
  name: material
  font: false
  features: [navigation.top, toc.follow, search.suggest]
  palette:
  - media: '(prefers-color-scheme: light)'
    scheme: default
    primary: indigo
  - media: '(prefers-color-scheme: dark)'
    scheme: slate
    primary: indigo
markdown_extensions: [tables, fenced_code, admonition, {toc: {permalink: true}}]
plugins: [search]
nav:
- Home: index.md
- From symptom to command: symptoms.md
- Causes:
  - All: causes/index.md
`)
	layer := ""
	for _, r := range rules {
		if string(r.Layer) != layer {
			layer = string(r.Layer)
			fmt.Fprintf(&b, "  - %s:\n", layer)
		}
		fmt.Fprintf(&b, "    - causes/%s.md\n", r.Name)
	}
	section := ""
	for _, p := range pages {
		if p.section != section {
			section = p.section
			fmt.Fprintf(&b, "- %s:\n", section)
		}
		fmt.Fprintf(&b, "  - %q: %s\n", p.title, baseName(p.file))
	}
	return b.String()
}

func baseName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
