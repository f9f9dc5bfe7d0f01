package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed csi_plugin_not_registered.md
var csiPluginNotRegisteredDoc string

// CSIPluginNotRegistered finds a plugin pod that is on the node while the kubelet
// does not know the driver.
var CSIPluginNotRegistered = &diagnosis.Rule{
	Name: "csi-plugin-not-registered", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns"), diagnosis.Probe("kubelet")},
	Explains: []string{"attach-failed", "mount-failed", "pod-waiting-for-volume", "pod-stuck-terminating", "unmount-blocked"},
	YieldsTo: []string{"driver-not-installed", "kubelet-root-dir-wrong", "mount-propagation-off", "longhorn-control-plane-down", "node-watch-limit-reached"},
	Offers:   []string{"delete-pod"},
	Doc:      csiPluginNotRegisteredDoc,
	Run:      pluginNotRegistered,
}

// socketForm is what a kubelet says when it knows a driver whose socket is dead.
var socketForm = regexp.MustCompile(`dial unix \S+: connect: (connection refused|no such file or directory)`)

func pluginNotRegistered(p *diagnosis.Pass) {
	for _, u := range driverUses(p) {
		plugin := p.DriverPodOn(u.Driver, u.Node)
		if plugin == nil || finished(plugin) || p.Collected("/nodes") && !p.NodeReady(u.Node).Ready || u.Unscheduled {
			continue
		}
		r := registered(p, u.Node, u.Driver)
		switch {
		case r.Known && !r.Registered:
			reportNotRegistered(p, u, plugin, r)
		case !snapshot.PodReady(plugin):
			reportDeadSocket(p, u, plugin)
		case !r.Known:
			p.Has("storage.k8s.io/csinodes")
		}
	}
}

func reportNotRegistered(p *diagnosis.Pass, u *driverUse, plugin *corev1.Pod, r registration) {
	roots := kubelet.RootsOf(&evidence.Place{X: p.Index, Node: u.Node, View: p.View(u.Node)}, u.Driver, plugin)
	if roots.Differ.Yes() {
		return // it registers where the kubelet does not look: kubelet-root-dir-wrong
	}
	f := u.keyed(p.Find(report.Certain, diagnosis.PodSubject(plugin)))
	f.Pod(plugin)
	f.Fact(r.Evidence, diagnosis.FromAPI(podFact(plugin)))
	state := pluginState(p, plugin)
	started := startedAt(plugin)
	switch {
	case crashing(plugin):
	case started.IsZero() && p.Age(plugin.CreationTimestamp.Time) < young:
		f.Waiting = true // its containers have not started: that, and nothing else, is why
	case !started.IsZero() && p.Age(started) < startup && !flapping(plugin):
		f.Certainty, f.Waiting = report.Possible, true
	case snapshot.PodReady(plugin) && !roots.Seen.Yes():
		// A plugin that is content and unknown may serve under another root.
		p.Probed(u.Node)
		f.Missing("the root directory of the kubelet on node " + u.Node + ", which would tell whether the plugin registers where the kubelet looks")
	}
	if f.Waiting {
		state += "; wait until it has started and registered, within two minutes of its start"
	}
	f.Sayf("The node-plugin pod %s of driver %s is on node %s, but the kubelet there does not know the driver: %s. The pod %s.%s%s",
		podName(plugin), u.Driver, u.Node, r.Words, state, registrySocket(p, f, u), u.sentence(p))
	f.Unless("the driver being registered on node " + u.Node + ", or a kubelet root that differs from the plugin's")
	f.Fact(driverTexts(p, u)...)
	if f.Waiting {
		f.Advise(remedy.Words("Wait: the kubelet tries again at least every two minutes and succeeds as soon as the driver has registered."))
	} else {
		adviseRegistration(p, f, u, plugin)
	}
	p.Report(f)
}

