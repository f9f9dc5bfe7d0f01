package around

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ReadOnly is the read-only mount below which a path lies that somebody could not make on a node: the root, or the
// kubelet's directory, on a machine whose disk had an error or whose boot left it so.
func ReadOnly(x *snapshot.Index, node string, texts []evidence.Text) []report.Evidence {
	view := x.View(node)
	if view == nil || view.Init == nil {
		return nil
	}
	for _, t := range texts {
		if !t.Fresh || t.Node != node || !t.Is(message.ReadOnlyFilesystem) {
			continue
		}
		var over *probes.Mount
		for i := range view.Init.Mounts { // of several at one point the last one is seen
			m := &view.Init.Mounts[i]
			if names(t.Raw, strings.TrimSuffix(m.Point, "/")+"/") && (over == nil || len(m.Point) >= len(over.Point)) {
				over = m
			}
		}
		if over != nil && (over.HasOption("ro") || over.HasSuper("ro")) {
			return []report.Evidence{evidence.FromNode(node, fmt.Sprintf("proc/1/mountinfo:%d", over.Line), over.Point+" takes no writes: "+over.Raw)}
		}
	}
	return nil
}

// names tells whether a text has a path that begins with a directory.
func names(text, dir string) bool {
	for at := strings.Index(text, dir); at >= 0; {
		if at == 0 || strings.ContainsRune(" \"'([=:,", rune(text[at-1])) {
			return true
		}
		next := strings.Index(text[at+1:], dir)
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}
