package diagnosis

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Question is what the user asked: pvc, pod, volume, node or cluster.
type Question struct {
	Kind      string // pvc | pod | volume | node | cluster
	Namespace string
	Name      string
	// Outline leaves out what a person goes on with where nothing explains a symptom: it is
	// most of a report about 50,000 volumes, and the page of a cluster does not show it.
	Outline bool
}

// Pass is what a rule gets: the frozen snapshot with its index, the part of it
// that was asked for, and the way to report.
type Pass struct {
	*snapshot.Index
	Question Question

	scope   scope
	texts   *texts
	rule    *Rule
	symptom string
	noise   string

	findings []*Finding
	symptoms []*Symptom
	noises   []report.Noise
	missed   map[missKey]map[string]bool // → rules
	blocks   map[missKey]string          // when all rules have run: the words of blockedBy
	whys     map[missKey]string          // what a proof says of why it did not see something

	findingOf  map[identity]*Finding
	symptomOf  map[identity]*Symptom
	symptomsOn map[string][]*Symptom // by the key of the volume
	missesBy   map[string]misses     // by rule; made once, when all rules have run
	kinds      map[*snapshot.Volume]volume.Kind
	placesBy   map[*snapshot.Volume]*volumePlaces
	placesIn   map[placesFor][]*evidence.Place
	podPlace   map[*corev1.Pod]*evidence.Place
	proofs     []made // room for those of one rule
	offers     map[offer][]*Rule
	couldBe    map[uint64][]report.CouldBe // by hash: many symptoms have the same
	ruledOut   map[uint64][]report.Excluded
	bearing    map[volume.Kind]bearing       // volumes that can have causes of a set of kinds
	failed     []failure                     // parts of the program that did not end
	faults     []string                      // sentences that a rule did not complete
	before     map[identity]report.Certainty // found without the events that only stand; nil where they do not count
}

// identity is what makes two findings, or two symptoms, one.
type identity struct {
	name    string
	subject report.Subject
}

type missKey struct{ need, node string }

// Symptom is something wrong that wants a cause.
type Symptom struct {
	Keys
	Name     string
	Subject  report.Subject
	Message  string
	Evidence []report.Evidence
	Past     bool // from an old event only: may support, need not be explained
	Informal bool // volume-degraded: never listed as unexplained
	// Pending says why it only needs time so far: then it is no fault without a cause.
	Pending string
	// Shows are more special symptoms that every present text of this one tells of:
	// a mount that failed because the device is busy. Who explains one of them
	// explains this, too.
	Shows []string
	// Follows is a claim that waits until its pod has a node: who explains why that pod waits explains it, too.
	Follows bool

	explainedBy []*Finding
}

// quiet tells whether a symptom without a cause is nothing that wants one.
func (s *Symptom) quiet() bool { return s.Informal || s.Pending != "" }

// Volumes are the volumes of the question, in a stable order. Those that only have a
// replica on the asked node are for the symptoms and for Longhorn's own rules.
func (p *Pass) Volumes() []*snapshot.Volume {
	if p.noise != "" || p.rule != nil && p.rule.Layer != Longhorn {
		return p.only(p.inQuestion())
	}
	return p.only(p.scope.volumes)
}

// inQuestion are the volumes of the question, whatever a rule can say of them.
func (p *Pass) inQuestion() []*snapshot.Volume {
	n := len(p.scope.volumes) - p.scope.alsoStored
	return p.scope.volumes[:n:n]
}

// InScope tells whether a volume belongs to the question.
func (p *Pass) InScope(v *snapshot.Volume) bool { return p.scope.member[v] }

// Nodes are the nodes of the question: for a volume those that hold its device,
// run its consumers or had it before; for "node" that one; for "cluster" all.
func (p *Pass) Nodes() []string { return p.scope.nodes }

// Views are the nodes of the question that were probed.
func (p *Pass) Views() []*snapshot.NodeView { return p.scope.views }

// Sweep tells whether the question is about nodes (node, cluster) rather than volumes.
func (p *Pass) Sweep() bool { return p.Question.Kind == "node" || p.Question.Kind == "cluster" }

// sweepsNodes tells whether the question is about everything on its nodes; of a namespace only
// its own volumes count, and what else lives there was not read.
func (p *Pass) sweepsNodes() bool { return p.Sweep() && p.Question.Namespace == "" }

// Miss notes that the running rule could not read something.
func (p *Pass) Miss(need, node string) {
	if p.rule == nil {
		return
	}
	k := missKey{need, node}
	if p.missed[k] == nil {
		p.missed[k] = map[string]bool{}
	}
	p.missed[k][p.rule.Name] = true
}

// miss notes what a proof did not see, and its reason.
func (p *Pass) miss(l evidence.Lack) {
	p.Miss(l.Need, l.Node)
	if p.whys == nil {
		p.whys = map[missKey]string{}
	}
	if k := (missKey{l.Need, l.Node}); p.whys[k] == "" {
		p.whys[k] = l.Why
	}
}