// reportDeadSocket handles a driver that the kubelet still knows while its plugin is
// not Ready: the calls end at its socket. Only a fresh word of the kubelet shows it.
func reportDeadSocket(p *diagnosis.Pass, u *driverUse, plugin *corev1.Pod) {
	for _, v := range u.Volumes {
		t, ok := textAbout(p, v, u.Node, socketForm)
		if !ok || !t.Fresh {
			continue
		}
		f := u.keyed(p.Find(report.Likely, diagnosis.PodSubject(plugin)))
		f.Pod(plugin)
		f.Fact(t.Evidence(), diagnosis.FromAPI(podFact(plugin)))
		f.Sayf("The node-plugin pod %s of driver %s on node %s is not Ready, and the kubelet finds nobody at the driver's socket. The pod %s.%s",
			podName(plugin), u.Driver, u.Node, pluginState(p, plugin), u.sentence(p))
		f.Unless("the plugin pod being Ready")
		adviseRegistration(p, f, u, plugin)
		p.Report(f)
		return
	}
}

func (u *driverUse) sentence(p *diagnosis.Pass) string {
	if c := u.consequence(p); c != "" {
		return " Held up" + c + "."
	}
	return ""
}

// pluginState says how the plugin pod does: waiting reasons, restarts, age.
func pluginState(p *diagnosis.Pass, pod *corev1.Pod) string {
	var parts []string
	for _, c := range pod.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil:
			parts = append(parts, fmt.Sprintf("container %s is waiting (%s)", c.Name, c.State.Waiting.Reason))
		case c.State.Terminated != nil:
			parts = append(parts, fmt.Sprintf("container %s ended (%s, exit code %d)", c.Name, c.State.Terminated.Reason, c.State.Terminated.ExitCode))
		case !c.Ready:
			parts = append(parts, fmt.Sprintf("container %s is not ready", c.Name))
		case c.RestartCount > 0:
			parts = append(parts, fmt.Sprintf("container %s restarted %d times", c.Name, c.RestartCount))
		}
	}
	age := ago(p, pod.CreationTimestamp.Time)
	if len(parts) == 0 {
		return "is " + age + " old and runs"
	}
	return fmt.Sprintf("is %s old: %s", age, strings.Join(parts, ", "))
}

func crashing(pod *corev1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.RestartCount > 0 && c.State.Running == nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

// flapping tells whether a container starts over and over, each time for a short while:
// that it started a moment ago is then no reason to wait.
func flapping(pod *corev1.Pod) bool {
	const often = 3
	for _, c := range pod.Status.ContainerStatuses {
		last := c.LastTerminationState.Terminated
		if c.RestartCount >= often && last != nil && last.FinishedAt.Sub(last.StartedAt.Time) < young {
			return true
		}
	}
	return false
}

// registrySocket reads from a recording whether the registrar serves its socket.
func registrySocket(p *diagnosis.Pass, f *diagnosis.Finding, u *driverUse) string {
	view := p.View(u.Node)
	if view == nil || view.Facts.Kubelet.RootFrom == "default" && len(view.Facts.Kubelet.Registry) == 0 {
		return ""
	}
	for _, s := range view.Facts.Kubelet.Registry {
		if strings.Contains(s, u.Driver) {
			f.Fact(diagnosis.FromNode(u.Node, strings.TrimPrefix(s, "/"), "socket"))
			return " Its registration socket is where the kubelet looks, so the kubelet did not register it or dropped the entry when the plugin restarted."
		}
	}
	return " No registration socket of the driver is in " + view.KubeletRoot() + "/plugins_registry: the registrar does not serve."
}

func adviseRegistration(p *diagnosis.Pass, f *diagnosis.Finding, u *driverUse, plugin *corev1.Pod) {
	f.Advise(remedy.Words(fmt.Sprintf("Read the logs of pod %s (the registrar's container and the driver's) and cure what they say.", podName(plugin))))
	// A new pod of one that is not ready would fail as this one does; and an event alone, which
	// a tenant can write, ends no node plugin.
	if snapshot.PodReady(plugin) && !listed(p, u.Node, u.Driver).Registered {
		s := remedy.DeletePod(plugin).Note("It registers again when it starts.")
		s.Verify = []remedy.Command{remedy.Kubectl("get", "csinode", u.Node, "-o", "jsonpath={.spec.drivers[*].name}")}
		f.Advise(s)
	}
}
