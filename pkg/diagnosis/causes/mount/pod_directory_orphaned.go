package mount

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed pod_directory_orphaned.md
var podDirectoryOrphanedDoc string

// PodDirectoryOrphaned finds mounts at paths of pods that no longer exist.
var PodDirectoryOrphaned = &diagnosis.Rule{
	Name: "pod-directory-orphaned", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns"), diagnosis.Probe("process")},
	Explains: []string{"unmount-blocked", "detach-stuck", "multi-attach-error", "mount-busy", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-mapped-on-other-node"},
	YieldsTo: []string{"mount-of-dead-device", "device-held-by-process", "subpath-bind-stale"},
	Offers:   []string{"delete-orphan-directory"},
	Doc:      podDirectoryOrphanedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range orphanNodes(p) {
			orphansOn(p, node)
		}
	},
}

// orphanNodes are the nodes of the question, and those with traces of its volumes.
func orphanNodes(p *diagnosis.Pass) []string {
	out := slices.Clone(p.Nodes())
	if p.Sweep() {
		return out
	}
	for _, v := range p.Volumes() {
		for _, n := range nodesOf(p, v) {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// orphan is what a pod left behind that the API does not know.
type orphan struct {
	uid      string
	mounts   []snapshot.VolumeMount
	dirs     []probes.PodVolumeDir
	subpaths []string
}

func orphansOn(p *diagnosis.Pass, node string) {
	view := p.View(node)
	if view == nil || view.Init == nil {
		return
	}
	mounted, plain := orphansOf(p, view)
	if len(mounted) > 0 {
		reportOrphans(p, view, mounted, plain)
		return
	}
	if stuck := unfinished(p, view, plain); p.Sweep() && len(stuck) > 0 {
		reportUnfinished(p, view, stuck)
	}
}

// orphansOf collects the pods on a node that the API does not know: those with
// mounts that nobody uses, and those with plain directories only.
func orphansOf(p *diagnosis.Pass, view *snapshot.NodeView) (mounted, plain []orphan) {
	byUID := map[string]*orphan{}
	var order []string
	get := func(uid string) *orphan {
		if byUID[uid] == nil {
			byUID[uid] = &orphan{uid: uid}
			order = append(order, uid)
		}
		return byUID[uid]
	}
	all := p.Collected("/pods")
	for _, m := range view.VolumePaths() {
		if (m.Path.Kind == snapshot.Publish || m.Path.Kind == snapshot.SubPath) && p.PodByUID(m.Path.PodUID) == nil && podsRead(p, p.VolumeOfPath(view.Name, m.Mount.Point)) && leftAlone(p, view, m) {
			o := get(m.Path.PodUID)
			o.mounts = append(o.mounts, m)
		}
	}
	for _, d := range view.Facts.Kubelet.PodDirs {
		if all && p.PodByUID(d.UID) == nil && len(view.ProcessesOfPod(d.UID)) == 0 {
			o := get(d.UID)
			o.dirs, o.subpaths = d.Volumes, d.Subpath
		}
	}
	for _, uid := range order {
		if o := byUID[uid]; len(o.mounts) > 0 {
			mounted = append(mounted, *o)
		} else if len(o.dirs)+len(o.subpaths) > 0 {
			plain = append(plain, *o)
		}
	}
	return mounted, plain
}

// podsRead tells whether the pods were read that can use a volume: those of the claim's
// namespace, or all. What was not read is noted.
func podsRead(p *diagnosis.Pass, v *snapshot.Volume) bool {
	if v != nil {
		if ns, _ := v.ClaimRef(); ns != "" {
			_, missing := p.GapIn("/pods", ns)
			return !missing || p.Has("/pods")
		}
	}
	return p.Has("/pods")
}

// leftAlone tells whether a mount is one of a living device of a volume of the
// question, and whether no process belongs to its pod or has anything open in it.
func leftAlone(p *diagnosis.Pass, view *snapshot.NodeView, m snapshot.VolumeMount) bool {
	v := p.VolumeOfPath(view.Name, m.Mount.Point)
	if v == nil && !p.Sweep() || v != nil && !p.InScope(v) || view.Dead(m.Mount.Dev) || rootOf(view, m.Mount.Dev) || strings.HasPrefix(m.Mount.FSType, "tmpfs") {
		return false
	}
	if v != nil {
		if d, ok := p.DeviceOn(v, view.Name); ok && d.Proven && !m.Mount.Dev.Anonymous() && !slices.Contains(d.Numbers(), m.Mount.Dev) {
			return false
		}
	}
	if st, ok := view.Statfs(m.Mount.Point); ok && st.Err != "" || len(view.ProcessesOfPod(m.Path.PodUID)) > 0 {
		return false
	}
	for i := range view.Facts.Processes {
		for _, o := range view.Facts.Processes[i].Open {
			if covers(m.Mount.Point, o.Target) {
				return false
			}
		}
	}
	return true
}

func reportOrphans(p *diagnosis.Pass, view *snapshot.NodeView, mounted, plain []orphan) {
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name)).Located(view.Name)
	var parts []string
	for _, o := range mounted {
		var points []string
		for _, m := range o.mounts {
			points = append(points, fmt.Sprintf("%s (%s)", m.Mount.Point, diskName(view, m.Mount.Dev)))
			f.Fact(tableLine(view.Name, view.Init, m.Mount))
			f.On(p.VolumeOfPath(view.Name, m.Mount.Point))
			f.Device(view.Name, m.Mount.Dev)
		}
		parts = append(parts, fmt.Sprintf("pod %s: %s", o.uid, joined(points)))
	}
	f.Sayf("Node %s still has mounts of pods that do not exist any more (%s). The API knows no pod with these UIDs, no process carries one in its cgroup and none has a file open there. "+
		"As long as they are mounted, the volume stays in use on this node.", view.Name, strings.Join(parts, "; "))
	if rest := plainText(view, plain); rest != "" {
		f.Also = append(f.Also, rest)
	}
	f.Unless("a pod with this UID (a static pod has its own in the annotation kubernetes.io/config.hash), or a process that uses the path")
	f.Advise(remedy.Words("Restart the kubelet of node " + view.Name + " or the driver's plugin pod there, and wait two minutes: a newer kubelet finds the volumes again and unmounts them."))
	f.Advise(remedy.Words("If the mounts remain, unmount exactly these paths plainly, subPaths first; that the UIDs are unknown, that no process belongs to them and that no file is open was checked. Remove no pod directory as a whole: what is mounted below it would be deleted with it."))
	p.Report(f)
}

// plainText names directories in which nothing is mounted; they keep nothing.
func plainText(view *snapshot.NodeView, plain []orphan) string {
	var list []string
	for _, o := range plain {
		list = append(list, path.Join(view.KubeletRoot(), "pods", o.uid))
	}
	if len(list) == 0 {
		return ""
	}
	return "Of other pods that do not exist any more only directories are left, nothing is mounted there: " + joined(list) + "."
}

// unfinished are leftovers with a volume-subpaths entry that nothing mounts, on a
// node whose kubelet is older than 1.22: it never finishes with them
// (kubernetes/kubernetes#102344).
func unfinished(p *diagnosis.Pass, view *snapshot.NodeView, plain []orphan) []orphan {
	n := p.Node(view.Name)
	if n == nil || !olderKubelet(n.Status.NodeInfo.KubeletVersion, 22) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(plain), func(o orphan) bool { return len(o.subpaths) == 0 })
}

