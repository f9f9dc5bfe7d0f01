package csi

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Unknown asks whether the kubelet of the place's node does not know a driver whose
// plugin is there. A socket in the registry is no registration: where CSINode lacks the
// driver the kubelet has not taken it, or has dropped it when the plugin restarted.
func Unknown(pl *evidence.Place, driver string) evidence.Answer {
	if copied := Listed(pl.X, pl.Node, driver); !copied.Yes() {
		return evidence.Not(copied)
	}
	return NotRegistered(pl, pl.Node, driver)
}

// Borne asks whether anything but words, which who may write events can write, shows that
// the kubelet does not know a driver: its plugin, CSINode, or the registry.
func Borne(pl *evidence.Place, driver string, plugin *corev1.Pod) evidence.Answer {
	if !snapshot.PodReady(plugin) || !Listed(pl.X, pl.Node, driver).Yes() || inRegistry(pl.X.View(pl.Node), driver).No() {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "the kubelet's list of drivers", Node: pl.Node, Why: "CSINode has the driver, and only an event says that the kubelet does not know it"})
}

// Registrar says in words whether the registrar's socket lies where the kubelet looks;
// empty where that was not read.
func Registrar(pl *evidence.Place, driver string) (words string, fact report.Evidence) {
	if pl.View == nil || pl.View.Facts.Kubelet.RootFrom == "default" && len(pl.View.Facts.Kubelet.Registry) == 0 {
		return "", report.Evidence{}
	}
	for _, s := range pl.View.Facts.Kubelet.Registry {
		if registers(s, driver) {
			return "Its registration socket is where the kubelet looks, so the kubelet did not register it or dropped the entry when the plugin restarted.",
				evidence.FromNode(pl.Node, strings.TrimPrefix(s, "/"), "socket")
		}
	}
	return "No registration socket of the driver is in " + pl.View.KubeletRoot() + "/plugins_registry: the registrar does not serve.", report.Evidence{}
}

// young is how long a pod may take until its containers run, its image included.
const young = 5 * time.Minute

// Starting tells whether a plugin only needs time: its containers have not started, or
// did a moment ago and have not ended over and over. Where the node came back a moment ago
// they ended with it, and start as those of a new pod do.
func Starting(x *snapshot.Index, plugin *corev1.Pod) bool {
	if slices.ContainsFunc(plugin.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return snapshot.Hindered(c) != "" }) {
		return false
	}
	made := plugin.CreationTimestamp.Time
	for _, c := range plugin.Status.ContainerStatuses {
		last := c.LastTerminationState.Terminated
		if ended := cmp.Or(c.State.Terminated, last); c.State.Running == nil && snapshot.Hindered(c) == "" && ended != nil && endedWithNode(x, plugin, ended) {
			made = x.NodeReady(plugin.Spec.NodeName).Since
			continue
		}
		crashed := c.RestartCount > 0 && c.State.Running == nil || c.State.Terminated != nil
		flaps := c.RestartCount >= 3 && last != nil && last.FinishedAt.Sub(last.StartedAt.Time) < young
		if crashed || flaps || snapshot.Hindered(c) != "" {
			return false
		}
	}
	if at := Started(plugin); !at.IsZero() {
		return x.Age(at) < Startup
	}
	return x.Age(made) < young
}

// endedWithNode tells whether a container that has not been tried again yet ended before its node became
// Ready, and that was a moment ago: a reboot, not a crash.
func endedWithNode(x *snapshot.Index, pod *corev1.Pod, ended *corev1.ContainerStateTerminated) bool {
	back := x.NodeReady(pod.Spec.NodeName)
	return back.Ready && x.Age(back.Since) < young && ended.FinishedAt.Time.Before(back.Since)
}

