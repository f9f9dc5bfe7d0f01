package kubelet

import (
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestNoWatcherAndRoom(t *testing.T) {
	t.Parallel()
	const line = "E0302 02:58:00.000000    1234 plugin_manager.go:120] \"Failed to start Plugin Watcher\" err=\"too many open files\""
	word := func(a evidence.Answer) string {
		return map[bool]string{a.Yes(): "yes", a.No(): "no", a.Unseen(): "unseen"}[true]
	}
	for name, tt := range map[string]struct {
		path, line    string
		stat          map[string]probes.FSStat
		watcher, room string
	}{
		"its own log, and room":     {"var/log/kubelet.log", line, map[string]probes.FSStat{"/var/lib/kubelet": {Avail: 5, Files: 9, FilesFree: 4}}, "yes", "yes"},
		"its own log, no inodes":    {"var/log/kubelet.log", line, map[string]probes.FSStat{"/var/lib/kubelet": {Avail: 5, Files: 9}}, "yes", "no"},
		"its own log, not measured": {"var/log/kubelet.log", line, nil, "yes", "unseen"},
		"inodes are not counted":    {"var/log/kubelet.log", line, map[string]probes.FSStat{"/var/lib/kubelet": {Avail: 5}}, "yes", "yes"},
		"somebody else's":           {"var/log/syslog", "Mar  2 02:58:00 n1 tail[77]: inotify cannot be used: no space left on device", nil, "no", "unseen"},
		"an hour ago":               {"var/log/kubelet.log", "E0302 01:58:00.000000    1234 x.go:1] Failed to start Plugin Watcher: too many open files", nil, "no", "unseen"},
		"an audit log":              {"var/log/audit/kubelet.log", line, nil, "no", "unseen"},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC), Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: &probes.Facts{
			Files: map[string]probes.File{tt.path: {Kind: "file", Content: tt.line}}, Statfs: tt.stat,
		}}}})
		pl := &evidence.Place{X: x, Node: "n", View: x.View("n")}
		room, _ := Room(pl)
		if got := word(NoWatcher(pl)) + " " + word(room); got != tt.watcher+" "+tt.room {
			t.Errorf("%s: %s, want %s %s", name, got, tt.watcher, tt.room)
		}
	}
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	if a := NoWatcher(&evidence.Place{X: x, Node: "n"}); !a.Unseen() {
		t.Error("a node that was not probed says something")
	}
}
