package kubelet

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// watchError is a watcher that cannot start: ENOSPC of inotify_add_watch(2) for
// watches, EMFILE of inotify_init(2) for instances.
var watchError = pattern.MustCompile(`(?i)(plugin watcher|inotify|fsnotify|failed to (?:create|add|start) \S*\s*watch|failed to watch|watcher).*(no space left on device|too many open files)`)

// program is the one that writes, or its own log; several distributions have the
// kubelet in a program of another name.
var program = pattern.MustCompile(`\b(kubelet|kubelite|k3s|rke2|k0s)\b`)

// freshLine is how long a line of a log speaks of the present.
const freshLine = 10 * time.Minute

// NoWatcher asks whether the kubelet of the place's node says just now that it cannot
// start a watcher. Only a host that keeps its log as text can tell, so silence is no.
func NoWatcher(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	for l := range evidence.HostLines(pl.X, pl.View) {
		if !watchError.MatchString(l.Text) || !program.MatchString(l.Path+" "+l.Text) {
			continue
		}
		if at := l.At(); !at.IsZero() && pl.X.Age(at) < freshLine {
			return evidence.Yes(l.Evidence())
		}
	}
	return evidence.No()
}

// Room asks whether the filesystem below the kubelet's directory has bytes and inodes
// left, and says how many.
func Room(pl *evidence.Place) (is evidence.Answer, words string) {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...), ""
	}
	root := pl.View.KubeletRoot()
	st, ok := pl.View.Statfs(root)
	if !ok || st.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "the free bytes and inodes of " + root + " were not read"}), ""
	}
	words = fmt.Sprintf("%d blocks and %d inodes free", st.Avail, st.FilesFree)
	return evidence.When(st.Avail > 0 && (st.Files == 0 || st.FilesFree > 0), evidence.FromNode(pl.Node, "@statfs"+root, words)), root + " has " + words
}

// WatchLimits are inotify's limits of the place's node, as far as they were read.
func WatchLimits(pl *evidence.Place) (facts []report.Evidence, words []string) {
	for _, name := range []string{"max_user_watches", "max_user_instances"} {
		if f, ok := pl.View.Facts.Files["proc/sys/fs/inotify/"+name]; ok {
			value := strings.TrimSpace(f.Content)
			words = append(words, "fs.inotify."+name+" = "+value)
			facts = append(facts, evidence.FromNode(pl.Node, "proc/sys/fs/inotify/"+name, value))
		}
	}
	return facts, words
}
