// Package evidence is where a snapshot is read: questions that return Answers. Rules
// combine Answers; they do not read facts themselves, so that what was not read can
// never be mistaken for what is not there. The packages below hold the questions, by
// subject; only they make Answers.
package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Answer is what was found out about one question: yes, no, or not seen. It carries
// the facts that it rests on, and, when it was not seen, what kept it from being
// seen. The zero Answer is "not seen", for an unknown reason.
type Answer struct {
	found found
	facts []report.Evidence
	lacks []Lack
}

type found int8

const (
	unseen found = iota
	yes
	no
)

// Lack is something that was wanted and not read.
type Lack struct {
	Need string // as in notChecked: "node/NODE", "node/NODE/TABLE", "api/GROUP/RESOURCE"
	Node string // the node it concerns, or empty
	Why  string // reason in one word or a short clause: Forbidden, EACCES, "3 of 40 not read"
}

// String is how a report names it.
func (l Lack) String() string { return l.Need + " (" + l.Why + ")" }

// Yes is an answer that was seen.
func Yes(facts ...report.Evidence) Answer { return Answer{found: yes, facts: solid(facts)} }

// No is an answer that was refuted by what was seen. An argument from absence is
// Reading.Nothing, not No.
func No(facts ...report.Evidence) Answer { return Answer{found: no, facts: solid(facts)} }

// Unseen is an answer that could not be had.
func Unseen(lacks ...Lack) Answer { return Answer{lacks: lacks} }

// When is yes or no by a condition over something that was read whole.
func When(cond bool, facts ...report.Evidence) Answer {
	if cond {
		return Yes(facts...)
	}
	return No(facts...)
}

func solid(facts []report.Evidence) []report.Evidence {
	return slices.DeleteFunc(slices.Clone(facts), func(e report.Evidence) bool { return e.Locator == "" && e.Text == "" })
}

// Yes tells whether it was seen to be so.
func (a Answer) Yes() bool { return a.found == yes }

// No tells whether it was seen not to be so.
func (a Answer) No() bool { return a.found == no }

// Unseen tells whether it was not seen.
func (a Answer) Unseen() bool { return a.found == unseen }

// String is the answer in one word.
func (a Answer) String() string {
	return map[found]string{yes: "yes", no: "no", unseen: "unseen"}[a.found]
}

// Facts are what the answer rests on.
func (a Answer) Facts() []report.Evidence { return a.facts }

// Lacks are what kept the answer from being seen.
func (a Answer) Lacks() []Lack { return a.lacks }

// With adds facts that belong to the answer.
func (a Answer) With(facts ...report.Evidence) Answer {
	a.facts = append(slices.Clip(a.facts), solid(facts)...)
	return a
}

// Not turns yes and no around; not seen stays not seen.
func Not(a Answer) Answer {
	switch a.found {
	case yes:
		a.found = no
	case no:
		a.found = yes
	}
	return a
}

// All is yes when every answer is, and no as soon as one is.
func All(list ...Answer) Answer {
	if len(list) == 1 && !list[0].Yes() {
		return list[0]
	}
	out := Answer{found: yes}
	for _, a := range list {
		if a.No() {
			return a
		}
		if a.Unseen() {
			out.found = unseen
		}
		out.facts = append(out.facts, a.facts...)
		out.lacks = append(out.lacks, a.lacks...)
	}
	if out.found == yes {
		out.lacks = nil
	}
	return out
}

// Any is yes as soon as one answer is, and no only when every one is.
func Any(list ...Answer) Answer {
	out := Answer{found: no}
	for _, a := range list {
		if a.Yes() {
			return a
		}
		if a.Unseen() {
			out.found = unseen
		}
		out.facts = append(out.facts, a.facts...)
		out.lacks = append(out.lacks, a.lacks...)
	}
	if out.found == unseen {
		out.facts = nil
	}
	return out
}

// FromAPI is a field of an object: FromAPI("VolumeAttachment csi-…", "status.attached", "true").
func FromAPI(object, field, text string) report.Evidence {
	return report.Evidence{Source: "api", Locator: strings.TrimSpace(object + " " + field), Text: text}
}

// FromPod is a field of a pod.
func FromPod(p *corev1.Pod, field, text string) report.Evidence {
	return FromAPI("Pod "+p.Namespace+"/"+p.Name, field, text)
}

// Phases quotes how far each pod of a volume came.
func Phases(list []*snapshot.Consumer) []report.Evidence {
	return Each(list, func(c *snapshot.Consumer) report.Evidence {
		return FromPod(c.Pod, "status.phase", string(c.Pod.Status.Phase))
	})
}

// FromEvent is what an event says of an object ("Pod shop/db-0").
func FromEvent(object string, e *snapshot.Event) report.Evidence {
	return report.Evidence{Source: "event", Locator: "Event " + object + " " + e.Reason, Text: e.Message}
}

// FromNode is something read on a node, with its path there.
func FromNode(node, locator, text string) report.Evidence {
	return report.Evidence{Source: "node", Node: node, Locator: locator, Text: text}
}

// FromMount is a line of a mount table of a node; without one, of process 1's.
func FromMount(node string, ns *probes.MountNamespace, m probes.Mount) report.Evidence {
	pid := 1
	if ns != nil && ns.TablePID != 0 {
		pid = ns.TablePID
	}
	return FromNode(node, fmt.Sprintf("proc/%d/mountinfo:%d", pid, m.Line), m.Raw)
}

// FromKernel is a line of a node's kernel log, with its number and, where it is known, its time.
func FromKernel(node string, l probes.KernelLine) report.Evidence {
	at := fmt.Sprintf("@kmsg:%d", l.Sequence)
	if !l.At.IsZero() {
		at += " " + l.At.UTC().Format(time.RFC3339)
	}
	return FromNode(node, at, strings.TrimSpace(l.Text))
}
