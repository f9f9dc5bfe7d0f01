package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Decide asks the guards of a step. All yes: the commands stand, with the facts that
// make them safe. Otherwise the commands are withheld: the step keeps its words, says
// what has to be settled first, and how to look. Not ok: the step is left out.
func (s Step) Decide(x *snapshot.Index) (r report.Remedy, ok bool) {
	out := report.Remedy{Name: s.Name, Title: s.Title, Commands: s.Commands, Risk: s.Risk, Config: s.Config, Undo: s.Undo, Verify: s.Verify}
	if len(s.Commands) == 0 || s.Risk == ReadOnly {
		return out, true
	}
	if len(s.Guards) == 0 {
		return withhold(s, "No check of what makes it safe is known.", nil), true
	}
	var refuted, unseen, look []string
	for _, g := range s.Guards {
		a := g.answer(x)
		switch {
		case a.Yes():
			for _, e := range a.Facts() {
				if !slices.Contains(out.SafeBecause, e) {
					out.SafeBecause = append(out.SafeBecause, e)
				}
			}
			continue
		case a.No():
			refuted = append(refuted, g.Fact+seen(a))
		default:
			unseen = append(unseen, g.Fact+why(a))
		}
		for _, c := range append(looks(a), g.Look...) {
			if !slices.Contains(look, c) {
				look = append(look, c)
			}
		}
	}
	var settle []string
	if len(refuted) > 0 {
		settle = append(settle, "It is safe only when "+strings.Join(refuted, "; and only when ")+".")
	}
	if len(unseen) > 0 {
		settle = append(settle, "First find out whether "+strings.Join(unseen, "; and whether ")+".")
	}
	if len(settle) > 0 {
		return withhold(s, strings.Join(settle, " "), look), !s.Extra || len(refuted) == 0
	}
	out.Title += debugged(out.Commands)
	return out, true
}

// answer asks the guard; one that fails is one that was not answered.
func (g Guard) answer(x *snapshot.Index) (a evidence.Answer) {
	defer func() {
		if r := recover(); r != nil {
			a = evidence.Unseen(evidence.Lack{Need: "guard/" + g.Question, Why: "this program failed at the question"})
		}
	}()
	return g.Ask(x)
}

// debugged reminds of the pod of kubectl debug, which holds mounts while it lives.
func debugged(commands []string) string {
	for _, c := range commands {
		if strings.HasPrefix(c, "kubectl debug node/") {
			return " Delete the debug pod afterwards: while it lives it holds a private copy of the node's mounts."
		}
	}
	return ""
}

// withhold leaves the words and the look.
func withhold(s Step, settle string, look []string) report.Remedy {
	r := report.Remedy{Title: "Withheld: " + lower(s.Title), Settle: settle + debugged(look), Commands: look}
	if len(look) > 0 {
		r.Risk = ReadOnly
	}
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
func looks(a evidence.Answer) []string {
	var out []string
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