// report adds a finding. The certainty is capped when its nodes were not looked at whole.
func (p *Pass) report(f *Finding) {
	if f.Severity == "" {
		f.Severity = p.rule.Severity
	}
	p.capByLook(f)
	p.nameInline(f)
	id := identity{f.Cause, f.Subject}
	if p.before != nil && p.before[id] != report.Certain {
		p.capByAge(f)
	}
	if old := p.findingOf[id]; old != nil {
		old.join(f)
		return
	}
	p.findingOf[id] = f
	p.findings = append(p.findings, f)
}

// join merges the same cause on the same subject, seen from two volumes.
func (f *Finding) join(o *Finding) {
	switch x, y := o.Certainty.Rank(), f.Certainty.Rank(); {
	case x > y: // another branch of the cause, with steps of its own
		f.Certainty, f.Message, f.NotConfirmed, f.Refutation, f.Steps = o.Certainty, o.Message, o.NotConfirmed, o.Refutation, o.Steps
	case x == y || len(f.Steps) == 0:
		f.Steps = stepsOfBoth(f.Steps, o.Steps)
	}
	f.spared = f.spared.both(&o.spared)
	f.merge(&o.Keys)
	f.From = append(f.From, o.From...)
	f.facts.add(o.facts.list...)
	for _, a := range o.Also {
		f.Also = add(f.Also, a)
	}
	f.Waiting, f.ownWord = f.Waiting && o.Waiting, f.ownWord && o.ownWord
	f.widen(o)
}

// mostSteps is how many steps of several volumes one finding names.
const mostSteps = 12

// stepsOfBoth adds to the steps of one volume those of another that it does not have: they
// name its pods.
func stepsOfBoth(steps, more []remedy.Step) []remedy.Step {
	steps = slices.Clip(steps)
	for _, s := range more {
		same := func(o remedy.Step) bool {
			return o.Name == s.Name && o.Title == s.Title && fmt.Sprint(o.Commands) == fmt.Sprint(s.Commands)
		}
		if len(steps) < mostSteps && !slices.ContainsFunc(steps, same) {
			steps = append(steps, s)
		}
	}
	return steps
}

// widen takes the greater harm of two findings that are one: the symptoms of both, and
// the severity of the worse.
func (f *Finding) widen(o *Finding) {
	if o.Severity.Rank() > f.Severity.Rank() {
		f.Severity = o.Severity
	}
	if f.Explains == nil || o.Explains == nil {
		f.Explains = nil
		return
	}
	for _, s := range o.Explains {
		f.Explains = add(slices.Clip(f.Explains), s)
	}
}

// AddSymptom reports a symptom of the running symptom rule.
func (p *Pass) AddSymptom(s *Symptom) {
	if nameless(s.Subject) {
		if c := p.inlineUser(&s.Keys); c != nil {
			s.Subject = PodSubject(c.Pod)
		}
	}
	if ns := p.Question.Namespace; p.Question.Kind == "cluster" && ns != "" && s.Subject.Namespace != ns && (s.Subject.Kind == "Pod" || s.Subject.Kind == "PersistentVolumeClaim") {
		return // a sweep of one namespace
	}
	if mates, _ := p.ofMates(&s.Keys); mates {
		return
	}
	if s.Name == "" {
		s.Name = p.symptom
	}
	id := identity{s.Name, s.Subject}
	if old := p.symptomOf[id]; old != nil {
		old.merge(&s.Keys)
		old.shows(s)
		old.Past = old.Past && s.Past
		old.Evidence = evidence.Once(old.Evidence, s.Evidence...)
		p.file(old)
		return
	}
	p.symptomOf[id] = s
	p.symptoms = append(p.symptoms, s)
	p.file(s)
}

// shows keeps what both tell of; past texts do not count beside present ones.
func (s *Symptom) shows(o *Symptom) {
	switch {
	case s.Past && !o.Past:
		s.Shows = o.Shows
	case s.Past == o.Past:
		s.Shows = slices.DeleteFunc(slices.Clone(s.Shows), func(n string) bool { return !slices.Contains(o.Shows, n) })
	}
}

// file makes a symptom findable by its volumes.
func (p *Pass) file(s *Symptom) {
	for _, on := range s.objects.list {
		if strings.HasPrefix(on, "volume/") && !slices.Contains(p.symptomsOn[on], s) {
			p.symptomsOn[on] = append(p.symptomsOn[on], s)
		}
	}
}

// Suffers tells whether a volume has one of the symptoms now (past ones do not count).
func (p *Pass) Suffers(v *snapshot.Volume, names ...string) bool {
	return slices.ContainsFunc(p.symptomsOn[v.Key()], func(s *Symptom) bool { return !s.Past && slices.Contains(names, s.Name) })
}

// AddNoise reports noise.
func (p *Pass) AddNoise(subject report.Subject, message, because string) {
	n := report.Noise{Name: p.noise, Subject: subject, Message: message, Because: because}
	if !slices.Contains(p.noises, n) {
		p.noises = append(p.noises, n)
	}
}

// sortFindings puts what was found into the order of the report.
func (p *Pass) sortFindings() {
	sort.SliceStable(p.findings, func(i, j int) bool { return less(p.findings[i], p.findings[j]) })
}
