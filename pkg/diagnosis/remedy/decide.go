package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Decide asks the guards of a step. All yes: the commands stand, with the facts that
// make them safe. Otherwise the commands are withheld: the step keeps its words, says
// what has to be settled first, and how to look. Not ok: the step is left out.
func (s Step) Decide(x *snapshot.Index) (r report.Remedy, ok bool) {
	if len(s.Commands) == 0 || s.Risk == ReadOnly {
		return s.look(x), true
	}
	if len(s.Guards) == 0 {
		return s.withhold(x, "No check of what makes it safe is known.", nil), true
	}
	safe, refuted, unseen, look := s.ask(x)
	var settle []string
	if len(refuted) > 0 {
		settle = append(settle, "It is safe only when "+strings.Join(refuted, "; and only when ")+".")
	}
	if len(unseen) > 0 {
		settle = append(settle, "First find out whether "+strings.Join(unseen, "; and whether ")+".")
	}
	if len(settle) > 0 {
		return s.withhold(x, strings.Join(settle, " "), look), !s.Extra || len(refuted) == 0
	}
	var after []string
	commands, lacking := lines(x, s.Commands, &after)
	if len(lacking) > 0 {
		return s.withhold(x, "The system of the node does not bring "+strings.Join(lacking, " and ")+": take the node's own way, or restart it when it has been drained.", nil), true
	}
	r = report.Remedy{Name: s.Name, Title: s.Title, Commands: commands, Risk: s.Risk, Config: s.Config, SafeBecause: safe}
	r.Undo, _ = lines(x, s.Undo, &after)
	r.Verify, _ = lines(x, s.Verify, &after)
	r.Afterwards = after
	return r, true
}

// answer asks the guard; one that fails is one that was not answered.
func (g Guard) answer(x *snapshot.Index) (a evidence.Answer) {
	if err := fault.Of(func() { a = g.Ask(x) }); err != nil {
		return evidence.Unseen(evidence.Lack{Need: "guard/" + g.Question, Why: err.Error()})
	}
	return a
}

// ask puts every guard its question.
func (s Step) ask(x *snapshot.Index) (safe []report.Evidence, refuted, unseen []string, look []Command) {
	for _, g := range s.Guards {
		a := g.answer(x)
		switch {
		case a.Yes():
			for _, e := range a.Facts() {
				if !slices.Contains(safe, e) {
					safe = append(safe, e)
				}
			}
			continue
		case a.No():
			refuted = append(refuted, g.Fact+seen(a))
		default:
			unseen = append(unseen, g.Fact+why(a))
		}
		look = append(look, append(looks(a), g.Look...)...)
	}
	return safe, refuted, unseen, look
}

// look is a step of words, or one that only looks.
func (s Step) look(x *snapshot.Index) report.Remedy {
	r := report.Remedy{Name: s.Name, Title: s.Title, Risk: s.Risk, Config: s.Config}
	r.Commands, _ = lines(x, s.Commands, &r.Afterwards)
	r.Title += byHand(x, s.Commands)
	if len(r.Commands) == 0 {
		r.Risk = ""
	}
	r.Commands = evidence.Once(nil, r.Commands...)
	r.Verify, _ = lines(x, s.Verify, &r.Afterwards)
	return r
}

// withhold leaves the words and the look.
func (s Step) withhold(x *snapshot.Index, settle string, look []Command) report.Remedy {
	r := Step{Title: "Withheld: " + lower(s.Title), Commands: look, Risk: ReadOnly}.look(x)
	r.Settle = settle
	return r
}

// seen quotes the first fact that speaks against a guard.
func seen(a evidence.Answer) string {
	if len(a.Facts()) == 0 {
		return ""
	}
	e := a.Facts()[0]
	at := e.Locator
	if e.Node != "" {
		at += " of node " + e.Node
	}
	if e.Text == "" {
		return " (now: " + at + ")"
	}
	return " (now: " + at + " says " + oneLine(e.Text) + ")"
}

// why names what kept a guard from being answered, each reason once.
func why(a evidence.Answer) string {
	var out []string
	for _, l := range a.Lacks() {
		text := l.Why
		if strings.HasPrefix(l.Need, "api/") && !strings.Contains(text, " ") {
			text = resource(l.Need) + ": " + text
		} else if l.Need == "node/"+l.Node {
			text = "node " + l.Node + ": " + text
		}
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (not seen: " + strings.Join(out, "; ") + ")"
}

// looks are the read-only commands that read what was not read.
func looks(a evidence.Answer) []Command {
	var out []Command
	for _, l := range a.Lacks() {
		switch {
		case strings.HasPrefix(l.Need, "api/"):
			out = append(out, Kubectl("get", resource(l.Need), "-A"))
		case l.Node != "" && l.Need == "node/"+l.Node:
			out = append(out, Kubectl("mountdoctor", "node", l.Node))
		}
	}
	return out
}

// resource is a need of the API as kubectl writes it: pods, volumeattachments.storage.k8s.io.
func resource(need string) string {
	group, name, _ := strings.Cut(strings.TrimPrefix(need, "api/"), "/")
	if group == "" || name == "" {
		return strings.TrimPrefix(name+group, "/")
	}
	return name + "." + group
}

// oneLine shortens a fact for a sentence.
func oneLine(s string) string {
	const most = 100
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
