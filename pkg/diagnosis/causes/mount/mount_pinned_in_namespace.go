package mount

import (
	_ "embed"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed mount_pinned_in_namespace.md
var mountPinnedInNamespaceDoc string

// MountPinnedInNamespace finds mounts that the host let go and that another mount
// namespace keeps.
var MountPinnedInNamespace = &diagnosis.Rule{
	Name: "mount-pinned-in-namespace", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns")},
	Explains: []string{"unmount-blocked", "detach-stuck", "multi-attach-error", "pod-stuck-terminating", "mount-busy", "format-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"drbd-state-blocks", "device-mapped-on-other-node", "crypt-mapper-stale", "rbd-lock-or-watcher-stale", "mount-of-dead-device", "xfs-uuid-duplicate"},
	Offers:   []string{"restart-holder"},
	Doc:      mountPinnedInNamespaceDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range nodesOf(p, v) {
				pinnedOn(p, v, node)
			}
		}
		pinnedRootfs(p)
	},
}

// pinnedOn looks at one node that should not need the volume's mount any more, or
// that cannot mount the device because somebody else has it.
func pinnedOn(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	released, why := p.WantedReleased(v, node)
	wanted := p.WantedHere(v, node)
	if wanted {
		why = "a pod on the node waits for the device"
	}
	stuck := released && p.Suffers(v, "unmount-blocked", "detach-stuck", "multi-attach-error", "pod-stuck-terminating")
	busy := wanted && p.Suffers(v, "mount-busy", "format-failed", "mount-failed", "share-manager-failing")
	if !released && !busy {
		return
	}
	view := p.View(node)
	if view == nil || view.Init == nil {
		if stuck || busy {
			tablesMissing(p, node)
		}
		if stuck {
			perhapsPinned(p, v, node, why)
		}
		return
	}
	if !pinnedCopies(p, v, view, why) {
		perhapsUnread(p, v, view)
	}
}

// tablesMissing notes that the mount tables of a node were wanted and not read.
func tablesMissing(p *diagnosis.Pass, node string) {
	view, ok := p.Probed(node) // without a probe this notes the gap
	if !ok {
		return
	}
	need := "node/" + node
	if st := view.Facts.Status["mountns"]; st.State != "" {
		need += "/mountns"
	}
	p.Miss(need, node)
}
