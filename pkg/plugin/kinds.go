package plugin

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

// spellings are how kubectl lets people write the kinds that a question knows, and
// those that lead to one. The first of each line is how this program writes it.
var spellings = [][]string{
	{"pvc", "pvcs", "persistentvolumeclaim", "persistentvolumeclaims"},
	{"pod", "po", "pods"},
	{"volume", "pv", "pvs", "persistentvolume", "persistentvolumes", "volumes.longhorn.io", "volume.longhorn.io", "lhv"},
	{"node", "no", "nodes"},
	{attachment, "volumeattachments", "volumeattachments.storage.k8s.io", "va"},
	{"deployment", "deploy", "deployments", "deployments.apps", "deployment.apps"},
	{"statefulset", "sts", "statefulsets", "statefulsets.apps", "statefulset.apps"},
	{"daemonset", "ds", "daemonsets", "daemonsets.apps", "daemonset.apps"},
	{"replicaset", "rs", "replicasets", "replicasets.apps", "replicaset.apps"},
	{"job", "jobs", "jobs.batch", "job.batch"},
	{"cronjob", "cj", "cronjobs", "cronjobs.batch", "cronjob.batch"},
}

// aliases are the other spellings of a kind.
func aliases(kind string) []string {
	for _, s := range spellings {
		if s[0] == kind {
			return s[1:]
		}
	}
	return nil
}

const attachment = "volumeattachment"

// kindOf is the kind behind a spelling; empty when there is none.
func kindOf(word string) string {
	word = strings.ToLower(word)
	for _, s := range spellings {
		if slices.Contains(s, word) {
			return s[0]
		}
	}
	return ""
}

// target is what the user named.
type target struct{ kind, name string }

func (t target) String() string { return t.kind + "/" + t.name }

// targets reads the arguments of a verb (kind) or of no verb (""), as kubectl does:
// NAME…, TYPE/NAME… or TYPE NAME….
func targets(kind string, args []string) ([]target, error) {
	if kind == "" && len(args) > 0 && !strings.Contains(args[0], "/") {
		if kind = kindOf(args[0]); kind == "" {
			return nil, usagef("unknown command or type %q; name one of %s, or TYPE/NAME%s", args[0], strings.Join(kinds(), ", "), near(args[0]))
		}
		args = args[1:]
		if len(args) == 0 {
			return nil, usagef("%s needs a name", kind)
		}
	}
	var out []target
	for _, a := range args {
		word, name, slashed := strings.Cut(a, "/")
		t := target{kind, a}
		if slashed {
			t = target{kindOf(word), name}
		}
		switch {
		case slashed && t.kind == "" && kind != "" && kind != "volume" && kind != "node" && kind != attachment:
			return nil, usagef("unknown type %q in %q; if it is the namespace: kubectl mountdoctor %s %s -n %s", word, a, kind, name, word)
		case slashed && t.kind == "":
			return nil, usagef("unknown type %q in %q, want one of %s", word, a, strings.Join(kinds(), ", "))
		case t.name == "" || strings.Contains(t.name, "/"):
			return nil, usagef("%q names no object, want TYPE/NAME", a)
		case t.kind == "":
			return nil, usagef("%q says no type, want TYPE/NAME", a)
		}
		out = append(out, t)
	}
	return out, nil
}

func kinds() []string {
	var out []string
	for _, s := range spellings {
		out = append(out, s[0])
	}
	return out
}

// near is a verb or kind that may have been meant.
func near(word string) string {
	best := nearest(word, append(kinds(), verbs...))
	if best == "" {
		return ""
	}
	return ". Did you mean " + best + "?"
}

// nearest is the name that differs from a word in the fewest letters, at most two.
func nearest(word string, names []string) string {
	best, distance := "", 3
	for _, s := range names {
		if d := pods.Distance(strings.ToLower(word), s); d < distance {
			best, distance = s, d
		}
	}
	return best
}

// nearFlag adds to the error about an unknown flag the one that may have been meant.
func nearFlag(cmd *cobra.Command, err error) error {
	word, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError{err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if best := nearest(word, names); best != "" {
		return usagef("%v; did you mean --%s?", err, best)
	}
	return usageError{err}
}

var verbs = []string{"pvc", "pod", "volume", "node", "cluster", "capture", "explain", "causes", "cleanup", "rbac", "preflight", "options", "completion", "version"}
