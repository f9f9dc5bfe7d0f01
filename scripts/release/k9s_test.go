package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// k9s is the schema of its plugins (internal/config/json/schemas/plugins.json of
// derailed/k9s), as far as ours use it.
type k9s struct {
	Plugins map[string]struct {
		ShortCut    string   `json:"shortCut"`
		Description string   `json:"description"`
		Scopes      []string `json:"scopes"`
		Command     string   `json:"command"`
		Background  bool     `json:"background"`
		Args        []string `json:"args"`
	} `json:"plugins"`
}

// scoped is the verb for the objects of a view of k9s.
var scoped = map[string]string{"persistentvolumeclaims": "pvc", "pods": "pod", "persistentvolumes": "volume", "nodes": "node"}

var k9sLine = regexp.MustCompile(`^kubectl mountdoctor (\w+) "\$NAME"( -n "\$NAMESPACE")? --context "\$CONTEXT" --color=always \| less -R$`)

// TestK9s: the plugin file is one that k9s takes, and each view asks for its own kind.
func TestK9s(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "k9s", "plugins.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file k9s
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	check(t, len(file.Plugins) == len(scoped), "%d plugins", len(file.Plugins))
	for name, p := range file.Plugins {
		if len(p.Scopes) != 1 || len(p.Args) != 2 {
			t.Errorf("%s: scopes %q, args %q", name, p.Scopes, p.Args)
			continue
		}
		m := k9sLine.FindStringSubmatch(p.Args[1])
		namespaced := slices.Contains([]string{"pvc", "pod"}, scoped[p.Scopes[0]])
		check(t, p.ShortCut != "" && p.Description != "" && p.Command == "sh" && p.Args[0] == "-c", "%s: %+v", name, p)
		check(t, m != nil && m[1] == scoped[p.Scopes[0]] && (m[2] != "") == namespaced, "%s: %s", name, p.Args[1])
	}
}
