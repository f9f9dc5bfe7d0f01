package files

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// AwaitsThaw tells whether a task waits until a filesystem may be written again: freeze_super
// (fs/super.c) holds the lock that every writer takes first (sb_start_write, inlined in these).
func AwaitsThaw(q *probes.Process) bool {
	return slices.ContainsFunc(threads(q), thaws)
}

func thaws(t probes.Thread) bool {
	has := func(frame string) bool { return strings.Contains(t.Stack, frame) }
	return t.State == "D" && (has("percpu_rwsem_wait") || has("sb_start_")) &&
		slices.ContainsFunc([]string{"sb_start_", "mnt_want_write", "vfs_write", "vfs_iter_write", "vfs_fallocate", "page_mkwrite", "splice_write"}, has)
}

// Frozen asks whether the thread of kubelet that changes owners waits for the thaw of a
// filesystem: that walk goes on when somebody thaws it, and time does nothing.
func (t Tree) Frozen() evidence.Answer {
	if !slices.ContainsFunc(kubelets(t), AwaitsThaw) {
		return evidence.No()
	}
	return t.Chowning()
}
