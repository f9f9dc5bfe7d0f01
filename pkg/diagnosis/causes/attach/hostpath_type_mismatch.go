package attach

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed hostpath_type_mismatch.md
var hostpathTypeMismatchDoc string

// HostpathTypeMismatch finds paths of hostPath and local volumes that are not on the
// node, or are something else there.
var HostpathTypeMismatch = &diagnosis.Rule{
	Name: "hostpath-type-mismatch", Layer: diagnosis.Attach, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"kubelet-in-container", "local-disk-not-mounted"},
	Doc:      hostpathTypeMismatchDoc,
	Run: func(p *diagnosis.Pass) {
		for _, pod := range pathPods(p) {
			for _, w := range hostPaths(p, pod) {
				pathMismatch(p, w)
			}
		}
	},
}

// wantedPath is a path of the host that a waiting pod wants.
type wantedPath struct {
	pod    *corev1.Pod
	volume *snapshot.Volume // of a local or hostPath PV; nil for the pod's own spec
	name   string           // of the volume in events
	path   string
	kind   corev1.HostPathType
	field  string
}

// The words of pkg/volume/hostpath and pkg/volume/local of Kubernetes.
var pathWords = regexp.MustCompile(`hostPath type check failed: (\S+) is not an? ([a-z ]+)|path "([^"]+)" does not exist|MountVolume\.NewMounter initialization failed for volume "[^"]+" : path "?([^" ]+)"? does not exist`)

// pathPods are the pods of the question that wait on a node.
func pathPods(p *diagnosis.Pass) []*corev1.Pod {
	var out []*corev1.Pod
	add := func(pod *corev1.Pod) {
		if pod != nil && pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending && !slices.Contains(out, pod) {
			out = append(out, pod)
		}
	}
	for _, pod := range askedPods(p) {
		add(pod)
	}
	for _, v := range p.Volumes() {
		for _, c := range v.Waiting() {
			add(c.Pod)
		}
	}
	return out
}

func hostPaths(p *diagnosis.Pass, pod *corev1.Pod) []wantedPath {
	var out []wantedPath
	for _, vol := range pod.Spec.Volumes {
		if h := vol.HostPath; h != nil {
			w := wantedPath{pod: pod, name: vol.Name, path: h.Path, field: "spec.volumes[" + vol.Name + "].hostPath"}
			if h.Type != nil {
				w.kind = *h.Type
			}
			out = append(out, w)
		}
	}
	for _, v := range p.VolumesOfPod(pod) {
		switch {
		case v.PV == nil:
		case v.PV.Spec.Local != nil:
			out = append(out, wantedPath{pod, v, v.PV.Name, v.PV.Spec.Local.Path, corev1.HostPathUnset, "spec.local.path"})
		case v.PV.Spec.HostPath != nil:
			w := wantedPath{pod: pod, volume: v, name: v.PV.Name, path: v.PV.Spec.HostPath.Path, field: "spec.hostPath"}
			if v.PV.Spec.HostPath.Type != nil {
				w.kind = *v.PV.Spec.HostPath.Type
			}
			out = append(out, w)
		}
	}
	return out
}

// refusedPath is the kubelet's fresh refusal of exactly this path.
func (w wantedPath) refused(p *diagnosis.Pass) (report.Evidence, bool) {
	events := p.Events("Pod", w.pod.Namespace, w.pod.Name)
	for _, e := range slices.Backward(events) {
		m := pathWords.FindStringSubmatch(e.Message)
		if m == nil || !p.Fresh(e, w.pod.CreationTimestamp.Time) || e.ObjUID != "" && !strings.EqualFold(e.ObjUID, string(w.pod.UID)) {
			continue
		}
		for _, g := range []string{m[1], m[3], m[4]} {
			if g == w.path || g != "" && path.Clean(g) == path.Clean(w.path) {
				return report.Evidence{Source: "event", Node: e.Host, Locator: "Event Pod " + podName(w.pod) + " " + e.Reason, Text: e.Message}, true
			}
		}
	}
	return report.Evidence{}, false
}

