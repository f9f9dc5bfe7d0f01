package attach

import (
	_ "embed"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed kubelet_root_dir_wrong.md
var kubeletRootDirWrongDoc string

// KubeletRootDirWrong finds a plugin that is configured for another kubelet root
// than the one that the node's kubelet uses.
var KubeletRootDirWrong = &diagnosis.Rule{
	Name: "kubelet-root-dir-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("kubelet")},
	Explains: []string{"attach-failed", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"csi-plugin-not-registered", "mount-missing-under-pod"},
	Doc:      kubeletRootDirWrongDoc,
	Run:      rootDirWrong,
}

func rootDirWrong(p *diagnosis.Pass) {
	for _, u := range driverUses(p) {
		plugin := p.DriverPodOn(u.Driver, u.Node)
		if plugin == nil || finished(plugin) || u.Unscheduled || !settledPlugin(p, plugin) {
			continue
		}
		r := registered(p, u.Node, u.Driver)
		if !r.Known {
			p.Has("storage.k8s.io/csinodes")
		}
		if !r.Known || r.Registered {
			continue
		}
		p.Probed(u.Node) // its kubelet's root is what decides
		if m, ok := rootMismatch(p, u, plugin); ok && m.Root != "" {
			reportRootDir(p, u, plugin, r, m)
		}
	}
}

// settledPlugin tells whether the plugin had its time: Ready for two minutes, or
// unable to start for as long.
func settledPlugin(p *diagnosis.Pass, pod *corev1.Pod) bool {
	if s := startedAt(pod); !s.IsZero() {
		return p.Age(s) >= startup
	}
	return p.Age(pod.CreationTimestamp.Time) >= startup
}

func reportRootDir(p *diagnosis.Pass, u *driverUse, plugin *corev1.Pod, r registration, m mismatch) {
	subject := diagnosis.PodSubject(plugin)
	if ds := p.DriverDaemonSet(u.Driver); ds != nil {
		subject = diagnosis.ObjectSubject("DaemonSet", ds.Namespace, ds.Name)
	}
	f := u.keyed(p.Find(report.Certain, subject))
	f.Pod(plugin)
	f.Fact(r.Evidence)
	f.Fact(m.Evidence...)
	how := "uses"
	if !m.Seen {
		how = "probably uses"
		f.Missing("the root directory of the kubelet on node " + u.Node + " (it was only compared with other drivers' paths)")
	}
	f.Sayf("The plugin of driver %s (%s, pod %s) is set up for the kubelet directory %s, but the kubelet on node %s %s %s (%s). The plugin serves its registration socket where the kubelet does not look, so %s.%s",
		u.Driver, subject, podName(plugin), m.Plugin, u.Node, how, m.Root, m.How, r.Words, u.sentence(p))
	f.Unless("a symbolic link that makes " + m.Plugin + " and " + m.Root + " one directory, or the driver being registered")
	f.Fact(driverTexts(p, u)...)
	f.Advise(remedy.Words(fmt.Sprintf("Set the kubelet directory of the driver's installation to %s (usually a chart value such as kubeletDir; Longhorn: csi.kubeletRootDir, or KUBELET_ROOT_DIR of longhorn-driver-deployer). "+
		"This restarts the plugin on all nodes; volumes that are mounted through the old path need a drain of their node first. Do not move the kubelet's directory instead.", m.Root)))
	f.Advise(remedy.Words("Verify: CSINode " + u.Node + " lists driver " + u.Driver + "."))
	p.Report(f)
}