// Deaf asks whether the calls of a volume of the place end at the driver's socket: nobody
// listens there, or nobody answers; a process of the plugin that is stopped answers none. A plugin that started since, or a volume of the driver
// that a pod got there since, refutes it.
func Deaf(pl *evidence.Place, driver string, plugin *corev1.Pod) evidence.Answer {
	for _, t := range pl.Refused() {
		own := strings.Contains(t.Raw, driver) || strings.Contains(t.Raw, "csi.sock") || strings.Contains(t.Raw, "code = Unavailable")
		if t.Node != "" && t.Node != pl.Node || !t.Is(message.SocketRefused) || !own || beside(t) || !snapshot.OwnSocket(plugin, t.Raw) && twice(pl, driver, plugin).No() {
			continue
		}
		if at := Started(plugin); !at.IsZero() && !t.At.After(at) {
			return evidence.No()
		}
		if pod := servedSince(pl, driver, t.At); pod != nil {
			return evidence.No(evidence.FromPod(pod, "status", "started with a volume of the driver since"))
		}
		return evidence.Yes(t.Evidence())
	}
	return Halted(pl, plugin)
}

// SocketGone asks whether the socket at which a call of the kubelet ended is not there, while the
// directory in which the plugin made it is, with no other: somebody removed the file, and who listens
// on it cannot be called any more (unix(7)). An event alone, which a tenant can write, names any file.
func SocketGone(pl *evidence.Place, plugin *corev1.Pod) evidence.Answer {
	for _, t := range pl.Refused() {
		at := dialed(t)
		if at == "" || !t.Is(message.NoSuchFile) || beside(t) || t.Node != "" && t.Node != pl.Node || !snapshot.OwnSocket(plugin, t.Raw) {
			continue
		}
		whole := pl.Tables(probes.KubeletDirs)
		if !whole.Complete() {
			return evidence.Unseen(whole.Lacks()...)
		}
		k, dir := pl.View.Facts.Kubelet, path.Dir(at)
		serves := slices.ContainsFunc(k.Sockets, func(s string) bool { return path.Dir(s) == dir })
		return evidence.When(slices.Contains(k.PluginDirs, dir) && !serves, evidence.FromNode(pl.Node, strings.TrimPrefix(dir, "/"), "no "+path.Base(at)))
	}
	return evidence.No()
}

// Elsewhere is the socket at which the kubelet calls a driver although its plugin has another, and what shows
// that two plugins of its name registered: the first ended without a farewell, and the kubelet refuses the later
// (ValidatePlugin, pkg/volume/csi/csi_plugin.go). The text alone may be of a driver that calls its neighbour.
func Elsewhere(pl *evidence.Place, driver string, plugin *corev1.Pod) (socket string, is evidence.Answer) {
	for _, t := range pl.Refused() {
		if at := dialed(t); at != "" && t.Is(message.SocketRefused) && !beside(t) && (t.Node == "" || t.Node == pl.Node) && !snapshot.OwnSocket(plugin, t.Raw) {
			return at, twice(pl, driver, plugin)
		}
	}
	return "", evidence.No()
}

// twice asks whether two plugins registered one driver at the kubelet of the place's node.
func twice(pl *evidence.Place, driver string, plugin *corev1.Pod) evidence.Answer {
	if pl.View != nil {
		r := evidence.Keep(pl.View.Facts.Kubelet.Registry, func(s string) bool { return registers(s, driver) })
		if len(r) > 1 {
			return evidence.Yes(evidence.FromNode(pl.Node, strings.TrimPrefix(path.Dir(r[0]), "/"), strings.Join(evidence.Each(r, path.Base), " ")))
		}
	}
	for l := range evidence.Lines(pl.X.LogsOf(plugin.Namespace, plugin.Name)) {
		if strings.Contains(l.Text, "Another driver with the same name is already registered") {
			return evidence.Yes(l.Evidence())
		}
	}
	return evidence.No()
}

// dialed is the path of the socket at which a call ended; empty where a text names none.
func dialed(t evidence.Text) string {
	_, at, _ := strings.Cut(t.Raw, "dial unix ")
	at, _, cut := strings.Cut(at, ": ")
	if !cut {
		return ""
	}
	return at
}

