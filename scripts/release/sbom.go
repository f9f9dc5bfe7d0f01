package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/modules"
)

// The files about a binary that are packed with it.
const (
	sbomName    = "sbom.spdx.json"
	noticesName = "NOTICES"
)

// The parts of SPDX 2.3 that are written (https://spdx.github.io/spdx-spec/v2.3).
type (
	document struct {
		SPDXVersion   string         `json:"spdxVersion"`
		DataLicense   string         `json:"dataLicense"`
		SPDXID        string         `json:"SPDXID"`
		Name          string         `json:"name"`
		Namespace     string         `json:"documentNamespace"`
		CreationInfo  creation       `json:"creationInfo"`
		Packages      []part         `json:"packages"`
		Relationships []relationship `json:"relationships"`
	}
	creation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	part struct {
		SPDXID           string      `json:"SPDXID"`
		Name             string      `json:"name"`
		Version          string      `json:"versionInfo"`
		DownloadLocation string      `json:"downloadLocation"`
		FilesAnalyzed    bool        `json:"filesAnalyzed"`
		Checksums        []checksum  `json:"checksums,omitempty"`
		LicenseConcluded string      `json:"licenseConcluded"`
		LicenseDeclared  string      `json:"licenseDeclared"`
		Copyright        string      `json:"copyrightText"`
		Comment          string      `json:"comment,omitempty"`
		ExternalRefs     []reference `json:"externalRefs,omitempty"`
	}
	checksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	relationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

// describeBinary writes the bill of materials of a binary and the notices of what is
// linked into it, and names both files. What is in it the binary says itself (go version
// -m); the licences stand in the sources of the modules.
func describeBinary(binary, version, dir string) ([]string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	list, err := modules.Linked(setting(info, "GOOS")+"/"+setting(info, "GOARCH"), info.Path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	bill, err := billOf(info, version, hex.EncodeToString(sum[:]), list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	papers := map[string][]byte{sbomName: bill, noticesName: notices(list)}
	files := []string{filepath.Join(dir, sbomName), filepath.Join(dir, noticesName)}
	for _, f := range files {
		if err := os.WriteFile(f, papers[filepath.Base(f)], 0o644); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// billOf is the bill of materials. It has no time of its own, so that two builds of one
// commit give the same bytes: created is the epoch of the archives.
func billOf(info *debug.BuildInfo, version, sum string, list []modules.Module) ([]byte, error) {
	licences := map[string]string{}
	for _, m := range list {
		licences[m.Path] = m.Expression()
	}
	const root = "SPDXRef-Package-" + program
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: program + " " + version,
		Namespace:    "https://github.com/mountdoctor/kubectl-mountdoctor/spdx/" + version + "/" + sum,
		CreationInfo: creation{epoch.Format("2006-01-02T15:04:05Z"), []string{"Tool: kubectl-mountdoctor-scripts-release"}},
		Packages: []part{{
			SPDXID: root, Name: program, Version: version, DownloadLocation: "https://github.com/mountdoctor/kubectl-mountdoctor",
			Checksums: []checksum{{"SHA256", sum}}, LicenseConcluded: "NOASSERTION", LicenseDeclared: "Apache-2.0", Copyright: "NOASSERTION",
			Comment: "the binary for " + setting(info, "GOOS") + "/" + setting(info, "GOARCH") + "; the checksum is the binary's",
		}},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", root}},
	}
	add := func(p part) {
		p.Copyright, p.LicenseConcluded = "NOASSERTION", "NOASSERTION"
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{root, "CONTAINS", p.SPDXID})
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	add(part{SPDXID: "SPDXRef-Package-go-stdlib", Name: "stdlib", Version: goVersion, DownloadLocation: "https://go.dev/dl/",
		LicenseDeclared: "BSD-3-Clause", ExternalRefs: purl("stdlib", goVersion)})
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: its source is not what its name says", m.Path)
		}
		licence := licences[m.Path]
		if licence == "" {
			return nil, fmt.Errorf("%s is linked, but not in the list of packages", m.Path)
		}
		add(part{SPDXID: "SPDXRef-Package-" + spdxID(m.Path), Name: m.Path, Version: m.Version,
			DownloadLocation: "https://proxy.golang.org/" + escaped(m.Path) + "/@v/" + m.Version + ".zip",
			LicenseDeclared:  licence, Comment: "go.sum " + m.Sum, ExternalRefs: purl(m.Path, m.Version)})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

func purl(module, version string) []reference {
	return []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(module) + "@" + version}}
}

// spdxID keeps the letters, digits, dots and dashes that an identifier may have.
func spdxID(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, s)
}

// notices are the texts that the licences of the modules ask to pass on.
func notices(list []modules.Module) []byte {
	var b strings.Builder
	b.WriteString("Licences of the modules that are linked into " + program + ".\n")
	for _, m := range list {
		for i, text := range m.Texts {
			fmt.Fprintf(&b, "\n%s\n%s %s, %s\n\n%s\n", strings.Repeat("=", 72), m.Path, m.Version, m.Files[i], strings.TrimSpace(text))
		}
	}
	return []byte(b.String())
}

// escaped is a module's path as the module proxy wants it: "!a" for "A".
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
