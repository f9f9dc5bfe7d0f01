package transport

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed fuse_daemon_dead.md
var fuseDaemonDeadDoc string

// FUSEDaemonDead finds mounts whose filesystem was a process that died.
var FUSEDaemonDead = &diagnosis.Rule{
	Name: "fuse-daemon-dead", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("reach")},
	Explains: []string{"volume-io-error", "mount-failed", "pod-stuck-terminating", "unmount-blocked", "pod-waiting-for-volume"},
	LeadsTo:  []string{"subpath-bind-stale"},
	Offers:   []string{"delete-pod", "unmount-lazy"},
	Doc:      fuseDaemonDeadDoc,
	Run: func(p *diagnosis.Pass) {
		seen := map[*snapshot.Volume]bool{}
		for _, s := range brokenShares(p, "ENOTCONN", isFUSE) {
			seen[s.volume] = true
			daemonDead(p, s)
		}
		for _, v := range p.Volumes() {
			if !seen[v] {
				daemonDeadByText(p, v)
			}
		}
	},
}

func isFUSE(fstype string) bool { return fstype == "fuse" || strings.HasPrefix(fstype, "fuse.") }

func daemonDead(p *diagnosis.Pass, s *brokenShare) {
	b := s.mounts[0]
	f := s.find(p, report.Certain)
	text := fmt.Sprintf("The filesystem %s (%s) of %s was a process in user space, and that process is dead: the mount answers ENOTCONN (transport endpoint is not connected) and cannot come back.",
		b.Mount.Source, b.Mount.FSType, s.words())
	if s.volume != nil {
		for _, node := range nodesOf(s.mounts) {
			if plugin := p.DriverPodOn(s.volume.CSIName(), node); plugin != nil {
				text += " " + pluginWords(p, plugin, s.pods(p))
				f.Fact(startEvidence(plugin)...)
			}
		}
	}
	f.Sayf("%s", text)
	f.Unless("a statfs of the path that answers")
	s.advise(p, f, "ENOTCONN")
	f.Advise(remedy.Words("Next time move the pods off the node before a driver of this kind is updated there, or let it mount with the kernel's client or from pods of its own."))
	p.Report(f)
}

func nodesOf(list []brokenMount) []string {
	var out []string
	for _, b := range list {
		if len(out) == 0 || out[len(out)-1] != b.view.Name {
			out = append(out, b.view.Name)
		}
	}
	return out
}

// pluginStart is when the plugin's oldest running container began to run: a container
// that restarts takes its children with it while its pod keeps its age.
func pluginStart(pod *corev1.Pod) time.Time {
	var last time.Time
	for _, s := range pod.Status.ContainerStatuses {
		if r := s.State.Running; r != nil && r.StartedAt.After(last) {
			last = r.StartedAt.Time
		}
	}
	if last.IsZero() && pod.Status.StartTime != nil {
		last = pod.Status.StartTime.Time
	}
	return last
}

// outlived tells whether the plugin (or one of its containers) started later than the
// client did.
func outlived(plugin, client *corev1.Pod) bool {
	at := pluginStart(plugin)
	return !at.IsZero() && client.Status.StartTime != nil && at.After(client.Status.StartTime.Time)
}

func pluginWords(p *diagnosis.Pass, plugin *corev1.Pod, clients []*corev1.Pod) string {
	for _, c := range clients {
		if c.Spec.NodeName == plugin.Spec.NodeName && outlived(plugin, c) {
			return fmt.Sprintf("The plugin pod %s/%s of node %s (re)started %s ago, later than its client %s/%s, and took the daemons of older mounts with it.",
				plugin.Namespace, plugin.Name, plugin.Spec.NodeName, p.Age(pluginStart(plugin)).Round(time.Second), c.Namespace, c.Name)
		}
	}
	return fmt.Sprintf("The plugin pod of node %s is %s/%s; its log may tell why the daemon ended.", plugin.Spec.NodeName, plugin.Namespace, plugin.Name)
}

func startEvidence(plugin *corev1.Pod) []report.Evidence {
	at := pluginStart(plugin)
	if at.IsZero() {
		return nil
	}
	return []report.Evidence{diagnosis.FromAPI("Pod "+plugin.Namespace+"/"+plugin.Name, "last start", at.UTC().Format(time.RFC3339))}
}

// daemonDeadByText judges without the node: the words with a plugin that started
// after its client are a strong hint, the words alone are none, because other
// sockets say the same.
func daemonDeadByText(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, t := range p.Texts(v) {
		if !t.Fresh || !t.Is(message.NotConnected) {
			continue
		}
		for _, c := range v.Live() {
			if c.Node() == "" || t.Pod != "" && t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || p.View(c.Node()) != nil && !unasked(p, v, c) {
				continue
			}
			plugin := p.DriverPodOn(v.CSIName(), c.Node())
			if plugin == nil || !outlived(plugin, c.Pod) {
				continue
			}
			p.Probed(c.Node())
			f := p.Find(report.Likely, diagnosis.PodSubject(c.Pod)).On(v).Located(c.Node()).Fact(t.Evidence())
			f.Pod(c.Pod)
			f.Fact(startEvidence(plugin)...)
			f.Sayf("Pod %s/%s on node %s gets ENOTCONN from volume %s, as from a FUSE filesystem whose daemon died. %s", c.Pod.Namespace, c.Pod.Name, c.Node(), volumeName(v), pluginWords(p, plugin, []*corev1.Pod{c.Pod}))
			f.Missing("the mount's type and statfs on node " + c.Node())
			f.Unless("a mount that is no FUSE mount, or one that answers")
			f.Advise(remedy.DeletePod(c.Pod).Note("It is older than the plugin that served its mount; a new pod mounts anew."))
			p.Report(f)
			return
		}
	}
}

// unasked tells whether the pod's FUSE mount is there and no statfs of it was recorded.
func unasked(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer) bool {
	for _, m := range p.VolumeMounts(v, c.Node()) {
		if _, ok := p.View(c.Node()).Statfs(m.Mount.Point); !ok && isFUSE(m.Mount.FSType) {
			return true
		}
	}
	return false
}
