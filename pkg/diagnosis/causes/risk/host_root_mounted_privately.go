package risk

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed host_root_mounted_privately.md
var hostRootMountedPrivatelyDoc string

// HostRootMountedPrivately finds pods that copy the host's mounts when they start
// and never hear of unmounts.
var HostRootMountedPrivately = &diagnosis.Rule{
	Name: "host-root-mounted-privately", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	Needs:   []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns")},
	LeadsTo: []string{"mount-pinned-in-namespace"},
	Doc:     hostRootMountedPrivatelyDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			for _, pod := range p.PodsOn(node) {
				if pod.Status.Phase == corev1.PodRunning {
					mountsPrivately(p, node, pod)
				}
			}
		}
	},
}

// private is a hostPath that the pod's spec mounts without propagation.
type private struct{ host, at, container string }

func mountsPrivately(p *diagnosis.Pass, node string, pod *corev1.Pod) {
	root := "/var/lib/kubelet"
	view := p.View(node)
	if view != nil {
		root = view.KubeletRoot()
	}
	hosts := privateMounts(pod, root)
	if len(hosts) == 0 {
		return
	}
	h, table := hosts[0], (*tableLine)(nil)
	if view != nil {
		seen := false
		for _, x := range hosts {
			t, read := effective(view, pod, x)
			if t != nil {
				h, table = x, t
				break
			}
			seen = seen || read
		}
		if table == nil && seen {
			return // the effective state receives unmounts
		}
	}
	f := p.Find(report.Likely, diagnosis.PodSubject(pod)).Located(node)
	f.Pod(pod)
	f.Sayf("Pod %s%s mounts %s of host %s at %s without HostToContainer. Every volume that is mounted there when it starts stays mounted in its namespace after the host has let go.",
		pod.Namespace+"/"+pod.Name, workload(p, pod), h.host, node, h.at)
	f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "spec.volumes[].hostPath.path", h.host+" at "+h.at+", mountPropagation None"))
	if table != nil {
		if held := heldIn(p, node, table.ns, h); len(held) > 0 {
			f.Sayf("Pod %s%s mounts %s of host %s at %s without HostToContainer. It has copies of the mounts of %s now; what is mounted when it starts stays mounted in its namespace after the host has let go.",
				pod.Namespace+"/"+pod.Name, workload(p, pod), h.host, node, h.at, words.List(held, 4))
		}
		f.Certainty = report.Certain
		f.Fact(diagnosis.FromNode(node, fmt.Sprintf("proc/%d/mountinfo:%d", table.ns.TablePID, table.mount.Line), table.mount.Raw))
	} else {
		f.Missing("the pod's mount table on node " + node)
	}
	f.Unless("a master: or shared: tag on this mount in the pod's mount table")
	f.Advise(remedy.Words("Set mountPropagation: HostToContainer on this mount and restart the pod in a quiet moment. A read-only mount does not help, and the image is not at fault."))
	p.Report(f)
}

// heldIn are the volumes whose mounts a namespace has below a private copy of the host.
func heldIn(p *diagnosis.Pass, node string, ns *probes.MountNamespace, h private) []string {
	var out []string
	for i := range ns.Mounts {
		below, ok := strings.CutPrefix(ns.Mounts[i].Point, strings.TrimSuffix(path.Clean(h.at), "/")+"/")
		if !ok {
			continue
		}
		if v := p.VolumeOfPath(node, path.Join(h.host, below)); v != nil && !slices.Contains(out, "volume "+v.PVName()) {
			out = append(out, "volume "+v.PVName())
		}
	}
	return out
}

// tableLine is a line of a container's own mount table.
type tableLine struct {
	ns    *probes.MountNamespace
	mount *probes.Mount
}

// effective finds the mount in the tables of the pod's containers: the line when it is
// private there, and whether any table that has it was read.
func effective(view *snapshot.NodeView, pod *corev1.Pod, h private) (line *tableLine, read bool) {
	for _, proc := range view.ProcessesOfPod(string(pod.UID)) {
		ns, m := tableEntry(view.Facts.Namespaces, proc.MntNS, h.at)
		if m == nil {
			continue
		}
		if m.Private() {
			return &tableLine{ns, m}, true
		}
		read = true
	}
	return nil, read
}

// privateMounts are the hostPaths equal to or above directories in which mounts
// come and go: the kubelet's, docker's and that of network namespaces.
func privateMounts(pod *corev1.Pod, root string) []private {
	var out []private
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		host := path.Clean("/" + v.HostPath.Path)
		if !slices.ContainsFunc([]string{root, "/var/lib/docker", "/run/netns"}, func(dir string) bool {
			return host == "/" || host == dir || strings.HasPrefix(dir, host+"/")
		}) {
			continue
		}
		for _, c := range pod.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if m.Name == v.Name && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone) {
					out = append(out, private{host: host, at: m.MountPath, container: c.Name})
				}
			}
		}
	}
	return out
}

func tableEntry(all []probes.MountNamespace, id uint64, point string) (*probes.MountNamespace, *probes.Mount) {
	for i := range all {
		if all[i].ID != id || id == 0 {
			continue
		}
		for j := range all[i].Mounts {
			if all[i].Mounts[j].Point == path.Clean(point) {
				return &all[i], &all[i].Mounts[j]
			}
		}
	}
	return nil, nil
}

func workload(p *diagnosis.Pass, pod *corev1.Pod) string {
	if o := p.TopOwner(pod); !o.Pod && o.Name != "" {
		return " of " + o.String()
	}
	return ""
}
