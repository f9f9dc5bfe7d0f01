// Package modules lists the Go modules that are linked into our programs, with the
// licences that their sources carry.
package modules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is one module that packages of a program come from.
type Module struct {
	Path, Version string
	Licences      []string // SPDX identifiers, sorted
	Files         []string // in which they stand
	Texts         []string // of the files
}

// Linked lists the modules of some packages for one platform, but the main module,
// sorted by path.
func Linked(platform string, packages ...string) ([]Module, error) {
	goos, arch, _ := strings.Cut(platform, "/")
	list := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w", strings.Join(packages, ", "), err)
	}
	found := map[string]Module{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		if p.Module == nil || p.Module.Main || found[p.Module.Path].Path != "" {
			continue
		}
		m := Module{Path: p.Module.Path, Version: p.Module.Version}
		if err := m.read(p.Module.Dir); err != nil {
			return nil, err
		}
		found[m.Path] = m
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Module) int { return strings.Compare(a.Path, b.Path) }), nil
}

// texts are sentences by which a licence is known, spaces made equal.
var texts = []struct{ id, has string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose"},
	{"BSD-3-Clause", "redistributions in binary form must reproduce"},
	{"MPL-2.0", "mozilla public license version 2.0"},
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicen[cs]e|notice)([.-].*)?$`)
	// noEndorsement is what the third clause of the BSD licence says and the second does not.
	noEndorsement = regexp.MustCompile(`neither the name|may not be used to endorse`)
)

// read finds the licence files of a module's root.
func (m *Module) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		m.Files, m.Texts = append(m.Files, e.Name()), append(m.Texts, string(text))
		m.Licences = append(m.Licences, Licences(string(text))...)
	}
	slices.Sort(m.Licences)
	m.Licences = slices.Compact(m.Licences)
	return nil
}

// Licences are those that a text contains. A text may hold several: that of code
// which the module took over stands below its own.
func Licences(text string) []string {
	text = strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer("*", " ", "#", " ", "//", " ").Replace(text)), " "))
	text = strings.ReplaceAll(text, "license, version", "license version")
	var out []string
	for _, t := range texts {
		if !strings.Contains(text, t.has) {
			continue
		}
		id := t.id
		if id == "BSD-3-Clause" && !noEndorsement.MatchString(text) {
			id = "BSD-2-Clause"
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Expression is the licence of a module as SPDX writes it.
func (m Module) Expression() string {
	if len(m.Licences) == 0 {
		return "NOASSERTION"
	}
	return strings.Join(m.Licences, " AND ")
}
