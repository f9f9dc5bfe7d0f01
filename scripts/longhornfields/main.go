// Command longhornfields reads the CustomResourceDefinitions of Longhorn's releases
// (longhorn.yaml, or deploy/crds.yaml of github.com/longhorn/longhorn at a tag) and
// writes which fields each version has: one file a version, one line a field.
//
//	go run ./scripts/longhornfields -out testdata/longhorn-schemas crds-v1.11.3.yaml …
//
// A line is kind, version of the API, path, type and, where the schema has one, the
// enumeration. The keys of a map are {}, the items of a list [].
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apiyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// kinds are those that mountdoctor reads.
var kinds = []string{
	"BackingImage", "Backup", "BackupTarget", "Engine", "EngineFrontend", "EngineImage", "InstanceManager", "Node", "Orphan",
	"Replica", "Setting", "ShareManager", "Snapshot", "Volume", "VolumeAttachment",
}

// definition is what is read of a CustomResourceDefinition.
type definition struct {
	Kind string
	Spec struct {
		Names    struct{ Kind string }
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema schema `json:"openAPIV3Schema"`
			}
		}
	}
}

// schema is what is read of an OpenAPI schema.
type schema struct {
	Type                 string
	Enum                 []any
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
	Open                 bool `json:"x-kubernetes-preserve-unknown-fields"`
	Properties           map[string]*schema
	AdditionalProperties *schema
	Items                *schema
}

var release = regexp.MustCompile(`v\d+\.\d+\.\d+`)

func main() {
	out := flag.String("out", filepath.Join("testdata", "longhorn-schemas"), "directory for the lists")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "longhornfields:", err)
		os.Exit(1)
	}
}

func run(out string, files []string) error {
	if len(files) == 0 {
		return errors.New("name the files with the CustomResourceDefinitions")
	}
	for _, file := range files {
		version := release.FindString(filepath.Base(file))
		if version == "" {
			return fmt.Errorf("%s: the name holds no version vX.Y.Z", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines, err := fieldsOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(out, version+".txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf lists the fields of all definitions of one release.
func fieldsOf(text []byte) ([]string, error) {
	var lines []string
	documents := apiyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer func() { _ = documents.Close() }()
	for {
		document, err := next(documents)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var d definition
		if err := yaml.Unmarshal(document, &d); err != nil {
			return nil, err
		}
		if d.Kind != "CustomResourceDefinition" || !slices.Contains(kinds, d.Spec.Names.Kind) {
			continue
		}
		for _, v := range d.Spec.Versions {
			v.Schema.OpenAPIV3Schema.list("", func(path, kind string) {
				lines = append(lines, d.Spec.Names.Kind+" "+v.Name+" "+path+" "+kind)
			})
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// next reads one document, however long.
func next(documents io.Reader) ([]byte, error) {
	var whole []byte
	part := make([]byte, 1<<20)
	for {
		n, err := documents.Read(part)
		whole = append(whole, part[:n]...)
		if !errors.Is(err, io.ErrShortBuffer) {
			return whole, err
		}
	}
}

// list tells every field below a schema.
func (s *schema) list(path string, tell func(path, kind string)) {
	for name, p := range s.Properties {
		if path == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		p.below(strings.TrimPrefix(path+"."+name, "."), tell)
	}
	if s.AdditionalProperties != nil {
		s.AdditionalProperties.below(path+".{}", tell)
	}
	if s.Items != nil {
		s.Items.below(path+"[]", tell)
	}
}

func (s *schema) below(path string, tell func(path, kind string)) {
	tell(path, s.kind())
	s.list(path, tell)
}

// kind is the type in a word, and the enumeration.
func (s *schema) kind() string {
	kind := s.Type
	switch {
	case s.IntOrString:
		kind = "int-or-string"
	case s.AdditionalProperties != nil:
		kind = "map"
	case s.Open && len(s.Properties) == 0:
		kind = "any"
	}
	if len(s.Enum) == 0 {
		return kind
	}
	var words []string
	for _, e := range s.Enum {
		words = append(words, fmt.Sprintf("%q", fmt.Sprint(e)))
	}
	slices.Sort(words)
	return kind + " " + strings.Join(words, "|")
}
