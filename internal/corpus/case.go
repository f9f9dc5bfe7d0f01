// Package corpus runs the recorded cases: a snapshot, a question and the
// expected answer each. The tests and the case tool share it.
package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// Case is one directory of testdata/cases.
type Case struct {
	Name string
	Dir  string
	Ask  diagnosis.Question
	Want Want
}

// Want is want.yaml.
type Want struct {
	RootCauses    []WantCause `json:"rootCauses"`
	Accept        []string    `json:"accept"`
	NotCauses     []string    `json:"notCauses"`
	Explains      []string    `json:"explains"`
	Unexplained   []string    `json:"unexplained"`
	MustSay       []string    `json:"mustSay"`
	MustNotAdvise []string    `json:"mustNotAdvise"`
	Nested        []string    `json:"nested"`
}

// WantCause is one expected root cause.
type WantCause struct {
	Name      string `json:"name"`
	Subject   string `json:"subject"`
	Certainty string `json:"certainty"`
}

// Root is the case directory as seen from the directory of a module, found by
// walking up from the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "cases"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}

// All are the cases of the project.
func All() ([]*Case, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	names, err := Names(root)
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, name := range names {
		c, err := Read(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Names lists the cases below a root, sorted.
func Names(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Read reads the question and the expectation of a case; the snapshot stays on disk.
func Read(dir string) (*Case, error) {
	c := &Case{Name: filepath.Base(dir), Dir: dir}
	var err error
	if c.Ask, err = ReadAsk(dir); err != nil {
		return nil, err
	}
	want, err := os.ReadFile(filepath.Join(dir, "want.yaml"))
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(want, &c.Want); err != nil {
		return nil, fmt.Errorf("%s/want.yaml: %w", c.Name, err)
	}
	return c, nil
}

// ReadAsk reads the question that belongs to a snapshot.
func ReadAsk(dir string) (diagnosis.Question, error) {
	ask, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		return diagnosis.Question{}, err
	}
	q, err := ParseAsk(string(ask))
	if err != nil {
		return q, fmt.Errorf("%s/ask.txt: %w", filepath.Base(dir), err)
	}
	return q, nil
}

// ParseAsk reads a command line such as "pvc my-claim -n shop".
func ParseAsk(line string) (diagnosis.Question, error) {
	var q diagnosis.Question
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-n" || w == "--namespace":
			if i++; i == len(words) {
				return q, fmt.Errorf("%s has no value", w)
			}
			q.Namespace = words[i]
		case strings.HasPrefix(w, "-"):
			return q, fmt.Errorf("unknown flag %s", w)
		case q.Kind == "":
			q.Kind = w
		case q.Name == "":
			q.Name = w
		default:
			return q, fmt.Errorf("unexpected word %q", w)
		}
	}
	if q.Kind == "pv" {
		q.Kind = "volume"
	}
	kinds := []string{"pvc", "pod", "volume", "node", "cluster"}
	if q.Kind != "" && !slices.Contains(kinds, q.Kind) { // of a workload the program asks about several pods: a case asks about one
		return q, fmt.Errorf("a case asks about one of %s, not about a %s", strings.Join(kinds, ", "), q.Kind)
	}
	if q.Kind == "" || (q.Name == "" && q.Kind != "cluster") {
		return q, fmt.Errorf("%q is not a question", strings.TrimSpace(line))
	}
	if q.Namespace == "" && (q.Kind == "pvc" || q.Kind == "pod") {
		q.Namespace = "default"
	}
	return q, nil
}
