package pods

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// HostPath is a path of the host that a waiting pod wants.
type HostPath struct {
	Volume *snapshot.Volume // of a local or hostPath PV; nil for the pod's own spec
	Name   string           // of the volume in events
	Path   string
	Kind   corev1.HostPathType
	field  string
}

// HostPaths are the paths that a pod which waits on a node wants of it.
func HostPaths(x *snapshot.Index, pod *corev1.Pod) []HostPath {
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return nil
	}
	var out []HostPath
	for _, vol := range pod.Spec.Volumes {
		if h := vol.HostPath; h != nil {
			out = append(out, HostPath{Name: vol.Name, Path: h.Path, Kind: typeOf(h.Type), field: "spec.volumes[" + vol.Name + "].hostPath"})
		}
	}
	for _, v := range x.VolumesOfPod(pod) {
		switch {
		case v.PV == nil || v.Inline:
		case v.PV.Spec.Local != nil:
			out = append(out, HostPath{v, v.PV.Name, v.PV.Spec.Local.Path, corev1.HostPathUnset, "spec.local.path"})
		case v.PV.Spec.HostPath != nil:
			out = append(out, HostPath{v, v.PV.Name, v.PV.Spec.HostPath.Path, typeOf(v.PV.Spec.HostPath.Type), "spec.hostPath"})
		}
	}
	return out
}

func typeOf(t *corev1.HostPathType) corev1.HostPathType {
	if t == nil {
		return corev1.HostPathUnset
	}
	return *t
}

// The words of pkg/volume/hostpath and pkg/volume/local of Kubernetes.
var pathWords = pattern.MustCompile(`hostPath type check failed: (\S+) is not an? ([a-z ]+)|path "([^"]+)" does not exist|MountVolume\.NewMounter initialization failed for volume "[^"]+" : path "?([^" ]+)"? does not exist`)

// refused is the kubelet's fresh refusal of exactly this path.
func (h HostPath) refused(x *snapshot.Index, pod *corev1.Pod) (report.Evidence, bool) {
	for _, e := range slices.Backward(x.Events("Pod", pod.Namespace, pod.Name)) {
		if !strings.Contains(e.Message, "does not exist") && !strings.Contains(e.Message, "type check failed") {
			continue
		}
		m := pathWords.FindStringSubmatch(e.Message)
		if m == nil || !x.Fresh(e, snapshot.PodAsksSince(pod, e.Reason)) || e.ObjUID != "" && !snapshot.SameUID(e.ObjUID, string(pod.UID)) {
			continue
		}
		for _, g := range []string{m[1], m[3], m[4]} {
			if g != "" && path.Clean(g) == path.Clean(h.Path) {
				return report.Evidence{Source: "event", Node: e.Host, Locator: "Event " + Object(pod) + " " + e.Reason, Text: e.Message}, true
			}
		}
	}
	for _, c := range snapshot.Statuses(pod) { // of a volume with a subPath the kubelet asks for the path first when it makes the container
		if w := c.State.Waiting; w != nil && Unmade(w.Reason) && strings.Contains(w.Message, "no such file or directory") && lacksSource(h.Path, w.Message) {
			return evidence.FromAPI(Object(pod), "status.containerStatuses["+c.Name+"].state.waiting", w.Message), true
		}
	}
	return report.Evidence{}, false
}

// kinds are what a recording calls the entries that each hostPath type wants.
var kinds = map[corev1.HostPathType]string{
	corev1.HostPathDirectory: "dir", corev1.HostPathFile: "file", corev1.HostPathSocket: "socket",
	corev1.HostPathBlockDev: "device", corev1.HostPathCharDev: "device",
}

// there looks the path up in the node's recording. A path that was not read is unknown, not
// absent.
func (h HostPath) there(view *snapshot.NodeView) (kind string, known bool) {
	name := strings.TrimPrefix(path.Clean(h.Path), "/")
	for p, f := range view.Facts.Files {
		switch {
		case p == name:
			return f.Kind, true
		case strings.HasPrefix(p, name+"/"):
			return "dir", true
		}
	}
	if len(view.MountsAt("/"+name)) > 0 || len(view.Under("/"+name)) > 0 {
		return "dir", true
	}
	return "device", view.DeviceNode("/"+name) != nil
}

// Mismatch asks whether the kubelet does not find a path of the wanted type: it says so, or
// the node's recording has something else there, which is named. What is there by now, or
// where the kubelet looks elsewhere (kubelet-in-container), is no mismatch.
func (h HostPath) Mismatch(pl *evidence.Place) (found string, said bool, is evidence.Answer) {
	fact, said := h.refused(pl.X, pl.Pod)
	if pl.View != nil {
		kind, known := h.there(pl.View)
		if known && (kind == kinds[h.Kind] || h.Kind == corev1.HostPathUnset) {
			return "", said, evidence.No()
		}
		if known {
			found = kind
		}
		if !said && known && kind != "link" && kinds[h.Kind] != "" && pl.X.Age(pl.Pod.CreationTimestamp.Time) > 2*time.Minute {
			return found, false, evidence.Yes(evidence.FromNode(pl.Node, strings.TrimPrefix(path.Clean(h.Path), "/"), kind), h.fact(pl.Pod))
		}
	}
	return found, said, evidence.When(said, fact, h.fact(pl.Pod))
}

// MadeThere asks whether a provisioner made the path on the host, and nobody looked at the node:
// a kubelet that does not find it may run in a container without it (kubelet-in-container).
func (h HostPath) MadeThere(pl *evidence.Place) evidence.Answer {
	if h.Volume == nil || snapshot.MadeBy(h.Volume.PV) == "" || pl.View != nil {
		return evidence.No()
	}
	return evidence.Unseen(pl.Probed().Lacks()...)
}

func (h HostPath) fact(pod *corev1.Pod) report.Evidence {
	object := Object(pod)
	if h.Volume != nil {
		object = "PersistentVolume " + h.Volume.PVName()
	}
	return evidence.FromAPI(object, h.field, strings.TrimSpace(h.Path+" "+string(h.Kind)))
}

// AlsoOn are the nodes on which pods of the same owner fail alike: then the manifest is wrong
// and not a node.
func (h HostPath) AlsoOn(x *snapshot.Index, pod *corev1.Pod) []string {
	owner := x.TopOwner(pod)
	if owner.Pod {
		return nil
	}
	alike := x.Memo("pods.HostPath.AlsoOn "+pod.Namespace+"/"+owner.String()+" "+h.Path, func() any {
		return evidence.Keep(x.PodsIn(pod.Namespace), func(o *corev1.Pod) bool {
			if o.Status.Phase != corev1.PodPending || x.TopOwner(o).String() != owner.String() {
				return false
			}
			_, refused := h.refused(x, o)
			return refused
		})
	}).([]*corev1.Pod)
	var out []string
	for _, o := range alike {
		if o != pod {
			out = append(out, o.Spec.NodeName)
		}
	}
	slices.Sort(out)
	return out
}
