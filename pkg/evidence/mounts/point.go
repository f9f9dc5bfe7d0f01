// Package mounts answers questions about mount points of a node.
package mounts

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Dead asks whether a mount of process 1 is there and what it shows is gone for good:
// its disk is gone or offline, or its server says that the handle is stale.
func Dead(x *snapshot.Index, on string, m probes.Mount) evidence.Answer {
	whole := node.Whole(x, on, probes.Mounts, probes.Block)
	view := x.View(on)
	if view == nil || view.Init == nil {
		return whole.Nothing()
	}
	line := evidence.FromMount(on, view.Init, m)
	if st, ok := view.Statfs(m.Point); ok {
		if st.Err == "" {
			return evidence.No(evidence.FromNode(on, "@statfs"+m.Point, "it answers"))
		}
		if gone(st.Err) {
			return evidence.Yes(line, evidence.FromNode(on, "@statfs"+m.Point, st.Err))
		}
	}
	b := view.Device(m.Dev)
	switch {
	case m.Dev.Anonymous():
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Contents), Node: on, Why: "no answer of the mount was recorded"})
	case b == nil && whole.Complete():
		return evidence.Yes(line, evidence.FromNode(on, "sys/dev/block/"+m.Dev.String(), "absent"))
	case b == nil:
		return whole.Nothing()
	case snapshot.TakenOffline(b) || b.State == "dead":
		return evidence.Yes(line, evidence.FromNode(on, "sys/class/block/"+b.Name+"/device/state", b.State))
	}
	return evidence.No(evidence.FromNode(on, "sys/class/block/"+b.Name+"/device/state", b.State))
}

// gone are the answers of a mount that does not come back by itself (ESTALE and EIO:
// the object is gone; ENOTCONN and ESHUTDOWN: the daemon is).
func gone(errno string) bool {
	switch errno {
	case "ESTALE", "EIO", "ENOTCONN", "ESHUTDOWN", "ENODEV", "ENXIO":
		return true
	}
	return false
}

// NothingBelow asks whether no namespace mounts anything at or below a directory.
func NothingBelow(x *snapshot.Index, on, dir string) evidence.Answer {
	whole := node.Whole(x, on, probes.Mounts)
	view := x.View(on)
	if view == nil {
		return whole.Nothing()
	}
	for _, ns := range view.Namespaces() {
		for _, m := range ns.Mounts {
			if strings.Contains(m.Point+"/", dir+"/") { // other namespaces may have it below a prefix of their own
				return evidence.No(evidence.FromMount(on, ns, m))
			}
		}
	}
	return whole.Nothing(evidence.FromNode(on, "proc/*/mountinfo", fmt.Sprintf("nothing below %s in %d mount namespaces", dir, len(view.Facts.Namespaces))))
}
