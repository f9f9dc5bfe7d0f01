// Package remedy holds the steps that a rule may advise, one constructor each. The
// tool never takes a step. A step carries the guards that make it safe; the engine
// asks them when the report is assembled, and prints the commands of a step only when
// every one of them was answered with yes. No rule prints a command by itself.
package remedy

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The classes of risk, mildest first.
const (
	ReadOnly   = "read-only"  // looks
	Reversible = "reversible" // can be undone without a trace
	Disruptive = "disruptive" // ends or interrupts something that comes back
	DataLoss   = "data-loss"  // loses data when what was seen is no longer so
)

// Step is what a rule advises.
type Step struct {
	Name     string // of the catalog; empty for words and for a look
	Title    string // what it does, in words
	Commands []Command
	Risk     string
	Config   *report.Config // lines for a configuration file
	Undo     []Command      // commands that take it back; none: nothing has to, or nothing can
	Verify   []Command      // commands that show whether it worked
	Guards   []Guard
	// Extra is a step that helps and is not needed: it is left out where a guard says no.
	Extra bool
}

// Guard is a condition of a step: a question about the snapshot, and how a person
// finds out where it was not answered.
type Guard struct {
	Question string // its name in docs/remedies.md: "unmounted", "pods-none-use"
	Fact     string // what must be so, a clause: "nothing mounts sdc on node worker-1"
	Ask      func(*snapshot.Index) evidence.Answer
	Look     []Command // read-only commands that show it
	On       Target
}

// Target is what a guard is about, as far as it applies.
type Target struct {
	Node   string
	Device string // kernel name
	Pod    string // namespace/name, or a UID
	Path   string // a mount point
	Volume *snapshot.Volume
}

// Words is advice without a name in the catalog: wait, restart a component, change an
// object. It must not describe a destructive step that no check allows.
func Words(title string) Step { return Step{Title: title} }

// Sentences are several steps of words.
func Sentences(titles ...string) []Step {
	return evidence.Each(titles, Words)
}

// Check is advice in words with read-only commands that complete the picture.
func Check(title string, commands ...Command) Step {
	return Step{Title: title, Commands: commands, Risk: ReadOnly}
}

// If adds guards of the branch of a cause that advises the step.
func (s Step) If(guards ...Guard) Step {
	s.Guards = append(s.Guards[:len(s.Guards):len(s.Guards)], guards...)
	return s
}

// Note adds a sentence to the title.
func (s Step) Note(format string, args ...any) Step {
	s.Title += " " + titled(format, args...)
	return s
}

func titled(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// lower makes a title part of a sentence.
func lower(title string) string {
	if title == "" || len(title) > 1 && strings.ToUpper(title[1:2]) == title[1:2] && title[1] != ' ' {
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}
