package filesystem

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// writable are the filesystems of one machine that nodes have mounted for writing, and the lines that say so.
func writable(pl *evidence.Place) (all []Carrier, lines []report.Evidence) {
	if pl.View == nil {
		return nil, nil
	}
	for _, n := range pl.X.NodesTraced(pl.Volume) {
		c, ok := CarrierOf(pl.On(n))
		if !ok {
			continue
		}
		if u := c.onHost(); len(u) > 0 && slices.Contains(disk.Filesystems, u[0].Mount.FSType) && !u[0].Mount.HasSuper("ro") {
			all, lines = append(all, c), append(lines, c.MountLine(u[0]))
		}
	}
	return all, lines
}

// Writers are the filesystems of one machine that several nodes have mounted for writing
// at once, when the kernel of the place's node is the first of them that finds damage.
func Writers(pl *evidence.Place) (all []Carrier, a evidence.Answer) {
	all, facts := writable(pl)
	i := slices.IndexFunc(all, func(c Carrier) bool { return len(c.damageLines()) > 0 })
	if len(all) < 2 || i < 0 || all[i].Place.Node != pl.Node {
		return nil, evidence.No()
	}
	return all, evidence.Yes(append(facts, all[i].quote(all[i].damageLines(), 3)...)...)
}

// SameBlocks asks whether they wrote to the same blocks, which nobody can see.
func SameBlocks(pl *evidence.Place) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "writes of both nodes to the same blocks"})
}

// Sharing is a filesystem of one machine with which pods of several nodes work at once, before anybody found damage.
type Sharing struct {
	All  []Carrier
	Pods []string
	Is   evidence.Answer
	Same evidence.Answer // it is one filesystem, by what was read of the disks
}

// SharingOf finds it; the first of its nodes speaks for all. What is a directory of a node's own disk
// is another one on each node.
func SharingOf(pl *evidence.Place) Sharing {
	if pv := pl.Volume.PV; pv == nil || pv.Spec.Local != nil || pv.Spec.HostPath != nil {
		return Sharing{Is: evidence.No()}
	}
	all, lines := writable(pl)
	var s Sharing
	var facts []report.Evidence
	for i, c := range all {
		pod := c.writer()
		if len(c.damageLines()) > 0 {
			return Sharing{Is: evidence.No()}
		}
		if pod != nil && c.onHost()[0].Mount.Root == "/" {
			s.All, s.Pods, facts = append(s.All, c), append(s.Pods, pods.Name(pod)), append(facts, lines[i], pods.State(pod))
		}
	}
	if len(s.All) < 2 || s.All[0].Place.Node != pl.Node {
		return Sharing{Is: evidence.No()}
	}
	s.Is, s.Same = evidence.Yes(facts...), same(s.All)
	return s
}

// writer is a pod that runs with the volume mounted for writing; nil: none.
func (c Carrier) writer() *corev1.Pod {
	mounts := slices.DeleteFunc(slices.Clone(c.Place.X.VolumeMounts(c.Place.Volume, c.Place.Node)), func(m snapshot.VolumeMount) bool { return m.Mount.HasOption("ro") })
	for _, p := range evidence.PodsOf(c.Place.X, mounts) {
		if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			return p
		}
	}
	return nil
}

// same asks whether disks hold one filesystem, by its UUID.
func same(all []Carrier) evidence.Answer {
	first, _ := all[0].Content()
	var facts []report.Evidence
	for _, c := range all {
		x, _ := c.Content()
		switch {
		case x.UUID == "" || first.UUID == "":
			return evidence.Unseen(evidence.Lack{Need: "node/" + c.Place.Node + "/" + string(probes.Contents), Node: c.Place.Node, Why: "the UUID of the filesystem on " + c.Name() + " was not read"})
		case x.UUID != first.UUID:
			return evidence.No()
		}
		facts = append(facts, c.Shows("UUID="+x.UUID))
	}
	return evidence.Yes(facts...)
}
