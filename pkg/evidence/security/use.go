package security

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// using are permissions without which nobody reads or writes.
var using = []string{"read", "write", "open", "search", "add_name", "remove_name", "create", "unlink", "append", "execute", "map", "lock", "connectto"}

// user is the pod whose container was denied something in the volume of a place that it uses, and whether
// it can be nothing but that volume. A filesystem without a device is named in the line by its type alone,
// "cifs", "ceph", "fuse", "tmpfs" (sget_fc in fs/super.c); only NFS puts the number of the mount there.
func (l Line) user(pl *evidence.Place) (*corev1.Pod, evidence.Answer) {
	mount := l.mountOf(pl)
	if !l.contained() || mount == nil || !slices.ContainsFunc(l.perms, func(p string) bool { return slices.Contains(using, p) }) {
		return nil, evidence.No()
	}
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		is := l.ranIn(pl, c.Pod)
		if is.No() {
			continue
		}
		only := l.onlyOne(pl, c.Pod, *mount)
		if dev := l.fields["dev"]; only.Unseen() && (dev == "overlay" || dev == "tmpfs" && (rivals(pl, c.Pod, *mount) || l.ofContainer())) {
			continue // every container has such mounts of its own
		}
		return c.Pod, evidence.All(is, only)
	}
	return nil, evidence.No()
}

// mountOf is the volume's mount, when the line has its number or, of one without a device, its type.
func (l Line) mountOf(pl *evidence.Place) *probes.Mount {
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if m.Mount.Dev.Anonymous() && l.SELinux && (l.named(m.Mount) || m.Mount.Dev.String() == l.fields["dev"]) {
			return &m.Mount
		}
	}
	return nil
}

// named tells whether dev= is the type of a mount without a device.
func (l Line) named(m probes.Mount) bool {
	kind, _, _ := strings.Cut(m.FSType, ".") // fuse.s3fs is of type fuse
	return kind != "" && kind == l.fields["dev"]
}

// ranIn asks whether the denied process was one of a pod: by its number, or by a label that no other
// pod of the node has.
func (l Line) ranIn(pl *evidence.Place, pod *corev1.Pod) evidence.Answer {
	if who := l.Process(pl); who.PodUID != "" {
		return evidence.When(who.Pod != nil && who.Pod.UID == pod.UID)
	}
	other, own := false, false
	for _, p := range pl.View.Processes() {
		if p.Label != l.fields["scontext"] {
			continue
		}
		if who := pl.X.WhoIs(pl.View, p); who.PodUID != "" {
			is := who.Pod != nil && who.Pod.UID == pod.UID
			own, other = own || is, other || !is
		}
	}
	if !own {
		return evidence.No()
	}
	if other {
		return evidence.Unseen(evidence.Lack{Need: "the process of the denial", Node: pl.Node, Why: "it has ended, and several pods have its label"})
	}
	return pl.Tables(probes.Processes).Nothing()
}

// onlyOne asks whether a pod sees no other filesystem that the line could be about.
func (l Line) onlyOne(pl *evidence.Place, pod *corev1.Pod, mount probes.Mount) evidence.Answer {
	if mount.Dev.String() == l.fields["dev"] {
		return evidence.Yes()
	}
	seen := false
	for _, ns := range pl.View.NamespacesOfPod(string(pod.UID)) {
		for _, m := range ns.Mounts {
			seen = seen || m.Dev == mount.Dev
			if l.named(m) && m.Dev != mount.Dev {
				seen = false
				break
			}
		}
	}
	if !seen || mount.FSType == "tmpfs" || rivals(pl, pod, mount) {
		return evidence.Unseen(evidence.Lack{Need: "the mount of the denial", Node: pl.Node, Why: "the kernel names it by its type alone, and the pod can have others of that type"})
	}
	return evidence.Yes()
}

// ofKubelet are volumes that the kubelet fills, and labels for their pod.
var ofKubelet = []string{"kubernetes.io~projected", "kubernetes.io~secret", "kubernetes.io~configmap", "kubernetes.io~downward-api", "kubernetes.io~empty-dir"}

// rivals tells whether a pod has another volume of the type of a mount.
func rivals(pl *evidence.Place, pod *corev1.Pod, mount probes.Mount) bool {
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		if m := pl.View.Containing(v.HostPath.Path); m == nil || m.FSType == mount.FSType {
			return true
		}
	}
	return slices.ContainsFunc(pl.View.VolumePaths(), func(m snapshot.VolumeMount) bool {
		return m.Path.PodUID == string(pod.UID) && !slices.Contains(ofKubelet, m.Path.Plugin) && m.Mount.FSType == mount.FSType && (m.Mount.Dev != mount.Dev || m.Mount.Root != mount.Root)
	})
}

// ofContainer tells whether the object has the level of the process: then it was made, or labelled, for it.
func (l Line) ofContainer() bool {
	level := func(label string) string {
		if part := strings.SplitN(label, ":", 4); len(part) == 4 {
			return part[3]
		}
		return ""
	}
	return level(l.fields["scontext"]) == level(l.fields["tcontext"])
}

// saysDenied asks for the pod's own fresh word that it was denied something: a mount of the kubelet fails for another reason.
func saysDenied(pl *evidence.Place, pod *corev1.Pod) evidence.Answer {
	return pl.Felt().Say(func(t evidence.Text) bool {
		return !t.Ordinary && !t.Mounts() && !t.MountEvent() && !t.Attaches() && t.Pod == pod.Namespace+"/"+pod.Name && (t.Is(message.PermissionDenied) || t.Is(message.OperationNotPermitted))
	})
}

// enters are what every way into a directory needs first.
var enters = []string{"search", "read", "open", "getattr"}

// keeps asks whether a denial keeps a pod from using the volume: it may not enter the volume's own root, or the
// pod does not serve. What a pod that serves was denied may be all the same to it, and past where the node's boolean
// allows it now.
func (l Line) keeps(pl *evidence.Place, pod *corev1.Pod) (state, last evidence.Answer) {
	if said := saysDenied(pl, pod); said.Yes() {
		return said, evidence.Yes()
	}
	m, barred := l.mountOf(pl), len(allowing(pl, l)) > 0
	root := m != nil && m.Root == "/" && l.fields["name"] == "/" && l.fields["tclass"] == "dir" && slices.ContainsFunc(l.perms, func(p string) bool { return slices.Contains(enters, p) })
	if root && barred {
		return evidence.Yes(l.Fact()), evidence.Yes()
	}
	open := evidence.Unseen(evidence.Lack{Need: "whether pod " + pod.Namespace + "/" + pod.Name + " needs what it was denied", Why: "nobody says so"})
	if !snapshot.PodReady(pod) {
		return evidence.Yes(evidence.FromPod(pod, "status.conditions[Ready]", "False")), open
	}
	if root && !allows(pl, m.FSType) {
		return evidence.Yes(l.Fact()), open
	}
	return open, evidence.Yes()
}