// olderKubelet tells whether a version is 1.x with x below a minor.
func olderKubelet(version string, minor int) bool {
	var have int
	_, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "1.%d", &have)
	return err == nil && have < minor
}

func reportUnfinished(p *diagnosis.Pass, view *snapshot.NodeView, stuck []orphan) {
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name)).Located(view.Name)
	f.Severity, f.Explains = report.Degraded, []string{}
	version := p.Node(view.Name).Status.NodeInfo.KubeletVersion
	var list []string
	for _, o := range stuck {
		for _, s := range o.subpaths {
			at := path.Join(view.KubeletRoot(), "pods", o.uid, "volume-subpaths", s)
			list = append(list, at)
			f.Fact(diagnosis.FromNode(view.Name, strings.TrimPrefix(at, "/"), "exists; no line of it in proc/1/mountinfo"))
		}
	}
	f.Fact(diagnosis.FromAPI("Node "+view.Name, "status.nodeInfo.kubeletVersion", version))
	f.Sayf("Node %s keeps directories of pods that do not exist any more: %s. Nothing is mounted there, so they hold no volume and block nothing; but its kubelet (%s) does not finish with a left volume-subpaths directory and complains for ever (fixed in 1.22).",
		view.Name, joined(list), version)
	f.Unless("a mount below these paths")
	f.Advise(remedy.Words("Nothing urgent. Upgrade the kubelet of node " + view.Name + " to 1.22 or later; it removes such directories by itself."))
	for _, o := range stuck {
		adviseEmpty(f, view, o)
	}
	p.Report(f)
}

// adviseEmpty offers to remove directories that are empty but for vol_data.json.
func adviseEmpty(f *diagnosis.Finding, view *snapshot.NodeView, o orphan) {
	for _, d := range o.dirs {
		if d.Plugin != "kubernetes.io~csi" || !slices.Contains(d.Files, "vol_data.json") {
			continue
		}
		empty := !slices.ContainsFunc(d.Files, func(name string) bool { return name != "vol_data.json" && name != "mount" })
		if empty {
			f.Advise(remedy.DeleteOrphanDirectory(view.Name, view.KubeletRoot(), o.uid, d.Name))
		}
	}
}
