// Package files answers questions about work that touches every file of a volume before
// a pod starts: kubelet gives them to the pod's group, the container runtime sets their
// label. Both take long where there are many.
package files

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Tree is the volume of a pod that waits on a node, as it is mounted for that pod.
type Tree struct {
	pl    *evidence.Place
	c     *snapshot.Consumer
	mount *probes.Mount // the pod's own; nil: it was not seen
}

// TreeOf is the volume v for one of its consumers, at the place's node.
func TreeOf(pl *evidence.Place, v *snapshot.Volume, c *snapshot.Consumer) Tree {
	t := Tree{pl: &evidence.Place{X: pl.X, Volume: v, Pod: c.Pod, Node: c.Node(), View: pl.View, Texts: pl.Texts, Own: pl.Own}, c: c}
	for _, m := range pl.X.VolumeMounts(v, c.Node()) {
		if m.Path.Kind == snapshot.Publish && snapshot.SameUID(m.Path.PodUID, string(c.Pod.UID)) {
			t.mount = &m.Mount
			break
		}
	}
	return t
}

// TreesOf are the volumes of the place's pod, while it waits.
func TreesOf(pl *evidence.Place) []Tree {
	var out []Tree
	for _, v := range pl.X.VolumesOfPod(pl.Pod) {
		for _, c := range v.WaitingOn(pl.Node) {
			if c.Pod == pl.Pod && pl.Node != "" {
				out = append(out, TreeOf(pl, v, c))
			}
		}
	}
	return out
}

// Of is the volume.
func (t Tree) Of() *snapshot.Volume { return t.pl.Volume }

// Point is where it is mounted for the pod; empty: it was not seen.
func (t Tree) Point() string {
	if t.mount == nil {
		return ""
	}
	return t.mount.Point
}

// Volume is the name that people use for the volume.
func (t Tree) Volume() string {
	v := t.pl.Volume
	switch {
	case v.LH() != nil:
		return v.LH().Name
	case v.PVName() != "":
		return v.PVName()
	}
	return v.Handle
}

// Files is their number in words; empty: they are not counted.
func (t Tree) Files() string {
	n, ok := t.used()
	if !ok {
		return ""
	}
	return fmt.Sprint(n)
}

// many is the number of files from which touching each takes minutes.
const many = 100_000

// used is the number of files as the filesystem counts them. Not every one does: btrfs and
// many servers say 0 of 0, CephFS puts the number of the pool's objects there and all ones
// for the free ones (ceph_statfs of fs/ceph/super.c), so more free than there are.
func (t Tree) used() (n uint64, counted bool) {
	if t.mount == nil {
		return 0, false
	}
	st, ok := t.pl.View.Statfs(t.mount.Point)
	if !ok || st.Err != "" || st.Files == 0 || st.FilesFree > st.Files {
		return 0, false
	}
	return st.Files - st.FilesFree, true
}

// Mounted asks whether the volume is mounted for the pod and answers.
func (t Tree) Mounted() evidence.Answer {
	if r := t.pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	if t.mount == nil {
		return evidence.Not(t.pl.Mounts().Nothing())
	}
	st, ok := t.pl.View.Statfs(t.mount.Point)
	line := evidence.FromMount(t.c.Node(), nil, *t.mount)
	if ok && st.Err != "" {
		return evidence.No(line, evidence.FromNode(t.c.Node(), "@statfs"+t.mount.Point, st.Err))
	}
	return evidence.Yes(line)
}

// Many asks whether there are so many files that touching each takes minutes.
func (t Tree) Many() evidence.Answer {
	n, counted := t.used()
	if !counted {
		return t.uncounted()
	}
	return evidence.When(n > many, evidence.FromNode(t.c.Node(), "@statfs"+t.mount.Point, fmt.Sprintf("%d inodes in use", n)))
}

// Counted asks whether the number of files is known.
func (t Tree) Counted() evidence.Answer {
	if _, ok := t.used(); !ok {
		return t.uncounted()
	}
	return evidence.Yes()
}

func (t Tree) uncounted() evidence.Answer {
	if r := t.pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + t.c.Node() + "/" + string(probes.Contents), Node: t.c.Node(), Why: "the filesystem does not count its files"})
}

// threads are what the tasks of a process wait for in the kernel.
func threads(q *probes.Process) []probes.Thread {
	return append([]probes.Thread{{TID: q.PID, Comm: q.Comm, State: q.State, WChan: q.WChan, Stack: q.Stack}}, q.Threads...)
}

// inKernel finds a thread of daemons that is in one of the kernel's functions, on a
// filesystem of the volume's type.
func (t Tree) inKernel(daemons []*probes.Process, functions ...string) evidence.Answer {
	if r := t.pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	for _, q := range daemons {
		for _, th := range threads(q) {
			where := th.Stack + " " + th.WChan
			if evidence.ContainsAny(where, functions...) && t.onIt(where) {
				return evidence.Yes(evidence.FromNode(t.c.Node(), fmt.Sprintf("proc/%d/task/%d/stack", q.PID, th.TID), comm(q, th)+": "+strings.Join(strings.Fields(where), " ")))
			}
		}
	}
	return evidence.No()
}

func comm(q *probes.Process, th probes.Thread) string {
	return cmp.Or(th.Comm, q.Comm)
}

// types are filesystems whose functions in a stack begin with their name.
var types = []string{"ceph", "nfs", "cifs", "smb", "fuse", "ext4", "xfs", "btrfs", "gfs2", "ocfs2"}

// onIt tells whether a stack can be one of the volume's filesystem: it names no type, or
// that of the mount.
func (t Tree) onIt(stack string) bool {
	of := ""
	for _, name := range types {
		if strings.Contains(stack, name+"_") {
			of = name
		}
	}
	return of == "" || t.mount != nil && (strings.HasPrefix(t.mount.FSType, of) || of == "smb" && t.mount.FSType == "cifs")
}
