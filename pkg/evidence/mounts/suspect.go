package mounts

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// privateHostMount finds a hostPath of the pod that covers the directory and does not
// receive later mounts and unmounts (mountPropagation None or absent).
func privateHostMount(pod *corev1.Pod, dir string) (hostPath, mountPath string) {
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil || !probes.Within(dir, path.Clean(v.HostPath.Path)) {
			continue
		}
		for _, c := range pod.Spec.Containers {
			if m := privateIn(c, v.Name); m != "" {
				return v.HostPath.Path, m
			}
		}
	}
	return "", ""
}

func privateIn(c corev1.Container, volume string) string {
	for _, m := range c.VolumeMounts {
		if m.Name == volume && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone) {
			return m.MountPath
		}
	}
	return ""
}

// copied is when the first container of a pod that mounts the directory privately began to
// run: the moment at which its mounts were copied.
func copied(pod *corev1.Pod, dir string) time.Time {
	var t time.Time
	for _, c := range pod.Spec.Containers {
		private := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.HostPath != nil && probes.Within(dir, path.Clean(v.HostPath.Path)) && privateIn(c, v.Name) != ""
		})
		for _, s := range pod.Status.ContainerStatuses {
			if r := s.State.Running; private && s.Name == c.Name && r != nil && (t.IsZero() || r.StartedAt.Time.Before(t)) {
				t = r.StartedAt.Time
			}
		}
	}
	return t
}

// Suspect is a pod that could hold a mount of the place's volume on a node whose tables
// were not read: it sees the kubelet's directory through a private hostPath and began to
// run while the volume was mounted there.
type Suspect struct {
	Pod      *corev1.Pod
	Host, At string
	Since    time.Time
	Others   []string // further ones, named
}

// SuspectOf finds them where the node is Ready; more than an indication this never is.
func SuspectOf(pl *evidence.Place) (Suspect, bool) {
	var found []*corev1.Pod
	root := rootOf(pl.X, pl.Node)
	if pl.X.NodeReady(pl.Node).Ready {
		for _, pod := range pl.X.PodsOn(pl.Node) {
			if host, _ := privateHostMount(pod, root); host != "" && pods.Runs(pod) && whileMounted(pl, copied(pod, root)) {
				found = append(found, pod)
			}
		}
	}
	if len(found) == 0 {
		return Suspect{}, false
	}
	slices.SortFunc(found, func(a, b *corev1.Pod) int { return strings.Compare(pods.Name(a), pods.Name(b)) })
	s := Suspect{Pod: found[0], Since: copied(found[0], root)}
	s.Host, s.At = privateHostMount(found[0], root)
	for _, o := range found[1:] {
		s.Others = append(s.Others, pods.Owned(pl.X, o))
	}
	return s, true
}

// whileMounted compares a moment with the time in which the node had the volume: after it
// was attached, before it was wanted elsewhere.
func whileMounted(pl *evidence.Place, t time.Time) bool {
	if t.IsZero() {
		return false
	}
	if va := pl.Volume.AttachmentOn(pl.Node); va != nil {
		if va.CreationTimestamp.After(t) || va.DeletionTimestamp != nil && va.DeletionTimestamp.Time.Before(t) {
			return false
		}
	}
	return !slices.ContainsFunc(pl.Volume.Waiting(), func(w *snapshot.Consumer) bool {
		return w.Pod.Spec.NodeName != pl.Node && w.Pod.CreationTimestamp.Time.Before(t)
	})
}

// Words are the suspect, its hostPath, and why the tables are not there, for a sentence.
func (s Suspect) Words(pl *evidence.Place) map[string]string {
	return map[string]string{"node": pl.Node, "pod": pods.Owned(pl.X, s.Pod), "host": s.Host, "at": s.At, "since": s.Since.UTC().Format(time.RFC3339), "others": strings.Join(s.Others, ", "), "unread": whyUnread(pl)}
}

// Is quotes the suspect's hostPath.
func (s Suspect) Is() evidence.Answer {
	return evidence.Yes(evidence.FromPod(s.Pod, "spec.volumes[].hostPath.path", s.Host+", mounted at "+s.At+" without mountPropagation"))
}

// Kept asks whether the API shows that the node did not finish with the volume: the
// kubelet reports it in use, or says freshly that it cannot unmount it.
func Kept(pl *evidence.Place) evidence.Answer {
	if pl.X.ReportedInUse(pl.Node, pl.Volume) {
		return evidence.Yes(evidence.FromAPI("Node "+pl.Node, "status.volumesInUse", pl.Volume.UniqueName()))
	}
	return pl.Refused().Say(func(t evidence.Text) bool {
		return strings.HasPrefix(t.Op, "Unmount") || strings.HasPrefix(t.Op, "Unmap") || strings.Contains(strings.ToLower(t.Raw), "unmap failed") || strings.Contains(strings.ToLower(t.Raw), "umount")
	})
}

// whyUnread says why the mount tables of the place's node are not there.
func whyUnread(pl *evidence.Place) string {
	if pl.View != nil {
		return "the probe of mount namespaces did not succeed"
	}
	lack := pl.Probed().Lacks()[0].Why
	if g, ok := pl.X.NodeGap(pl.Node); ok && g.Detail != "" {
		return lack + ": " + g.Detail
	}
	return lack
}
