// Package diagnosis turns a snapshot into a report: symptoms and causes are found
// by pure rules, then joined by declared edges into root causes and what they
// explain. Nothing here does I/O or asks for the time.
package diagnosis

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Layer is where in the chain from claim to filesystem a cause lives. Layers are
// ordered: a deeper one breaks first.
type Layer string

// The layers, from the claim down to the bytes.
const (
	Claim      Layer = "claim"
	Attach     Layer = "attach"
	Longhorn   Layer = "longhorn"
	Mount      Layer = "mount"
	Device     Layer = "device"
	Transport  Layer = "transport"
	Filesystem Layer = "filesystem"
	RiskLayer  Layer = "risk"
)

var depth = map[Layer]int{Claim: 0, Attach: 1, Longhorn: 2, Mount: 3, Device: 4, Transport: 5, Filesystem: 6, RiskLayer: 7}

// Rule recognises one cause. It is a value: everything that the engine, the
// documentation and the tests must know of it is declared here.
type Rule struct {
	Name     string // stable, from the catalog; never reused
	Layer    Layer
	Severity report.Severity
	Breaks   []Step   // the steps that it breaks; they name the symptoms that it explains
	LeadsTo  []string // causes that this one can produce
	YieldsTo []string // causes that take its place when both are true of one object
	// Residual makes the rule yield to every cause of these layers on one object:
	// it is what is left when nothing lower is found.
	Residual []Layer
	Offers   []string // remedies by name; every other one is forbidden
	Docs     fs.FS    // the documents beside the rule: its own has its name
	Asks     Scope
	Prove    func(*evidence.Place) []*Proof

	Doc      string   // Markdown; read from Docs
	Explains []string // symptoms; derived from Breaks
	says     map[string]words.Says
}

// SymptomRule recognises one symptom.
type SymptomRule struct {
	Name string
	Run  func(*Pass)
}

// NoiseRule recognises something that is seen and explains nothing.
type NoiseRule struct {
	Name string
	Run  func(*Pass)
}

// Catalog is the set of rules of one program.
type Catalog struct {
	Rules    []*Rule
	Symptoms []*SymptomRule
	Noise    []*NoiseRule
	byName   map[string]*Rule

	explaining map[string][]*Rule // by symptom, what everybody thinks of first before the rest
}

var nameForm = pattern.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// NewCatalog checks the rules (names, documents, an acyclic graph) and indexes them.
func NewCatalog(rules []*Rule, symptoms []*SymptomRule, noise []*NoiseRule) (*Catalog, error) {
	c := &Catalog{Rules: rules, Symptoms: symptoms, Noise: noise, byName: map[string]*Rule{}, explaining: map[string][]*Rule{}}
	for _, r := range rules {
		if !nameForm.MatchString(r.Name) {
			return nil, fmt.Errorf("rule %q: the name is not in kebab case", r.Name)
		}
		if c.byName[r.Name] != nil {
			return nil, fmt.Errorf("rule %s is registered twice", r.Name)
		}
		if r.Prove == nil || r.Docs == nil {
			return nil, fmt.Errorf("rule %s: function or documents are missing", r.Name)
		}
		if err := r.complete(); err != nil {
			return nil, err
		}
		if _, ok := depth[r.Layer]; !ok || r.Severity.Rank() == 0 {
			return nil, fmt.Errorf("rule %s: layer or severity is missing", r.Name)
		}
		c.byName[r.Name] = r
		for _, s := range r.Explains {
			c.explaining[s] = append(c.explaining[s], r)
		}
	}
	for _, rules := range c.explaining {
		slices.SortStableFunc(rules, func(a, b *Rule) int { return suspicion(a.Name) - suspicion(b.Name) })
	}
	if cycle := c.cycle(); cycle != "" {
		return nil, fmt.Errorf("the causes lead in a circle: %s", cycle)
	}
	return c, nil
}

// complete derives what a rule does not say twice.
func (r *Rule) complete() error {
	doc, err := fs.ReadFile(r.Docs, strings.ReplaceAll(r.Name, "-", "_")+".md")
	if err != nil {
		return fmt.Errorf("rule %s: its document is missing: %w", r.Name, err)
	}
	r.Doc = string(doc)
	r.says = words.Branches(r.Doc)
	if len(r.says) == 0 {
		return fmt.Errorf("rule %s: its document has no sentences below ## Says", r.Name)
	}
	if len(r.Breaks) == 0 && r.Severity != report.Risk {
		return fmt.Errorf("rule %s breaks no step", r.Name)
	}
	r.Explains = symptomsOf(r.Breaks)
	return nil
}

// Rule finds a rule by name.
func (c *Catalog) Rule(name string) *Rule { return c.byName[name] }

// cycle returns a path that comes back to its start along LeadsTo, or "".
func (c *Catalog) cycle() string {
	const visiting, done = 1, 2
	state := map[string]int{}
	var walk func(name, path string) string
	walk = func(name, path string) string {
		r := c.byName[name]
		if r == nil || state[name] == done {
			return ""
		}
		if state[name] == visiting {
			return path + name
		}
		state[name] = visiting
		for _, next := range r.LeadsTo {
			if p := walk(next, path+name+" → "); p != "" {
				return p
			}
		}
		state[name] = done
		return ""
	}
	for _, r := range c.Rules {
		if p := walk(r.Name, ""); p != "" {
			return p
		}
	}
	return ""
}

// leads tells whether a can produce b: directly, or through causes that were found,
// too (through nil, any).
func (c *Catalog) leads(a, b string, through map[string]bool) bool {
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(name string) bool {
		r := c.byName[name]
		if r == nil || seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(r.LeadsTo, func(n string) bool { return n == b || (through == nil || through[n]) && walk(n) })
	}
	return walk(a)
}

// Depth orders layers from the claim to the bytes.
func Depth(l Layer) int { return depth[l] }
