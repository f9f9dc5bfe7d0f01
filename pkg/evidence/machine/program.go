// Package machine answers questions about what a node brings for storage before any
// volume asks for it: programs, kernel modules, daemons, memory, names, the clock.
package machine

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Program asks whether one of these programs is where the kubelet, mount(8) and Longhorn
// look for programs of the host.
func Program(x *snapshot.Index, node string, names ...string) evidence.Answer {
	return In(x, node, "", names...)
}

// In is Program for a root of its own, as that of a kubelet in a container
// ("proc/77/root/"); empty: the host's.
func In(x *snapshot.Index, node, root string, names ...string) evidence.Answer {
	whole, view := programs(x, node, root), x.View(node)
	if view == nil {
		return evidence.Unseen(whole.Lacks()...)
	}
	for _, name := range names {
		for _, dir := range probes.ToolDirs() {
			at := root + dir + "/" + name
			if f, ok := view.Facts.Files[at]; ok && (f.Kind == "file" || f.Kind == "link") {
				return evidence.Yes(evidence.FromNode(node, at, "there"))
			}
		}
	}
	if !whole.Complete() {
		return evidence.Unseen(whole.Lacks()...)
	}
	return evidence.No(evidence.FromNode(node, root+"{"+strings.Join(probes.ToolDirs(), ",")+"}/"+names[0], "not there"))
}

// Elsewhere is the place of a program outside the searched directories; empty: none.
func Elsewhere(x *snapshot.Index, node, name string) string {
	if view := x.View(node); view != nil {
		return view.Facts.ToolElsewhere(name)
	}
	return ""
}

// programs says whether the directories of programs were looked through. A host without
// any known program was not.
func programs(x *snapshot.Index, node, root string) evidence.Reading {
	dirs := append(probes.ToolDirs(), probes.OtherToolDirs()...)
	r, view := Read(x, node, probes.Files, dirs...), x.View(node)
	if view == nil || !r.Complete() {
		return r
	}
	if slices.ContainsFunc(dirs, func(dir string) bool { return view.HasBelow(root + dir) }) {
		return r
	}
	return evidence.Partial(lack(node, probes.Files, "no program of it was seen"))
}

// Read says whether a table of a node was read to its end, and whether nothing at or
// below some paths was refused.
func Read(x *snapshot.Index, node string, table probes.Table, paths ...string) evidence.Reading {
	r, view := evidence.Ended(x, node, table), x.View(node)
	if view == nil || !r.Complete() {
		return r
	}
	holes := view.Completeness(table).Only(func(p probes.Problem) bool {
		return slices.ContainsFunc(paths, func(at string) bool {
			return probes.Within(p.Path, at) || probes.Within(at, p.Path)
		})
	})
	if !holes.Complete() {
		return evidence.Partial(lack(node, table, holes.Why()))
	}
	return r
}

func lack(node string, table probes.Table, why string) evidence.Lack {
	return evidence.Lack{Need: "node/" + node + "/" + string(table), Node: node, Why: why}
}

// file is a file of the node that was read, with its content.
func file(x *snapshot.Index, node, path string) (text string, ok bool) {
	view := x.View(node)
	if view == nil {
		return "", false
	}
	f, ok := view.Facts.HostFile(path)
	return f.Content, ok && f.Err == ""
}
