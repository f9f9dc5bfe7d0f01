package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Command is a line for the person's own shell, or, made by OnNode, the words of a
// program for a node. How one comes to run something on a node differs from one system
// to the other, so that is settled when the report is assembled (shell.go). Until then
// the node and the words stand behind a NUL each: no argument of a program holds one
// (execve(2)), and no line that a person types.
type Command = string

// OnNode is a command that runs in the namespaces of process 1 of a node.
func OnNode(node string, argv ...string) Command {
	var b strings.Builder
	for _, w := range append([]string{node}, argv...) {
		// A NUL in a name is somebody's trick: it stays one word, and a word with a
		// control character keeps its command from being printed (report.Hidden).
		b.WriteString(nodeMark + strings.ReplaceAll(w, nodeMark, "\x01"))
	}
	return b.String()
}

const nodeMark = "\x00"

// ofNode takes a command of a node apart.
func ofNode(c Command) (node string, argv []string, ok bool) {
	rest, ok := strings.CutPrefix(c, nodeMark)
	if !ok {
		return "", nil, false
	}
	words := strings.Split(rest, nodeMark)
	return words[0], words[1:], len(words) > 1
}

// Kubectl is a command line of kubectl.
func Kubectl(words ...string) Command { return Quote(append([]string{"kubectl"}, words...)...) }

// lines writes commands as they are on their nodes; one that a node cannot run is left
// out, and lacking says which program it wanted. What removes the debug pods in which the
// others run is kept in after, once for each namespace.
func lines(x *snapshot.Index, list []Command, after *[]string) (out, lacking []string) {
	for _, c := range list {
		node, argv, ok := ofNode(c)
		if !ok {
			out = append(out, c)
			continue
		}
		s := shellOf(x, node)
		line, ok := s.line(argv)
		if !ok {
			lacking = append(lacking, program(argv))
			continue
		}
		if strings.HasPrefix(line, "kubectl debug ") {
			if a := s.afterwards(); !slices.Contains(*after, a) {
				*after = append(*after, a)
			}
		}
		out = append(out, line)
	}
	return out, lacking
}

// program is what words for a node run; of a script, its last one.
func program(argv []string) string {
	if !isScript(argv) {
		return argv[0]
	}
	parts := strings.Split(strings.TrimSuffix(argv[2], " || echo not done"), " && ")
	return strings.Fields(strings.TrimPrefix(parts[len(parts)-1], "{ "))[0]
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
// delete has no precondition of its own. Without a UID nothing is deleted.
func deleteByUID(resource, namespace, name, uid string) Command {
	at := []string{}
	if namespace != "" {
		at = []string{"-n", operand(namespace)}
	}
	act := Kubectl(append(at, "delete", resource, operand(name))...)
	if uid == "" {
		uid = report.NoWord
	}
	return Kubectl(append(at, "get", resource, operand(name), "-o", "jsonpath={.metadata.uid}")...) + " | " + Quote("grep", "-qxF", operand(uid)) + " && " + act
}

// Quote joins words into a line that a shell takes apart into the same words; a name that
// would be an option keeps the command from being printed.
func Quote(words ...string) string { return report.Shell(words...) }

// Inline is a command within a sentence.
func Inline(words ...string) string { return report.Inline(words...) }

func quote(w string) string { return report.Quote(w) }

// operand is a name or a value of somebody else in a step that acts.
func operand(name string) string { return report.Operand(name) }

// within is operand for a name that becomes part of a path.
func within(name string) string {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return report.NoWord
	}
	return operand(name)
}
