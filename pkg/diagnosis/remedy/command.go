package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Command is what a step runs: a line for the person's own shell, or the words of a
// program for a node. How one comes to run something on a node differs from one system
// to the other, so that is settled when the report is assembled (shell.go).
type Command struct {
	Line string   // for the person's own shell
	Node string   // else where it runs
	Argv []string // and what
}

// OnNode is a command that runs in the namespaces of process 1 of a node.
func OnNode(node string, argv ...string) Command { return Command{Node: node, Argv: argv} }

// Kubectl is a command line of kubectl.
func Kubectl(words ...string) Command {
	return Command{Line: Quote(append([]string{"kubectl"}, words...)...)}
}

// Line is a command line of another program than kubectl.
func Line(line string) Command { return Command{Line: line} }

// lines writes commands as they are on their nodes; one that a node cannot run is left
// out, and lacking says which program it wanted.
func lines(x *snapshot.Index, list []Command) (out, lacking []string) {
	for _, c := range list {
		if c.Node == "" {
			out = append(out, c.Line)
			continue
		}
		line, ok := shellOf(x, c.Node).line(c.Argv)
		if !ok {
			lacking = append(lacking, c.program())
			continue
		}
		out = append(out, line)
	}
	return out, lacking
}

// program is what a command of a node runs; of a script, its last one.
func (c Command) program() string {
	if !isScript(c.Argv) {
		return c.Argv[0]
	}
	parts := strings.Split(strings.TrimSuffix(c.Argv[2], " || echo not done"), " && ")
	return strings.TrimPrefix(strings.Fields(strings.TrimPrefix(parts[len(parts)-1], "{ "))[0], "/")
}

// guarded writes a command of a node that first compares what the device is known by:
// kernel names are given away again, and between the report and the command somebody
// may have got this one. read(1p) takes white space around the value off, as the probe
// does; a file that is gone, and a value that is another, end the command.
func guarded(node string, marks []disk.Mark, script ...string) Command {
	var parts []string
	for _, m := range marks {
		parts = append(parts, "read -r is < "+quote(m.Path), `[ "$is" = `+quote(m.Value)+" ]")
	}
	return OnNode(node, "sh", "-c", strings.Join(append(parts, script...), " && ")+" || echo not done")
}

// deleteByUID deletes an object only while it still has the UID that was seen: pods of
// a StatefulSet, attachments and Longhorn's objects get their names again. kubectl
// delete has no precondition of its own.
func deleteByUID(resource, namespace, name, uid string) Command {
	at := []string{}
	if namespace != "" {
		at = []string{"-n", namespace}
	}
	act := Kubectl(append(at, "delete", resource, name)...)
	if uid == "" {
		return act
	}
	is := Kubectl(append(at, "get", resource, name, "-o", "jsonpath={.metadata.uid}")...)
	return Line(is.Line + " | " + Quote("grep", "-qx", uid) + " && " + act.Line)
}

// Quote joins words into a line that a POSIX shell takes apart into the same words.
func Quote(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}

func quote(w string) string {
	plain := w != "" && strings.IndexFunc(w, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_./:=@,+%^", r)
	}) < 0
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
