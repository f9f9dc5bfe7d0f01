package mount

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed kubelet_in_container.md
var kubeletInContainerDoc string

// KubeletInContainer finds kubelets whose container hides host paths or shows
// mounts twice.
var KubeletInContainer = &diagnosis.Rule{
	Name: "kubelet-in-container", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("kubelet")},
	Explains: []string{"mount-failed", "unmount-blocked", "detach-stuck", "pod-waiting-for-volume"},
	LeadsTo:  []string{"hostpath-type-mismatch", "device-mapped-on-other-node"},
	Doc:      kubeletInContainerDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range nodesOf(p, v) {
				if k, ok := containedKubelet(p.View(node)); ok {
					doubledOn(p, v, k)
				}
			}
		}
		for _, node := range p.Nodes() {
			if k, ok := containedKubelet(p.View(node)); ok {
				hiddenFrom(p, k)
			}
		}
	},
}

// contained is a kubelet with a mount namespace of its own.
type contained struct {
	view *snapshot.NodeView
	proc *probes.Process
	ns   *probes.MountNamespace
}

// containedKubelet tells whether the node's kubelet runs in a container: another
// mount namespace, and a container's control group.
func containedKubelet(view *snapshot.NodeView) (contained, bool) {
	if view == nil || view.Init == nil {
		return contained{}, false
	}
	id := view.Facts.Kubelet.MntNS
	proc := view.Process(view.Facts.Kubelet.PID)
	if id == 0 || id == view.Init.ID || proc == nil || !inContainer(proc) {
		return contained{}, false
	}
	for i := range view.Facts.Namespaces {
		if ns := &view.Facts.Namespaces[i]; ns.ID == id && ns.TablePID != 0 {
			return contained{view: view, proc: proc, ns: ns}, true
		}
	}
	return contained{}, false
}

func inContainer(proc *probes.Process) bool {
	if proc.ContainerID != "" {
		return true
	}
	for _, word := range []string{"docker", "libpod", "crio-", "cri-containerd", "kubepods", "machine.slice", "snap.", "rkt", "podruntime"} {
		if strings.Contains(proc.Cgroup, word) {
			return true
		}
	}
	return false
}

// doubledOn reports a volume that the node should have let go and that the
// kubelet's own table shows twice: it counts references there, and the count never
// becomes one (kubernetes/kubernetes#32336). The doubled view alone is normal.
func doubledOn(p *diagnosis.Pass, v *snapshot.Volume, k contained) {
	released, why := p.WantedReleased(v, k.view.Name)
	if !released || v.Block() {
		return
	}
	for _, m := range p.VolumeMounts(v, k.view.Name) {
		if m.Path.Kind != snapshot.Staging || k.view.Dead(m.Mount.Dev) || publishedBeside(p, v, k.view.Name) {
			continue
		}
		first, second := pairOf(k.ns, m.Mount)
		if second == nil {
			continue
		}
		f := p.Find(report.Certain, diagnosis.NodeSubject(k.view.Name)).On(v).Located(k.view.Name)
		f.Device(k.view.Name, m.Mount.Dev)
		f.Sayf("The kubelet of node %s (process %d) runs in a container, and its mount table shows %s of volume %s twice: at %s and at %s. "+
			"It counts these references before the last unmount, never gets down to one, and leaves %s mounted and mapped, although %s.",
			k.view.Name, k.proc.PID, diskName(k.view, m.Mount.Dev), volumeName(v), first.Point, second.Point, m.Mount.Point, why)
		f.Fact(
			tableLine(k.view.Name, k.ns, *first), tableLine(k.view.Name, k.ns, *second), tableLine(k.view.Name, k.view.Init, m.Mount),
			diagnosis.FromNode(k.view.Name, fmt.Sprintf("proc/%d/cgroup", k.proc.PID), k.proc.Cgroup),
		)
		f.Unless("a single line of the device in the kubelet's own mount table, or a pod on the node that uses the volume")
		f.Advise(remedy.Words("Unmount " + m.Mount.Point + " plainly on node " + k.view.Name + ", on the host, after a check that no process uses it; the driver can then release the device."))
		f.Advise(remedy.Words("Run the kubelet on the host instead of in a container; until then bind its directory at one path only."))
		p.Report(f)
		return
	}
}

// publishedBeside tells whether the volume is still mounted for some pod.
func publishedBeside(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	for _, m := range p.VolumeMounts(v, node) {
		if m.Path.Kind == snapshot.Publish || m.Path.Kind == snapshot.SubPath {
			return true
		}
	}
	return false
}

