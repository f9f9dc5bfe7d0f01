package longhorn

import (
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Dialled are the pods whose address is dialled for a volume: its share-manager, and the
// instance-managers of the engine's node and of every replica's node (an engine dials
// them all).
func Dialled(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	if pod := x.ShareManagerPod(v); pod != nil && v.RegularRWX() {
		out = append(out, pod)
	}
	engines := evidence.Each(v.Longhorn.Engines, func(e *snapshot.LHEngine) string { return e.NodeID })
	replicas := evidence.Each(v.Longhorn.Replicas, func(r *snapshot.LHReplica) string { return r.NodeID })
	for _, node := range slices.Concat(x.DeviceNodes(v), WantedNodes(v), engines, replicas) {
		for _, im := range x.InstanceManagersOn(node) {
			if pod := x.Pod(im.Namespace, im.Name); pod != nil && !slices.Contains(out, pod) {
				out = append(out, pod)
			}
		}
	}
	return out
}

// FirstIP is the address of a pod that its peers dial.
func FirstIP(pod *corev1.Pod) string {
	if len(pod.Status.PodIPs) > 0 {
		return pod.Status.PodIPs[0].IP
	}
	return pod.Status.PodIP
}

// Unserved asks whether a volume that somebody wants, or that Longhorn tries to attach,
// is not served by a component: the share-manager, else the engine.
func Unserved(x *snapshot.Index, v *snapshot.Volume, share bool) evidence.Answer {
	if sm := v.Longhorn.ShareManager; share && sm != nil {
		return evidence.When(sm.State != "running", evidence.FromAPI("ShareManager "+sm.Name, "status.state", OrNone(sm.State)))
	}
	e := x.EngineActive(v)
	switch {
	case e == nil && !share:
		return evidence.No()
	case e == nil:
		return evidence.Yes()
	case share:
		return evidence.When(WantedFor(x, v) > 0, evidence.FromAPI("Volume "+v.Handle, "status.state", OrNone(v.LH().Status.State)))
	}
	wanted := WantedFor(x, v) > 0 || v.LH().NodeID != "" || e.DesireState == "running"
	return evidence.When(wanted && e.CurrentState != "running", evidence.FromAPI("Engine "+e.Name, "status.currentState", OrNone(e.CurrentState)))
}

// Glued asks for a fresh text about the volume, or line of a Longhorn pod, that shows an
// IPv6 address joined with a port without brackets: "[fd00::2e:9600]:443",
// "fd00::2e:10015: too many colons in address".
func Glued(pl *evidence.Place, pod *corev1.Pod) evidence.Answer {
	ip := FirstIP(pod)
	if net.ParseIP(ip) == nil || !strings.Contains(ip, ":") {
		return evidence.No()
	}
	if said := pl.Texts.Say(func(t evidence.Text) bool { return t.Fresh && glued(pl.X, t.Raw, ip) }); said.Yes() {
		return said
	}
	for l := range evidence.Lines(pl.X.Logs) {
		if l.Namespace == pod.Namespace && glued(pl.X, l.Text, ip) && !ofAnother(pl, l.Text) && l.Within(pl.X, freshFor) {
			return evidence.Yes(l.Evidence())
		}
	}
	return evidence.No()
}

// Spelled asks whether those who dial the volume's share-manager have spoken of late: where
// its address is an IPv6 one, only their words tell that nobody glues a port to it.
func Spelled(pl *evidence.Place) evidence.Answer {
	pod := pl.X.ShareManagerPod(pl.Volume)
	if pod == nil || !strings.Contains(FirstIP(pod), ":") {
		return evidence.Yes()
	}
	for l := range evidence.Lines(pl.X.Logs) {
		if l.Namespace == pod.Namespace && l.Within(pl.X, freshFor) {
			return evidence.Yes()
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "logs", Why: "whether Longhorn writes the share-manager's IPv6 address rightly"})
}

// glued tells whether a text has the address with a port as its last group. What is
// another pod's address whole is not meant.
func glued(x *snapshot.Index, text, ip string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, ip+":")
		if !ok {
			return false
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		port, next := after[:digits], after[digits:]
		inside := strings.HasSuffix(before, "[") && strings.HasPrefix(next, "]")
		bare := !strings.HasSuffix(before, "[") && (digits == 5 || strings.Contains(text, "too many colons"))
		begins := before == "" || !strings.ContainsRune("0123456789abcdef:", rune(before[len(before)-1]))
		if digits >= 2 && digits <= 5 && begins && (inside || bare) && !isPod(x, ip+":"+port) {
			return true
		}
		rest = after
	}
}

func isPod(x *snapshot.Index, ip string) bool {
	return slices.ContainsFunc(x.Cluster.Pods, func(p *corev1.Pod) bool { return p.Status.PodIP == ip })
}

// ofAnother tells whether a line names the engine or replica of another volume.
func ofAnother(pl *evidence.Place, line string) bool {
	if strings.Contains(line, pl.Volume.Handle) {
		return false
	}
	return slices.ContainsFunc(pl.X.Cluster.Longhorn.Volumes, func(v *snapshot.LHVolume) bool { return v.Name != pl.Volume.Handle && strings.Contains(line, v.Name) })
}
