package ceph

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// rejects is how the kernel's Ceph client says that its user is turned down:
// net/ceph/auth.c, fs/ceph/mds_client.c.
var rejects = pattern.MustCompile(`libceph: .*auth method '\w+' error -\d+|ceph: mds\d+ rejected session`)

// Rejected asks for a fresh line of the kernel, on a node whose pod waits, in which the
// cluster turns the user of a new mount down; sure tells whether the kernel names the
// volume's cluster. A mount that was there before is fenced, which is another matter.
func Rejected(pl *evidence.Place) (line string, said, sure evidence.Answer) {
	said, sure = evidence.No(), evidence.No()
	if !Of(pl.Volume) {
		return "", said, sure
	}
	for _, w := range pl.Volume.Waiting() {
		view := pl.X.View(w.Node())
		if view == nil || len(pl.X.VolumeMounts(pl.Volume, w.Node())) > 0 {
			continue
		}
		cluster, lines := pl.Volume.Attribute("clusterID"), view.KernelLines()
		known := false
		for _, l := range lines {
			known = known || cluster != "" && strings.Contains(l.Text, "fsid "+cluster)
		}
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			if !rejects.MatchString(l.Text) || l.At.IsZero() || pl.X.Age(l.At) >= fresh || l.At.Before(w.Pod.CreationTimestamp.Time) {
				continue
			}
			said = evidence.Yes(evidence.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
			sure = said
			if !known {
				sure = evidence.Unseen(evidence.Lack{Need: "which Ceph cluster the kernel's line is about", Node: view.Name, Why: "the kernel does not name it"})
			}
			return l.Text, said, sure
		}
	}
	return "", said, sure
}
