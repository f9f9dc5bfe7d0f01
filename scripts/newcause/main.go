// Newcause scaffolds a cause: the rule and its document.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

var layers = []string{"claim", "attach", "longhorn", "mount", "device", "transport", "filesystem", "risk"}

func main() {
	name := flag.String("name", "", "name of the cause in kebab case")
	layer := flag.String("layer", "", "one of "+strings.Join(layers, ", "))
	flag.Parse()
	if err := run(*name, *layer); err != nil {
		fmt.Fprintln(os.Stderr, "newcause:", err)
		os.Exit(1)
	}
}

type cause struct{ Name, Layer, LayerConst, Var, File string }

func run(name, layer string) error {
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`).MatchString(name) {
		return fmt.Errorf("name %q is not two or more words in kebab case", name)
	}
	if !slices.Contains(layers, layer) {
		return fmt.Errorf("layer %q is none of %s", layer, strings.Join(layers, ", "))
	}
	c := cause{Name: name, Layer: layer, LayerConst: strings.ToUpper(layer[:1]) + layer[1:], Var: exported(name), File: strings.ReplaceAll(name, "-", "_")}
	if layer == "risk" {
		c.LayerConst = "RiskLayer"
	}
	dir := filepath.Join("pkg", "diagnosis", "causes", layer)
	files := map[string]string{
		filepath.Join(dir, c.File+".go"): ruleFile,
		filepath.Join(dir, c.File+".md"): docFile,
	}
	var paths []string
	for path := range files {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s exists already", path)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := write(path, files[path], c); err != nil {
			return err
		}
		fmt.Println("wrote", path)
	}
	fmt.Printf("now add %s.%s to pkg/diagnosis/causes/all.go, and begin its case: make new-case NAME=name-of-the-incident DRIVER=…\n", layer, c.Var)
	return nil
}

func write(path, text string, c cause) error {
	t, err := template.New(path).Parse(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := t.Execute(f, c); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// exported is the Go name of a cause; initialisms stay upper case.
func exported(name string) string {
	upper := map[string]bool{"csi": true, "nfs": true, "iscsi": true, "rbd": true, "lvm": true, "xfs": true, "rwo": true, "rwop": true, "uuid": true, "lun": true, "api": true, "io": true, "md": true, "san": true}
	var b strings.Builder
	for _, w := range strings.Split(name, "-") {
		if upper[w] {
			b.WriteString(strings.ToUpper(w))
		} else {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

const ruleFile = `package {{.Layer}}

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// {{.Var}} finds …: say which fact proves it.
var {{.Var}} = &diagnosis.Rule{
	Name: "{{.Name}}", Layer: diagnosis.{{.LayerConst}}, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Asks:   diagnosis.EachPlace, // a volume on a node; or EachVolume (what the API alone tells), EachNode, EachPod
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return []*diagnosis.Proof{{"{{"}}
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node},
			State:   []evidence.Answer{ /* questions of pkg/evidence/...: all must be yes */ },
			// Last: the last link, without which it is likely; LookAlikes: each with its test.
		{{"}}"}}
	},
}
`

const docFile = `# {{.Name}}

## Means

What is wrong, in two sentences, and what the user sees.

## Says

The sentence of the report about node {node}.[ What stands in brackets goes when its {field} is empty.]

Refuted by: the fact that would refute it on node {node}

## Proof

- the facts that must all have been seen for *certain*.

## Look-alikes

- other-cause: the fact that tells it apart.

## What to do

1. The least invasive step first, with what it changes and how to undo it.

## Source

Issue, manual page or kernel path.
`
