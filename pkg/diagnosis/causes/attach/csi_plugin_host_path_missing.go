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
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed csi_plugin_host_path_missing.md
var csiPluginHostPathMissingDoc string

// CSIPluginHostPathMissing finds plugins whose container lacks a path or namespace of
// the host that its tools wait for.
var CSIPluginHostPathMissing = &diagnosis.Rule{
	Name: "csi-plugin-host-path-missing", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("process")},
	Explains: []string{"mount-failed", "volume-hung", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-link-missing"},
	Doc:      csiPluginHostPathMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			seen := map[string]bool{}
			for _, w := range v.Waiting() {
				node := w.Node()
				plugin := p.DriverPodOn(v.CSIName(), node)
				if plugin == nil || seen[node] {
					continue
				}
				seen[node] = true
				if view := p.View(node); view != nil {
					pathMissing(p, v, plugin, view)
				} else {
					pathPerhaps(p, v, plugin, node)
				}
			}
		}
	},
}

// needs are what tools that wait for the kernel's devices cannot do without.
var toolNeeds = map[string][]string{
	"rbd":      {"/dev", "/run/udev"},
	"udevadm":  {"/run/udev"},
	"iscsiadm": {"/dev"},
	"nvme":     {"/dev"},
}

// stuckTool is a process of the plugin that has waited for minutes.
func stuckTool(p *diagnosis.Pass, plugin *corev1.Pod, view *snapshot.NodeView) *probes.Process {
	for _, q := range view.ProcessesOfPod(string(plugin.UID)) {
		if _, ok := toolNeeds[q.Comm]; ok && !q.Started.IsZero() && p.Age(q.Started) > 2*time.Minute && (q.State == "S" || q.State == "D") {
			return q
		}
	}
	return nil
}

// sees tells whether a container of the plugin mounts a path of the host, or one above it.
func sees(plugin *corev1.Pod, want string) bool {
	for _, v := range plugin.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		host := path.Clean(v.HostPath.Path)
		if host != want && host != "/" && !strings.HasPrefix(want, host+"/") && !(want == "/run/udev" && (host == "/var/run" || host == "/var/run/udev")) {
			continue
		}
		for _, c := range plugin.Spec.Containers {
			if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name }) {
				return true
			}
		}
	}
	return false
}

func pathMissing(p *diagnosis.Pass, v *snapshot.Volume, plugin *corev1.Pod, view *snapshot.NodeView) {
	q := stuckTool(p, plugin, view)
	if q == nil {
		return
	}
	var missing []string
	for _, want := range toolNeeds[q.Comm] {
		if !sees(plugin, want) {
			missing = append(missing, want)
		}
	}
	d, found := p.DeviceOn(v, view.Name)
	if len(missing) == 0 || !found || d.Block == nil || len(view.Uses(d.Dev)) > 0 {
		return // the kernel itself has not made the device: it hangs elsewhere
	}
	subject, owner := pluginOwner(p, v, plugin)
	f := p.Find(report.Likely, subject).On(v).Located(view.Name)
	f.Pod(plugin)
	f.Device(view.Name, d.Dev)
	for _, w := range v.WaitingOn(view.Name) {
		f.Pod(w.Pod)
	}
	command := strings.Join(q.Cmdline, " ")
	if command == "" {
		command = q.Comm
	}
	f.Sayf("In the plugin pod %s on node %s the process %d (%s) has waited for %s, while the kernel has had the device %s (%s) all the time, free and unused. The plugin's container lacks %s of the host, for which the tool waits; %s must mount it. On the host the same command ends.",
		podName(plugin), view.Name, q.PID, q.Comm, ago(p, q.Started), d.Block.Name, d.Dev, strings.Join(missing, " and "), owner)
	f.Fact(
		diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/cmdline", q.PID), command),
		diagnosis.FromNode(view.Name, d.Locator, d.How),
		diagnosis.FromAPI("Pod "+podName(plugin), "spec.volumes[].hostPath", hostPathList(plugin)),
	)
	if q.WChan != "" {
		f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/wchan", q.PID), q.WChan))
	}
	for _, t := range p.Texts(v) {
		if t.Fresh && t.Node == view.Name && t.Source == "event" {
			f.Fact(t.Evidence())
			break
		}
	}
	f.NotConfirmed = append(f.NotConfirmed, "what the process waits for: only the missing path suggests it")
	f.Unless("the path in the plugin's container, or a device that the kernel has not made")
	f.Advise(
		remedy.Words("Add the hostPath "+strings.Join(missing, ", ")+" to "+owner+", as the driver's current manifest does, and let its pods be made anew."),
		remedy.Words("Newer versions of ceph-csi map images without waiting for udev (map option noudev)."),
	)
	p.Report(f)
}

// pluginOwner is whose manifest makes the plugin's pods.
func pluginOwner(p *diagnosis.Pass, v *snapshot.Volume, plugin *corev1.Pod) (report.Subject, string) {
	if ds := p.DriverDaemonSet(v.CSIName()); ds != nil {
		return diagnosis.ObjectSubject("DaemonSet", ds.Namespace, ds.Name), "DaemonSet " + ds.Namespace + "/" + ds.Name
	}
	return diagnosis.PodSubject(plugin), "pod " + podName(plugin)
}

// pathPerhaps judges a node that was not looked at: the calls of the driver hang there,
// and its plugin lacks what mapping an image waits for.
func pathPerhaps(p *diagnosis.Pass, v *snapshot.Volume, plugin *corev1.Pod, node string) {
	if _, _, mapped := v.RBDImage(); !mapped {
		return // what other drivers need cannot be told from a manifest
	}
	var missing []string
	for _, want := range toolNeeds["rbd"] {
		if !sees(plugin, want) {
			missing = append(missing, want)
		}
	}
	t, ok := textAbout(p, v, node, hangForm)
	if len(missing) == 0 || !ok || !t.Fresh {
		return
	}
	p.Probed(node)
	subject, owner := pluginOwner(p, v, plugin)
	f := p.Find(report.Possible, subject).On(v).Located(node).Fact(t.Evidence(), diagnosis.FromAPI("Pod "+podName(plugin), "spec.volumes[].hostPath", hostPathList(plugin)))
	f.Pod(plugin)
	for _, w := range v.WaitingOn(node) {
		f.Pod(w.Pod)
	}
	f.NotConfirmed = append(f.NotConfirmed, "a process of the plugin on node "+node+" that waits, and the device that the kernel has made meanwhile")
	f.Sayf("The driver's calls hang on node %s, and its plugin pod %s lacks %s of the host, for which mapping an image may wait. The node was not looked at.", node, podName(plugin), strings.Join(missing, " and "))
	f.Unless("a device that the kernel has not made: then it hangs elsewhere")
	f.Advise(remedy.Words("Look on node " + node + " for a process of the plugin (rbd map) that has waited for minutes while the device is there; then add the hostPath " + strings.Join(missing, ", ") + " to " + owner + ", as the driver's current manifest does."))
	p.Report(f)
}

// hangForm is what the kubelet says of a call that does not return, and of the next ones.
var hangForm = regexp.MustCompile(`DeadlineExceeded|[Aa]n operation with the given Volume ID \S+ already exists`)

func hostPathList(pod *corev1.Pod) string {
	var out []string
	for _, v := range pod.Spec.Volumes {
		if v.HostPath != nil {
			out = append(out, v.HostPath.Path)
		}
	}
	return list(out)
}
