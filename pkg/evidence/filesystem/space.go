package filesystem

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Image tells whether a filesystem of this type is made full and never changes.
func Image(fsType string) bool {
	return slices.Contains([]string{"squashfs", "iso9660", "erofs", "cramfs", "udf"}, fsType)
}

// watchWords are inotify's limits, which use the same errno (inotify_add_watch(2)).
var watchWords = pattern.MustCompile(`(?i)inotify|fsnotify|watch`)

// Space is what a filesystem has left, and who complains.
type Space struct {
	Point string // where it is mounted, or the directory that was asked about
	Mount *probes.Mount
	Lacks string // "no bytes: …", as a sentence goes on
	On    string // the mount that holds the directory, as a sentence names it
	Is    evidence.Answer
	Empty evidence.Answer // there is nothing left at all; not seen: next to nothing is left
	Said  evidence.Answer // somebody freshly got ENOSPC
	Quota bool            // or EDQUOT, of which statfs(2) need not know
}

// SpaceOf finds a filesystem of the place's volume on its node that is full, or says what
// was said of one that was not looked at.
func SpaceOf(pl *evidence.Place) Space {
	inside := func(t evidence.Text) bool { return pods.Inside(pl.Volume, t) }
	out := Space{Is: evidence.No(), Said: noSpace(pl, inside)}
	if quota := pl.Felt().Say(func(t evidence.Text) bool { return t.Is(message.QuotaSpent) && inside(t) }); !out.Said.Yes() && quota.Yes() {
		out.Said, out.Quota = quota, true
	}
	if out.Said.Yes() {
		out.Is, out.Empty = out.Said, evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "the free bytes and inodes of the volume"})
	}
	if pl.View == nil || out.Quota {
		return out
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if m.Path.Kind != snapshot.Publish && m.Path.Kind != snapshot.Staging || m.Mount.HasSuper("ro") || Image(m.Mount.FSType) {
			continue
		}
		if out.at(pl, m.Mount.Point); out.Point != "" {
			mount := m.Mount
			out.Mount = &mount
			out.Is = out.Is.With(out.Said.Facts()...).With(evidence.FromMount(pl.Node, nil, mount))
			break
		}
	}
	return out
}

// KubeletSpace is the filesystem below the kubelet's directory.
func KubeletSpace(pl *evidence.Place) Space {
	out := Space{Is: evidence.No(), Said: noSpace(pl, func(t evidence.Text) bool {
		return evidence.ContainsAny(t.Raw, "/pods/", "/plugins/", "/containerd/", "/overlay")
	})}
	if pl.View == nil {
		out.Is = pl.Probed().Found()
		if out.Said.Yes() {
			out.Is, out.Empty = out.Said, evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "the free bytes and inodes below the kubelet's directory"})
		}
		return out
	}
	root := pl.View.KubeletRoot()
	if _, read := pl.View.Statfs(root); !read {
		out.Is = pl.Tables(probes.Contents).Found()
		return out
	}
	if out.at(pl, root); !out.Is.Yes() {
		return out
	}
	out.Is = out.Is.With(out.Said.Facts()...)
	if m := pl.View.Containing(root); m != nil {
		out.On = m.Source + " at " + m.Point
		out.Is = out.Is.With(evidence.FromMount(pl.Node, nil, *m))
	}
	for _, d := range pl.View.Facts.Kubelet.VolData {
		if d.Err != "" && d.Err != "ENOENT" {
			out.Is = out.Is.With(evidence.FromNode(pl.Node, strings.TrimPrefix(d.Path, "/"), d.Err))
		}
	}
	return out
}

// at reads what statfs(2) says of a path. Next to nothing counts where somebody complains.
func (s *Space) at(pl *evidence.Place, path string) {
	st, ok := pl.View.Statfs(path)
	s.Lacks = exhausted(st)
	if !ok || s.Lacks == "" && !(s.Said.Yes() && nearly(st)) {
		return
	}
	fact := evidence.FromNode(pl.Node, "@statfs"+path, numbers(st))
	s.Point, s.Is, s.Empty = path, evidence.Yes(fact), evidence.Yes()
	if s.Lacks == "" {
		s.Lacks = "next to nothing left: " + numbers(st)
		s.Empty = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "a filesystem with nothing left at all"})
	}
}

