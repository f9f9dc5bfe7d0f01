package nodeplugin

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
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// needs are what tools that wait for the kernel's devices cannot do without.
var needs = map[string][]string{
	"rbd":      {"/dev", "/run/udev"},
	"udevadm":  {"/run/udev"},
	"iscsiadm": {"/dev"},
	"nvme":     {"/dev"},
}

// Tool is a process of a plugin that has waited for minutes for what its container lacks.
type Tool struct {
	Process *probes.Process // nil: none waits, or the node was not looked at
	Path    string          // where the driver misses the device that the host has there
	Lacks   []string        // paths of the host
	Waits   evidence.Answer // it has waited for minutes
	Device  evidence.Answer // the kernel has had the device all the time, and nobody uses it
	Found   snapshot.VolumeDevice
}

// ToolOf asks whether a tool of a plugin on the place's node waits for a path of the host that
// its container lacks. Of a node that was not looked at it can be told of images alone: what
// other drivers need is in no manifest.
func ToolOf(pl *evidence.Place, plugin *corev1.Pod) Tool {
	if pl.View == nil {
		lack := evidence.Unseen(pl.Probed().Lacks()...)
		out := Tool{Waits: lack, Device: lack}
		if pl.Volume.OnRBD() {
			out.Lacks = lacking(plugin, "rbd")
		}
		return out
	}
	for _, q := range pl.View.ProcessesOfPod(string(plugin.UID)) {
		if needs[q.Comm] == nil || q.Started.IsZero() || pl.X.Age(q.Started) <= 2*time.Minute || q.State != "S" && q.State != "D" {
			continue
		}
		out := Tool{Process: q, Lacks: lacking(plugin, q.Comm), Device: free(pl)}
		out.Found, _ = pl.X.DeviceOn(pl.Volume, pl.Node)
		facts := []report.Evidence{evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/cmdline", q.PID), command(q))}
		if q.WChan != "" {
			facts = append(facts, evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/wchan", q.PID), q.WChan))
		}
		out.Waits = evidence.Yes(facts...)
		return out
	}
	if out := blind(pl, plugin); out.Path != "" {
		return out
	}
	return Tool{Waits: pl.Tables(probes.Processes).Found()}
}

// blind finds a device of the volume that the driver misses at a path where the host has it, while its
// plugin mounts no /dev of the host: the container has the devices of the moment when it started.
func blind(pl *evidence.Place, plugin *corev1.Pod) Tool {
	d, found := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !found || d.Block == nil || Sees(plugin, "/dev") {
		return Tool{}
	}
	for _, t := range pl.Refused() {
		for _, at := range t.Devices {
			if dev, there := pl.View.NumberAt(at); there && dev == d.Dev && (t.Is(message.NoSuchFile) || t.Is(message.SpecialDeviceMissing)) {
				return Tool{Path: at, Lacks: []string{"/dev"}, Found: d, Device: free(pl), Waits: evidence.Yes(t.Evidence(), evidence.FromNode(pl.Node, strings.TrimPrefix(at, "/"), d.Dev.String()))}
			}
		}
	}
	return Tool{}
}

// Guessed is that nothing shows what the process waits for.
func (t Tool) Guessed(node string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: fmt.Sprintf("what process %d waits for", t.Process.PID), Node: node, Why: "only the missing path suggests it"})
}

// command is the command line of a process, else its name.
func command(q *probes.Process) string {
	if c := strings.Join(q.Cmdline, " "); c != "" {
		return c
	}
	return q.Comm
}

// free asks whether the kernel has made the volume's device and nobody uses it: without the
// device it hangs elsewhere.
func free(pl *evidence.Place) evidence.Answer {
	d, found := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !found || d.Block == nil {
		return pl.Tables(probes.Block).Found()
	}
	if len(pl.View.Uses(d.Dev)) > 0 {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromNode(pl.Node, d.Locator, d.How))
}

func lacking(plugin *corev1.Pod, tool string) []string {
	return slices.DeleteFunc(slices.Clone(needs[tool]), func(want string) bool { return Sees(plugin, want) })
}

// Sees tells whether a container of the plugin mounts a path of the host, or one above it.
func Sees(plugin *corev1.Pod, want string) bool {
	for _, v := range plugin.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		host := path.Clean(v.HostPath.Path)
		if !probes.Within(want, host) && (want != "/run/udev" || host != "/var/run" && host != "/var/run/udev") {
			continue
		}
		for _, c := range slices.Concat(plugin.Spec.Containers, plugin.Spec.InitContainers) {
			if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name }) {
				return true
			}
		}
	}
	return false
}

// Manifest quotes the paths of the host that a plugin mounts.
func Manifest(plugin *corev1.Pod) report.Evidence {
	var out []string
	for _, v := range plugin.Spec.Volumes {
		if v.HostPath != nil {
			out = append(out, v.HostPath.Path)
		}
	}
	text := strings.Join(out, " ")
	text = cmp.Or(text, "none")
	return evidence.FromPod(plugin, "spec.volumes[].hostPath", text)
}

// Hangs asks whether the kubelet says freshly that a call of the driver does not return on
// the place's node, or that the last one still runs.
func Hangs(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Refused() {
		again := strings.Contains(t.Raw, "n operation with the given Volume ID ") && strings.Contains(t.Raw, " already exists")
		if strings.Contains(t.Raw, "DeadlineExceeded") || again {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.No()
}

// SaidOn quotes the newest fresh event of the place's node.
func SaidOn(pl *evidence.Place) []report.Evidence {
	return pl.Refused().Say(func(t evidence.Text) bool { return t.Node == pl.Node && t.Source == "event" }).Facts()
}
