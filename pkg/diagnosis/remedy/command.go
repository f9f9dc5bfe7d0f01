package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// debugImage is what `kubectl debug node` starts; it only needs nsenter.
const debugImage = "busybox:1.36"

// OnNode writes a command that runs in the namespaces of process 1 of a node. It
// enters them instead of using chroot /host: that would unmount only a copy.
// The debug pod mounts the host's root privately and pins mounts while it lives.
func OnNode(node string, command ...string) string {
	words := []string{"kubectl", "debug", "node/" + node, "-it", "--profile=sysadmin", "--image=" + debugImage,
		"--", "nsenter", "-t", "1", "-m", "-u", "-i", "-n", "--"}
	return Quote(append(words, command...)...)
}

// guarded writes a command of a node that first compares what the device is known by:
// kernel names are given away again, and between the report and the command somebody
// may have got this one. read(1p) takes white space around the value off, as the probe
// does; a file that is gone, and a value that is another, end the command.
func guarded(node string, marks []disk.Mark, script ...string) string {
	var parts []string
	for _, m := range marks {
		parts = append(parts, "read -r is < "+quote(m.Path), `[ "$is" = `+quote(m.Value)+" ]")
	}
	return OnNode(node, "sh", "-c", strings.Join(append(parts, script...), " && ")+" || echo not done")
}

// deleteByUID deletes an object only while it still has the UID that was seen: pods of
// a StatefulSet, attachments and Longhorn's objects get their names again. kubectl
// delete has no precondition of its own. Without a UID nothing is deleted.
func deleteByUID(resource, namespace, name, uid string) string {
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

// Kubectl writes a command line of kubectl.
func Kubectl(words ...string) string { return Quote(append([]string{"kubectl"}, words...)...) }

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
