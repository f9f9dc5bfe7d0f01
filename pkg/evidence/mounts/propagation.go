package mounts

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Demand is a path of the host whose mount must be shared (or at least a slave) for a pod.
type Demand struct {
	pl    *evidence.Place
	Pod   *corev1.Pod
	Path  string
	Slave bool // a slave is enough: HostToContainer
	Point string
	said  evidence.Text
	mount *probes.Mount // that contains the path; nil: no table was read
}

// notShared is what runc, containerd and docker say: "path P is mounted on M but it is not
// a shared [or slave] mount" (containerd pkg/cri, oci spec of runc).
var notShared = pattern.MustCompile(`(?i)path "?(/[^"\s]*)"? is mounted on "?(/[^"\s]*?)"? but it is not a shared (or slave )?mount`)

// DemandsOf are the paths that a pod of the question mounts from the host with propagation
// and those that a runtime refused it; of a node those below which volumes are mounted.
func DemandsOf(pl *evidence.Place) []Demand {
	if pl.Pod != nil {
		return demandsOf(pl, pl.Pod, func(string) bool { return true })
	}
	root := rootOf(pl.X, pl.Node)
	var out []Demand
	for _, pod := range pl.X.PodsOn(pl.Node) {
		out = append(out, demandsOf(pl, pod, func(path string) bool {
			return probes.Within(path, root) || probes.Within(path, "/var/lib/longhorn") || path != "/" && probes.Within(root, path)
		})...)
	}
	return out
}

func demandsOf(pl *evidence.Place, pod *corev1.Pod, takes func(path string) bool) []Demand {
	var out []Demand
	add := func(d Demand) {
		if !takes(d.Path) || d.Path == "" {
			return
		}
		d.pl, d.Pod = pl, pod
		if pl.View != nil && pl.View.Init != nil {
			if d.mount = pl.View.Containing(d.Path); d.mount != nil {
				d.Point = d.mount.Point
			}
		}
		out = append(out, d)
	}
	for _, t := range Said(pl.X, pod) {
		if m := notShared.FindStringSubmatch(t.Raw); m != nil && !(t.Source == "event" && t.At.Before(snapshot.PodStarted(pod))) {
			add(Demand{Path: m[1], Slave: m[3] != "", said: t, Point: m[2]})
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		switch propagation(pod, v.Name) {
		case corev1.MountPropagationBidirectional:
			add(Demand{Path: v.HostPath.Path})
		case corev1.MountPropagationHostToContainer:
			if pl.Pod != nil {
				add(Demand{Path: v.HostPath.Path, Slave: true})
			}
		}
	}
	return out
}

// propagation is the strongest one that a container of the pod asks of a volume.
func propagation(pod *corev1.Pod, volume string) corev1.MountPropagationMode {
	best := corev1.MountPropagationNone
	for c := range snapshot.Containers(pod) {
		for _, m := range c.VolumeMounts {
			if m.Name != volume || m.MountPropagation == nil {
				continue
			}
			if *m.MountPropagation == corev1.MountPropagationBidirectional || best == corev1.MountPropagationNone {
				best = *m.MountPropagation
			}
		}
	}
	return best
}

// Refused tells whether a runtime refused the path.
func (d Demand) Refused() bool { return d.said.Raw != "" }

// Private asks whether the mount that contains the path is not shared, by the table of
// process 1; where that was not read by the runtime's words, which are first-hand.
func (d Demand) Private() evidence.Answer {
	switch {
	case d.mount != nil:
		private := d.mount.Shared == 0 && !(d.Slave && d.mount.Master != 0)
		return evidence.When(private, d.quote(), evidence.FromMount(d.pl.Node, d.pl.View.Init, *d.mount))
	case d.Refused() && (d.pl.View == nil || d.pl.View.Init == nil):
		return evidence.Yes(d.quote())
	}
	return evidence.Not(node.Whole(d.pl.X, d.pl.Node, probes.Mounts).Nothing())
}

func (d Demand) quote() report.Evidence {
	if !d.Refused() {
		return report.Evidence{}
	}
	return d.said.Evidence()
}

// Now asks whether it is so now: a table shows it, or the words are fresh.
func (d Demand) Now() evidence.Answer {
	if d.mount != nil || d.said.Fresh {
		return evidence.Yes()
	}
	return node.Whole(d.pl.X, d.pl.Node, probes.Mounts).Nothing()
}

// Harms asks whether somebody suffers from it: a container was refused, its pod does not
// run, a volume's step fails here, or a volume is not where its pod needs it. Mounts that
// the kubelet makes itself reach their pods without it.
func (d Demand) Harms() evidence.Answer {
	if d.Refused() || !pods.Runs(d.Pod) {
		return evidence.Yes()
	}
	if said := d.pl.Refused().Say(func(t evidence.Text) bool {
		return !t.Ordinary && (t.Op != "" || strings.HasPrefix(t.Reason, "Failed"))
	}); said.Yes() {
		return said
	}
	for _, pod := range d.pl.X.PodsOn(d.pl.Node) {
		for _, v := range d.pl.X.VolumesOfPod(pod) {
			published := func(m snapshot.VolumeMount) bool { return snapshot.SameUID(m.Path.PodUID, string(pod.UID)) }
			if pod.Status.Phase == corev1.PodPending && d.pl.X.Age(pod.CreationTimestamp.Time) > stagingTime {
				return evidence.Yes(evidence.FromPod(pod, "status.phase", string(pod.Status.Phase)))
			}
			if pod.Status.Phase == corev1.PodRunning && !v.Block() && Binds(v) && !slices.ContainsFunc(d.pl.X.VolumeMounts(v, d.pl.Node), published) {
				return evidence.Yes(evidence.FromNode(d.pl.Node, "proc/1/mountinfo", "no mount of volume "+v.PVName()+" for pod "+pods.Name(pod)))
			}
		}
	}
	return evidence.No()
}

// Unpropagated asks whether Longhorn reports that mount propagation does not work on the
// place's node, as old versions do; says is its message.
func Unpropagated(pl *evidence.Place) (says string, a evidence.Answer) {
	n := pl.X.LHNode(pl.Node)
	if n == nil {
		return "", evidence.No()
	}
	c, ok := n.Conditions.Get("MountPropagation")
	return c.Message, evidence.When(ok && c.Status == "False", evidence.FromAPI("nodes.longhorn.io "+pl.Node, "status.conditions[MountPropagation]", c.Status+" "+c.Message))
}
