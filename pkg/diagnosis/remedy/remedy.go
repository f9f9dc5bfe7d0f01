// Package remedy holds the steps that a rule may advise, one constructor each.
// The tool never takes a step. Every constructor of a named step demands the
// words for the check that makes it safe: a step without a check cannot be built.
package remedy

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// The classes of risk, mildest first.
const (
	ReadOnly   = "read-only"
	Reversible = "reversible"
	Disruptive = "disruptive"
	DataLoss   = "data-loss"
)

// Steps that no cause offers by name. What makes them safe (a machine that is
// off, an empty disk) cannot be seen from a cluster, so they have no constructor;
// the names serve documents and prohibitions.
const (
	NameTaintOutOfService = "taint-out-of-service"
	NameForceDeletePod    = "force-delete-pod"
	NameDeleteNode        = "delete-node"
	NameMkfs              = "mkfs"
)

// debugImage is what `kubectl debug node` starts; it only needs nsenter.
const debugImage = "busybox:1.36"

// Words is advice without a name in the catalog: wait, restart a component,
// change an object. It must not describe a destructive step that no check allows.
func Words(title string) report.Remedy { return report.Remedy{Title: title} }

// Check is advice in words with read-only commands that complete the picture.
func Check(title string, commands ...string) report.Remedy {
	return report.Remedy{Title: title, Commands: commands, Risk: ReadOnly}
}

// OnNode writes a command that runs in the namespaces of process 1 of a node. It
// enters them instead of using chroot /host: that would unmount only a copy.
// The debug pod mounts the host's root privately and pins mounts while it lives.
func OnNode(node string, command ...string) string {
	words := []string{"kubectl", "debug", "node/" + node, "-it", "--profile=sysadmin", "--image=" + debugImage,
		"--", "nsenter", "-t", "1", "-m", "-u", "-i", "-n", "--"}
	return Quote(append(words, command...)...)
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

func Kubectl(words ...string) string { return Quote(append([]string{"kubectl"}, words...)...) }

// afterwards reminds of the debug pod, which holds mounts while it lives.
const afterwards = " Delete the debug pod afterwards: while it lives it holds a private copy of the node's mounts."

func titled(format string, args ...any) string { return fmt.Sprintf(format, args...) }