// Halted asks whether a process of a plugin is stopped by a signal or a debugger: it can be ended.
func Halted(pl *evidence.Place, plugin *corev1.Pod) evidence.Answer {
	return inState(pl, plugin, "T", "t")
}

// beside tells whether a text is of calls that never end at the plugin's socket: the controller's side has one of its
// own, and who makes pods and containers those of the runtime and of its network.
func beside(t evidence.Text) bool {
	return t.OfContainer() || t.Reason == "attachError" || t.Reason == "detachError" || t.Reason == "FailedAttachVolume" || t.Component == "attachdetach-controller"
}

// servedSince is a pod of the node that started with a volume of the driver after a moment.
func servedSince(pl *evidence.Place, driver string, at time.Time) *corev1.Pod {
	for _, v := range pl.X.VolumesOn(pl.Node) {
		if v.CSIName() != driver {
			continue
		}
		for _, c := range v.LiveConsumersOn(pl.Node) {
			for _, s := range c.Pod.Status.ContainerStatuses {
				if r := s.State.Running; r != nil && r.StartedAt.After(at) && s.RestartCount == 0 {
					return c.Pod
				}
			}
		}
	}
	return nil
}

// Stopped asks whether a process of a plugin is stopped, or waits inside the kernel.
func Stopped(pl *evidence.Place, plugin *corev1.Pod) evidence.Answer {
	if r := pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	if a := inState(pl, plugin, "T", "t", "D"); a.Yes() {
		return a
	}
	return evidence.Unseen(evidence.Lack{Need: "a process of pod " + plugin.Namespace + "/" + plugin.Name + " that is stopped or hangs", Node: pl.Node, Why: "none is"})
}

// Down asks whether a container of a plugin that is no sidecar of the kubelet's is kept from running now, over and over:
// who listens at the driver's socket runs in it. Where another one runs (csi-addons, a proxy, a daemon), either may be who does.
func Down(plugin *corev1.Pod) evidence.Answer {
	down := evidence.No()
	for _, c := range plugin.Status.ContainerStatuses {
		switch {
		case pods.Beside(c.Name):
		case snapshot.Hindered(c) == "":
			return evidence.No()
		case !down.Yes():
			down = evidence.Yes(evidence.FromPod(plugin, "status.containerStatuses["+c.Name+"].state.waiting.reason", c.State.Waiting.Reason))
		}
	}
	return down
}

// inState asks whether a process of a plugin was seen in one of these states: proc_pid_stat(5).
func inState(pl *evidence.Place, plugin *corev1.Pod, states ...string) evidence.Answer {
	if pl.View == nil {
		return evidence.No()
	}
	for _, p := range pl.View.ProcessesOfPod(string(plugin.UID)) {
		if slices.Contains(states, p.State) {
			return evidence.Yes(evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/stat", p.PID), strings.TrimSpace(p.Comm+" "+p.State+" "+p.WChan)))
		}
	}
	return evidence.No()
}

// ToRelease asks whether the driver has to let the place's volume go from the node: a pod of it there or its
// attachment is being deleted, or a pod elsewhere waits for a volume of one node.
func ToRelease(pl *evidence.Place) evidence.Answer {
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if c.Terminating() {
			return evidence.Yes(evidence.FromPod(c.Pod, "metadata.deletionTimestamp", c.Pod.DeletionTimestamp.UTC().Format(time.RFC3339)))
		}
	}
	va := pl.Volume.AttachmentOn(pl.Node)
	if va == nil {
		return evidence.No()
	}
	if d := va.DeletionTimestamp; d != nil {
		return evidence.Yes(evidence.FromAPI(vaObject(va), "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)))
	}
	away := slices.ContainsFunc(pl.Volume.Waiting(), func(c *snapshot.Consumer) bool { return c.Node() != pl.Node })
	return evidence.When(pl.Volume.Exclusive() && away, evidence.FromAPI(vaObject(va), "spec.nodeName", pl.Node))
}