// pairOf finds the two places of a mount in the kubelet's table: the host's path,
// and the same path below a prefix such as /rootfs or /host.
func pairOf(ns *probes.MountNamespace, host probes.Mount) (plain, prefixed *probes.Mount) {
	for i := range ns.Mounts {
		m := &ns.Mounts[i]
		switch {
		case m.Dev != host.Dev:
		case m.Point == host.Point:
			plain = m
		case strings.HasSuffix(m.Point, host.Point):
			prefixed = m
		}
	}
	if plain == nil {
		return nil, nil
	}
	return plain, prefixed
}

// missingPath is what the kubelet says of a path that it does not see. What a
// driver's plugin or the runtime says (a gRPC error, a bind into a container) is
// about another namespace.
var missingPath = regexp.MustCompile(`path "(/[^"\s]+)" does not exist|hostPath type check failed: (/\S+) is not an? |failed to get hostpath type: stat (/[^"\s:]+)|\bstat (/[^"\s:]+): no such file or directory`)

// hiddenFrom reports a path that a text calls missing, that the host has, and that
// no bind of the kubelet's container covers.
func hiddenFrom(p *diagnosis.Pass, k contained) {
	for _, pod := range p.PodsOn(k.view.Name) {
		if !ofQuestion(p, pod) {
			continue
		}
		for _, t := range podTexts(p, pod) {
			m := missingPath.FindStringSubmatch(t.Raw)
			if m == nil || !t.Fresh || strings.Contains(t.Raw, "rpc error") || strings.Contains(t.Raw, "to rootfs") {
				continue
			}
			if at := m[1] + m[2] + m[3] + m[4]; hostHas(k.view, at) && !bound(k.ns, at) && !inKubeletRoot(k, at) {
				reportHidden(p, k, pod, at, t)
				return
			}
		}
	}
}

// ofQuestion tells whether a pod belongs to what was asked.
func ofQuestion(p *diagnosis.Pass, pod *corev1.Pod) bool {
	if p.Sweep() || p.Question.Kind == "pod" && p.Question.Namespace == pod.Namespace && p.Question.Name == pod.Name {
		return true
	}
	for _, v := range p.Volumes() {
		for _, c := range v.Consumers {
			if c.Pod == pod {
				return true
			}
		}
	}
	return false
}

// hostHas tells whether the recording shows the path on the host.
func hostHas(view *snapshot.NodeView, at string) bool {
	if f, ok := view.Facts.Files[strings.TrimPrefix(at, "/")]; ok && f.Err == "" {
		return true
	}
	if _, ok := view.NumberAt(at); ok {
		return true
	}
	if len(view.MountsAt(at)) > 0 {
		return true
	}
	for name := range view.Facts.Files {
		if strings.HasPrefix(name, strings.TrimPrefix(at, "/")+"/") {
			return true
		}
	}
	return false
}

// bound tells whether a bind from the host covers the path in the container: the
// nearest mount above it is another one than the container's own root.
func bound(ns *probes.MountNamespace, at string) bool {
	best := probes.Mount{}
	for _, m := range ns.Mounts {
		if covers(m.Point, at) && len(m.Point) > len(best.Point) {
			best = m
		}
	}
	return best.Point != "" && best.Point != "/"
}

// inKubeletRoot tells whether the kubelet's root was recorded and has the path.
func inKubeletRoot(k contained, at string) bool {
	f, ok := k.view.Facts.Files[fmt.Sprintf("proc/%d/root%s", k.proc.PID, at)]
	return ok && f.Err == ""
}

func reportHidden(p *diagnosis.Pass, k contained, pod *corev1.Pod, at string, t diagnosis.Text) {
	f := p.Find(report.Certain, diagnosis.NodeSubject(k.view.Name)).Located(k.view.Name)
	f.Pod(pod)
	for _, v := range p.VolumesOfPod(pod) {
		f.On(v)
	}
	f.Sayf("The kubelet of node %s (process %d) runs in a container that does not have %s from the host: no bind in its mount table covers the path. The host has it, so an administrator sees it and the kubelet of pod %s does not.",
		k.view.Name, k.proc.PID, at, podName(pod))
	f.Fact(t.Evidence(),
		diagnosis.FromNode(k.view.Name, fmt.Sprintf("proc/%d/mountinfo", k.proc.PID), "no mount at or above "+at+" besides the container's root"),
		diagnosis.FromNode(k.view.Name, fmt.Sprintf("proc/%d/cgroup", k.proc.PID), k.proc.Cgroup))
	f.Unless("the path in the kubelet's own root")
	f.Advise(remedy.Words(fmt.Sprintf("Bind the path into the kubelet's container (RKE: services.kubelet.extra_binds \"%s:%s:rshared\") and restart the kubelet; in the long run run the kubelet on the host.", at, at)))
	p.Report(f)
}
