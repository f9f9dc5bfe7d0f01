package diagnosis

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Proof is what a rule returns: the answers that make the case for one cause at one
// place. Certainty, evidence, what was not checked and what would refute it follow
// from it in the engine; a rule cannot set them.
type Proof struct {
	Keys       // joins beyond the volume and the node of the place
	Subject    report.Subject
	Says       string // branch of the document's sentences
	With       words.Fields
	State      []evidence.Answer // what must be so. All yes: certain. One no: it is not this
	Last       []evidence.Answer // the last link. Not seen: likely
	Hint       evidence.Answer   // a specific indication that makes it possible while State was not seen
	LookAlikes []LookAlike
	AtMost     report.Certainty // ceiling of this branch in the catalog; zero: certain
	Severity   report.Severity  // zero: that of the rule
	Breaks     []Step           // narrower than the rule's; nil: those of the rule
	Waiting    bool             // needs only time
	Steps      []remedy.Step    // safest first
	Also       []string         // remarks
	NotTo      []string         // causes to which the rule can lead and this branch does not
	From       []string         // when not nil: the nodes on which what led to this branch is, none for nothing
	Spares     []*corev1.Pod    // whose own waiting it does not explain: they have what the others wait for
	ifFails    bool             // of a volume that suffers from nothing that the rule explains it says nothing
}

// LookAlike is another cause with the same face, and the answer that tells it apart:
// a yes ends the proof, a "not seen" caps it at likely.
type LookAlike struct {
	Cause string
	Is    evidence.Answer
}

// certainty is what the answers of a proof allow; zero: it is not this cause.
func (p *Proof) certainty() report.Certainty {
	state, last := evidence.All(p.State...), evidence.All(p.Last...)
	if state.No() || last.No() {
		return ""
	}
	out := report.Certain
	for _, l := range p.LookAlikes {
		if l.Is.Yes() {
			return ""
		}
		if l.Is.Unseen() {
			out = report.Likely
		}
	}
	switch {
	case state.Unseen() && !p.Hint.Yes():
		return ""
	case state.Unseen():
		out = report.Possible
	case last.Unseen():
		out = report.Likely
	}
	if p.AtMost != "" {
		out = out.AtMost(p.AtMost)
	}
	return out
}

// answers are all that the proof rests on, in the order of the report.
func (p *Proof) answers() []evidence.Answer {
	out := append([]evidence.Answer{}, p.State...)
	out = append(out, p.Last...)
	if p.Hint.Yes() {
		out = append(out, p.Hint)
	}
	return out
}

// conclude turns a proof into a finding, or into what was not checked.
func (p *Pass) conclude(place *evidence.Place, proof *Proof) {
	certainty := proof.certainty()
	if certainty != "" && p.rule.Layer == Filesystem && volume.Gone(place).Yes() {
		return
	}
	if certainty == "" {
		if !proof.ifFails || place.Volume != nil && p.Suffers(place.Volume, p.rule.Explains...) {
			p.missUnseen(proof)
		}
		return
	}
	f := &Finding{Cause: p.rule.Name, Certainty: certainty, Subject: proof.Subject, Steps: proof.Steps, rule: p.rule, Keys: proof.Keys}
	f.Volume(place.Volume)
	f.Pod(place.Pod)
	f.At(place.Node)
	if place.Volume == nil && place.Pod == nil && place.Node != "" && len(proof.objects.list) == 0 {
		f.Node(place.Node)
	}
	if mates, named := p.ofMates(&f.Keys); mates && named && len(p.symptoms) == 0 {
		return
	}
	f.Severity, f.Waiting, f.Also, f.NotTo, f.From = proof.Severity, proof.Waiting, proof.Also, proof.NotTo, proof.From
	f.spared.Pods(proof.Spares...)
	if proof.Breaks != nil {
		f.Explains = symptomsOf(proof.Breaks)
	}
	says, ok := p.rule.says[proof.Says]
	if !ok {
		p.faults = append(p.faults, p.rule.Name+": its document has no sentences for "+proof.Says)
	}
	f.Message, f.Refutation = p.fill(says.Message, proof.With), p.fill(says.Refuted, proof.With)
	for _, a := range proof.answers() {
		f.facts.add(a.Facts()...)
	}
	f.ownWord = len(f.facts.list) > 0 && !slices.ContainsFunc(f.facts.list, func(e report.Evidence) bool {
		return !place.Own.Say(func(t evidence.Text) bool { return t.Evidence() == e }).Yes()
	})
	p.missing(f, proof)
	p.report(f)
}

// fill completes a sentence. A field that a rule forgot is a fault of the program that
// a test over the corpus finds; the reader still gets what there is.
func (p *Pass) fill(template string, fields words.Fields) string {
	text, err := words.Fill(template, fields)
	if err != nil {
		p.faults = append(p.faults, p.rule.Name+": "+err.Error())
	}
	return text
}

// missing notes what kept a finding from being certain.
func (p *Pass) missing(f *Finding, proof *Proof) {
	for _, a := range proof.answers() {
		for _, l := range a.Lacks() {
			p.miss(l)
			f.NotConfirmed = add(f.NotConfirmed, l.String())
		}
	}
	for _, l := range proof.LookAlikes {
		for _, lack := range l.Is.Lacks() {
			p.miss(lack)
			f.NotConfirmed = add(f.NotConfirmed, "that it is not "+l.Cause+": "+lack.String())
		}
	}
}

// missUnseen notes a cause as not checked whose state could not be seen. One that was
// refuted was checked.
func (p *Pass) missUnseen(proof *Proof) {
	if s := evidence.All(proof.State...); !s.Unseen() || evidence.All(proof.Last...).No() {
		return
	}
	for _, l := range proof.LookAlikes {
		if l.Is.Yes() {
			return
		}
	}
	for _, a := range proof.State {
		for _, l := range a.Lacks() {
			p.miss(l)
		}
	}
}

// Rest is the proof of "there is none": what a rule rests on that finds nothing, or no
// more. A part of it that was not read leaves the cause open, whatever else was found; what
// was read whole needs no proof.
func Rest(of evidence.Reading) *Proof { return rest(of, false) }

// Unread is Rest of what only a failing volume is asked: a part of it that was not read
// leaves the cause open where the volume suffers from something that it could explain.
func Unread(of evidence.Reading) *Proof { return rest(of, true) }

func rest(of evidence.Reading, ifFails bool) *Proof {
	if of.Complete() {
		return nil
	}
	number := 0
	if ifFails {
		number = 1
	}
	return of.Once(number, func() any { return &Proof{State: []evidence.Answer{of.Found()}, ifFails: ifFails} }).(*Proof)
}

// Open are the proofs of a rule that knows nothing of a place without some tables of its node.
func Open(pl *evidence.Place, tables ...probes.Table) []*Proof {
	if pl.Node == "" {
		return nil
	}
	return []*Proof{Unread(pl.Tables(tables...))}
}