// noSpace asks for a fresh ENOSPC whose words fit.
func noSpace(pl *evidence.Place, fits func(evidence.Text) bool) evidence.Answer {
	return pl.Felt().Say(func(t evidence.Text) bool {
		return t.Is(message.NoSpace) && !watchWords.MatchString(t.Raw) && fits(t)
	})
}

// Room asks whether a node showed that the volume has room now.
func Room(pl *evidence.Place) evidence.Answer {
	for _, node := range pl.X.NodesTraced(pl.Volume) {
		view := pl.X.View(node)
		if view == nil {
			continue
		}
		for _, m := range pl.X.VolumeMounts(pl.Volume, node) {
			if st, ok := view.Statfs(m.Mount.Point); ok && st.Err == "" && st.Blocks > 0 {
				return evidence.When(exhausted(st) == "", evidence.FromNode(node, "@statfs"+m.Mount.Point, numbers(st)))
			}
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "the room of the filesystem was not read"})
}

// Met tells whether somebody has met it yet: a step fails in whatever words, or waits.
func (s Space) Met(pl *evidence.Place) bool {
	return s.Said.Yes() || len(pl.Volume.Waiting()) > 0 || slices.ContainsFunc(pl.Felt(), func(t evidence.Text) bool { return !t.Ordinary })
}

// Shared tells whether the mount is a directory of the filesystem that the kubelet's own
// directory lies on.
func (s Space) Shared(pl *evidence.Place) bool {
	own := pl.View.Containing(pl.View.KubeletRoot())
	return own != nil && s.Mount != nil && own.Dev == s.Mount.Dev && s.Mount.Root != "/"
}

// Troubled tells whether the place's pod waits or ends.
func Troubled(pl *evidence.Place) bool {
	return pl.Pod.Status.Phase == corev1.PodPending || pl.Pod.DeletionTimestamp != nil
}

// Unpressed tells whether the Node object says nothing of a full disk.
func Unpressed(pl *evidence.Place) bool {
	n := pl.X.Node(pl.Node)
	return n != nil && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeDiskPressure && c.Status != corev1.ConditionTrue
	})
}

// exhausted is what a filesystem has nothing left of, or nothing. A filesystem that counts
// no inodes (btrfs, many servers) says 0 of 0.
func exhausted(st probes.FSStat) string {
	switch {
	case st.Err != "" || st.Blocks == 0:
		return ""
	case st.Files > 0 && st.FilesFree == 0 && st.Avail > 0:
		return fmt.Sprintf("no inodes: all %d are in use, %s are free", st.Files, size(st.Avail, st.BlockSize))
	case st.Avail == 0 && st.Free > 0:
		return fmt.Sprintf("no bytes: all of %s but the %s reserved for root are in use", size(st.Blocks, st.BlockSize), size(st.Free, st.BlockSize))
	case st.Avail == 0:
		return fmt.Sprintf("no bytes: all of %s are in use", size(st.Blocks, st.BlockSize))
	}
	return ""
}

// nearly tells whether what is left is too little for one more file of any size.
func nearly(st probes.FSStat) bool {
	return st.Err == "" && st.Blocks > 0 && (st.Avail <= st.Blocks/1000 || st.Files > 0 && st.FilesFree <= st.Files/10000)
}

func size(blocks, block uint64) string {
	mib := blocks * block >> 20
	if mib >= 10<<10 {
		return fmt.Sprintf("%d GiB", mib>>10)
	}
	return fmt.Sprintf("%d MiB", mib)
}

func numbers(st probes.FSStat) string {
	return fmt.Sprintf("%d of %d blocks available, %d of %d inodes free", st.Avail, st.Blocks, st.FilesFree, st.Files)
}
