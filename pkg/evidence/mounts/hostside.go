package mounts

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// rootOf is the kubelet's directory on a node: of its recording, else of what a storage
// plugin there mounts from the host, else that of all nodes that were looked at, else the
// default.
func rootOf(x *snapshot.Index, node string) string {
	if v := x.View(node); v != nil {
		return v.KubeletRoot()
	}
	for _, pod := range x.PodsOn(node) {
		for _, v := range pod.Spec.Volumes {
			if v.HostPath == nil {
				continue
			}
			for _, tail := range []string{"/plugins/kubernetes.io/csi", "/plugins_registry"} {
				if root, ok := strings.CutSuffix(path.Clean(v.HostPath.Path), tail); ok && root != "" {
					return root
				}
			}
		}
	}
	elsewhere := map[string]bool{}
	for _, v := range x.NodeViews {
		elsewhere[v.KubeletRoot()] = true
	}
	if len(elsewhere) == 1 {
		return slices.Collect(maps.Keys(elsewhere))[0]
	}
	return "/var/lib/kubelet"
}

// Binds tells whether something is mounted at the pod's directory for a volume, be it a bind of a directory: always for
// CSI and local volumes (the kubelet's local plugin binds the path), never for hostPath, which a container gets itself.
func Binds(v *snapshot.Volume) bool {
	return v.Driver != "" && v.PV != nil && (v.PV.Spec.CSI != nil || v.PV.Spec.Local != nil) || !ofDirectories(v)
}

// ofDirectories tells whether a volume's driver gives pods directories of the host on
// purpose.
func ofDirectories(v *snapshot.Volume) bool {
	if v.PV != nil && (v.PV.Spec.HostPath != nil || v.PV.Spec.Local != nil) {
		return true
	}
	d := strings.ToLower(v.Driver)
	return d == "" || evidence.ContainsAny(d, "hostpath", "host-path", "local-path", "localpath", "local-volume", "localdir", "emptydir")
}

// Said are the waiting reasons and events of one pod, newest first.
func Said(x *snapshot.Index, pod *corev1.Pod) []evidence.Text {
	var out []evidence.Text
	object := "Pod " + pod.Namespace + "/" + pod.Name
	for _, s := range snapshot.Statuses(pod) {
		if w := s.State.Waiting; w != nil && w.Message != "" {
			out = append(out, evidence.Text{Source: "api", Locator: object + " status.containerStatuses[" + s.Name + "].state.waiting", Raw: w.Message, Fresh: true})
		}
		if e := s.LastTerminationState.Terminated; e != nil && e.Message != "" { // in a back-off it is all that says why
			made := s.State.Running != nil && pods.Unmade(e.Reason) // since then
			out = append(out, evidence.Text{Source: "api", Locator: object + " status.containerStatuses[" + s.Name + "].lastState.terminated", Raw: e.Message, Reason: e.Reason, At: e.FinishedAt.Time, Fresh: !made && x.Age(e.FinishedAt.Time) < 10*time.Minute})
		}
	}
	for _, e := range slices.Backward(x.Events("Pod", pod.Namespace, pod.Name)) {
		if e.ObjUID == "" || snapshot.SameUID(e.ObjUID, string(pod.UID)) {
			out = append(out, evidence.Text{Source: "event", Locator: "Event " + object + " " + e.Reason, Raw: e.Message, Reason: e.Reason, At: e.Last, Fresh: x.Fresh(e, snapshot.PodAsksSince(pod, e.Reason))})
		}
	}
	return out
}
