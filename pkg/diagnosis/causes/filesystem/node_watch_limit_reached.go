package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed node_watch_limit_reached.md
var nodeWatchLimitReachedDoc string

// NodeWatchLimitReached finds nodes that have used up inotify's watches or instances.
var NodeWatchLimitReached = &diagnosis.Rule{
	Name: "node-watch-limit-reached", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("hostfiles")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume", "pod-stuck-terminating"},
	LeadsTo:  []string{"node-down", "csi-plugin-not-registered", "node-kubelet-down-workload-alive"},
	Doc:      nodeWatchLimitReachedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			if view := p.View(node); view != nil {
				watchLimit(p, view)
			}
		}
	},
}

// watchError is a watcher that cannot start: ENOSPC of inotify_add_watch(2) for
// watches, EMFILE of inotify_init(2) for instances.
var watchError = regexp.MustCompile(`(?i)(plugin watcher|inotify|fsnotify|failed to (?:create|add|start) \S*\s*watch|failed to watch|watcher).*(no space left on device|too many open files)`)

// ofKubelet is the program that writes, or its own log; several distributions have
// the kubelet in a program of another name.
var ofKubelet = regexp.MustCompile(`\b(kubelet|kubelite|k3s|rke2|k0s)\b`)

func watchLimit(p *diagnosis.Pass, view *snapshot.NodeView) {
	line, locator := "", ""
	for path, file := range view.Facts.Files {
		if !strings.HasPrefix(path, "var/log/") || strings.Contains(path, "/audit/") {
			continue
		}
		for i, l := range strings.Split(file.Content, "\n") {
			at := message.Date(l, p.TakenAt)
			if !watchError.MatchString(l) || !ofKubelet.MatchString(path+" "+l) || at.IsZero() || p.Age(at) >= freshLine {
				continue
			}
			if where := fmt.Sprintf("%s:%d", path, i+1); locator == "" || path <= strings.SplitN(locator, ":", 2)[0] {
				line, locator = l, where
			}
		}
	}
	if line == "" {
		return
	}
	root := view.KubeletRoot()
	st, ok := view.Statfs(root)
	if ok && st.Err == "" && (st.Avail == 0 || st.Files > 0 && st.FilesFree == 0) {
		return // the disk itself is full: filesystem-full
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name))
	f.Node(view.Name)
	limits := []string{}
	for _, name := range []string{"max_user_watches", "max_user_instances"} {
		if v, ok := view.Facts.Files["proc/sys/fs/inotify/"+name]; ok {
			limits = append(limits, "fs.inotify."+name+" = "+strings.TrimSpace(v.Content))
			f.Fact(diagnosis.FromNode(view.Name, "proc/sys/fs/inotify/"+name, strings.TrimSpace(v.Content)))
		}
	}
	f.Sayf("The kubelet of node %s cannot start a watcher: inotify's limit is reached%s. Its words \"no space left on device\" or \"too many open files\" are about this limit: the disk has room.%s Without the kubelet nothing on the node is mounted, unmounted or reported; containers and mounts live on.",
		view.Name, inBrackets(limits), room(ok && st.Err == "", root, st.Avail, st.FilesFree))
	f.Fact(diagnosis.FromNode(view.Name, locator, line))
	if ok && st.Err == "" {
		f.Fact(diagnosis.FromNode(view.Name, "@statfs"+root, fmt.Sprintf("%d blocks and %d inodes free", st.Avail, st.FilesFree)))
	} else {
		f.Missing("the free bytes and inodes of " + root + " on node " + view.Name)
	}
	f.Unless("a disk without free bytes or inodes, or a watcher that started later")
	f.Advise(
		remedy.Words("On node "+view.Name+" raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl -w, and a file in /etc/sysctl.d), then restart the kubelet."),
		remedy.Words("Do not treat the node as lost: its containers run, and what they have mounted is in use."),
	)
	p.Report(f)
}

func room(known bool, root string, blocks, inodes uint64) string {
	if !known {
		return ""
	}
	return fmt.Sprintf(" %s has %d blocks and %d inodes free.", root, blocks, inodes)
}

func inBrackets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