// kinds are what a recording calls the entries that each hostPath type wants.
var kinds = map[corev1.HostPathType]string{
	corev1.HostPathDirectory: "dir", corev1.HostPathFile: "file", corev1.HostPathSocket: "socket",
	corev1.HostPathBlockDev: "device", corev1.HostPathCharDev: "device",
}

// there looks the path up in the node's recording, through the kubelet's root when it
// has one of its own. A path that was not read is unknown, not absent.
func (w wantedPath) there(view *snapshot.NodeView) (kind string, known bool) {
	name := strings.TrimPrefix(path.Clean(w.path), "/")
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
	if d := view.DeviceNode("/" + name); d != nil {
		return "device", true
	}
	return "", false
}

func pathMismatch(p *diagnosis.Pass, w wantedPath) {
	said, ok := w.refused(p)
	node := w.pod.Spec.NodeName
	found := ""
	if view := p.View(node); view != nil {
		kind, known := w.there(view)
		if known && (kind == kinds[w.kind] || w.kind == corev1.HostPathUnset) {
			return // it is there by now, or the kubelet looks elsewhere (kubelet-in-container)
		}
		if known {
			found = " The node has a " + kind + " there."
		}
		if !ok && known && kind != "link" && kinds[w.kind] != "" && p.Age(w.pod.CreationTimestamp.Time) > 2*time.Minute {
			ok, said = true, diagnosis.FromNode(node, strings.TrimPrefix(path.Clean(w.path), "/"), kind)
		}
	}
	if !ok {
		return
	}
	subject, object := diagnosis.PodSubject(w.pod), "Pod "+podName(w.pod)
	if w.volume != nil {
		subject, object = diagnosis.ObjectSubject("PersistentVolume", "", w.volume.PVName()), "PersistentVolume "+w.volume.PVName()
	}
	f := p.Find(report.Certain, subject).On(w.volume).Located(node).Fact(said)
	f.Pod(w.pod)
	want := "a path that exists"
	if w.kind != "" {
		want = "type " + string(w.kind)
	}
	how := " The message says \"is not a …\" for an absent path, too."
	if said.Source == "node" {
		how = ""
	}
	f.Sayf("Volume %s of pod %s wants %s of node %s (%s), and the kubelet does not find that: the path is absent or something else.%s%s%s",
		w.name, podName(w.pod), w.path, node, want, how, found, alsoOn(p, w))
	f.Fact(diagnosis.FromAPI(object, w.field, strings.TrimSpace(w.path+" "+string(w.kind))))
	f.Unless("the path with the wanted type on the node, as the kubelet sees it")
	f.Advise(w.advice(node))
	p.Report(f)
}

// alsoOn counts the pods of the same owner that fail alike: then the manifest is
// wrong and not a node.
func alsoOn(p *diagnosis.Pass, w wantedPath) string {
	var nodes []string
	owner := p.TopOwner(w.pod)
	for _, o := range p.Cluster.Pods {
		if o == w.pod || o.Namespace != w.pod.Namespace || o.Status.Phase != corev1.PodPending || owner.Pod || p.TopOwner(o).String() != owner.String() {
			continue
		}
		x := w
		x.pod = o
		if _, ok := x.refused(p); ok {
			nodes = append(nodes, o.Spec.NodeName)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf(" Other pods of %s fail alike on %s: the manifest expects paths of another distribution.", owner, strings.Join(nodes, ", "))
}

func (w wantedPath) advice(node string) remedy.Step {
	if w.volume != nil {
		return remedy.Words("Mount or create " + w.path + " on node " + node + ", or bind the claim to a volume on a node that has it. An empty directory in place of a disk that is not mounted would hide the data: look at the node's disks first.")
	}
	return remedy.Words("Correct the path in the manifest, or create it on the nodes that shall have it and keep the pod off the others (node selector). The type DirectoryOrCreate is right only if an empty directory will do.")
}
