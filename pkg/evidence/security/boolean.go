package security

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// boolean is what container-selinux asks before a container may mount NFS; such a denial
// is not always in the log.
const boolean = "sys/fs/selinux/booleans/virt_use_nfs"

// NFSBoolean asks whether SELinux of the place's node keeps containers from mounting NFS,
// while a mount of NFS made by one fails with EPERM.
func NFSBoolean(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || pl.Volume.CSIName() == "" {
		return evidence.No()
	}
	f, ok := pl.View.Facts.Files[boolean]
	if !ok || !strings.HasPrefix(strings.TrimSpace(f.Content), "0") {
		return evidence.No()
	}
	for _, t := range pl.Refused() {
		nfs := strings.Contains(t.Args, "-t nfs") || t.Is(message.NFSError)
		if nfs && t.Is(message.OperationNotPermitted) {
			return evidence.All(Enforcing(pl.View), evidence.Yes(evidence.FromNode(pl.Node, boolean, strings.TrimSpace(f.Content)), t.Evidence()))
		}
	}
	return evidence.No()
}

// WorksElsewhere asks whether another node, without this rule, has the volume mounted.
func WorksElsewhere(pl *evidence.Place) evidence.Answer {
	for _, n := range pl.X.NodesOf(pl.Volume) {
		view := pl.X.View(n)
		if view == nil || n == pl.Node || len(pl.X.VolumeMounts(pl.Volume, n)) == 0 || strict(view) {
			continue
		}
		return evidence.Yes(evidence.FromNode(n, "proc/1/mountinfo", pl.X.VolumeMounts(pl.Volume, n)[0].Mount.Raw))
	}
	return evidence.Unseen(evidence.Lack{Need: "a node without this rule that mounts the same export", Why: "none was probed"})
}

func strict(view *snapshot.NodeView) bool {
	f, ok := view.Facts.Files[boolean]
	return ok && strings.HasPrefix(strings.TrimSpace(f.Content), "0") && !Enforcing(view).No()
}
