package mounts

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Orphan is what a pod left on a node that the API does not know.
type Orphan struct {
	UID      string
	Mounts   []snapshot.VolumeMount
	Dirs     []probes.PodVolumeDir
	Subpaths []string
}

// OrphansOf collects what such pods left on the place's node: those with mounts of living
// devices, and those with directories only. Of a place with a volume only pods with a mount
// of it count among the first.
func OrphansOf(pl *evidence.Place) (mounted, plain []Orphan) {
	if pl.View == nil || pl.View.Init == nil {
		return nil, nil
	}
	byUID := map[string]*Orphan{}
	var order []string
	get := func(uid string) *Orphan {
		if byUID[uid] == nil {
			byUID[uid] = &Orphan{UID: uid}
			order = append(order, uid)
		}
		return byUID[uid]
	}
	wanted := map[string]bool{}
	for _, m := range pl.View.VolumePaths() {
		v := pl.X.VolumeOfPath(pl.Node, m.Mount.Point)
		if m.Path.Kind != snapshot.Publish && m.Path.Kind != snapshot.SubPath || pl.X.PodByUID(m.Path.PodUID) != nil || v == nil && pl.Volume != nil || !left(pl, v, m) {
			continue
		}
		if len(pl.View.ProcessesOfPod(m.Path.PodUID)) > 0 || InUse(pl, []Orphan{{Mounts: []snapshot.VolumeMount{m}}}).Yes() {
			continue
		}
		o := get(m.Path.PodUID)
		o.Mounts = append(o.Mounts, m)
		wanted[o.UID] = wanted[o.UID] || pl.Volume == nil || v == pl.Volume
	}
	for _, d := range pl.View.Facts.Kubelet.PodDirs {
		if pl.X.Collected("/pods") && pl.X.PodByUID(d.UID) == nil && len(pl.View.ProcessesOfPod(d.UID)) == 0 {
			o := get(d.UID)
			o.Dirs, o.Subpaths = d.Volumes, d.Subpath
		}
	}
	for _, uid := range order {
		switch o := byUID[uid]; {
		case len(o.Mounts) > 0 && wanted[uid]:
			mounted = append(mounted, *o)
		case len(o.Mounts) == 0 && len(o.Dirs)+len(o.Subpaths) > 0:
			plain = append(plain, *o)
		}
	}
	return mounted, plain
}

// left tells whether a mount is one of a living device that is the volume's, and answers.
func left(pl *evidence.Place, v *snapshot.Volume, m snapshot.VolumeMount) bool {
	if pl.View.Dead(m.Mount.Dev) || onRoot(pl.View, m.Mount.Dev) || strings.HasPrefix(m.Mount.FSType, "tmpfs") {
		return false
	}
	if v != nil {
		if d, ok := pl.X.DeviceOn(v, pl.Node); ok && d.Proven && !m.Mount.Dev.Anonymous() && !slices.Contains(d.Numbers(), m.Mount.Dev) {
			return false
		}
	}
	st, ok := pl.View.Statfs(m.Mount.Point)
	return !ok || st.Err == ""
}

// Asked asks whether it is known of each share that is left whether it answers: one whose server is gone
// stays for that reason.
func Asked(pl *evidence.Place, list []Orphan) evidence.Answer {
	for _, o := range list {
		if slices.ContainsFunc(o.Mounts, func(m snapshot.VolumeMount) bool {
			_, ok := pl.View.Statfs(m.Mount.Point)
			return !ok && m.Mount.Dev.Anonymous()
		}) {
			return evidence.Ended(pl.X, pl.Node, probes.Contents).Nothing()
		}
	}
	return evidence.Yes()
}

// Unknown asks whether nothing knows the pods any more: not the API, with the pods read
// that can use the place's volume, and no process of the node.
func Unknown(pl *evidence.Place, list []Orphan) evidence.Answer {
	var facts []report.Evidence
	for _, o := range list {
		for _, p := range pl.View.ProcessesOfPod(o.UID) {
			return evidence.No(evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/cgroup", p.PID), p.Cgroup))
		}
		for _, m := range o.Mounts {
			facts = append(facts, evidence.FromMount(pl.Node, pl.View.Init, m.Mount))
		}
	}
	return evidence.All(evidence.Yes(facts...), pl.Consumers().Nothing())
}

// Leaving tells whether the pods ended a moment ago: the kubelet unmounts when one that was
// removed by force is gone from the API. Their last events tell, or a successor.
func Leaving(pl *evidence.Place, list []Orphan) bool {
	return !slices.ContainsFunc(list, func(o Orphan) bool {
		killed := slices.ContainsFunc(pl.X.Cluster.Events, func(e *snapshot.Event) bool {
			return e != nil && e.ObjUID == o.UID && e.Reason == "Killing" && pl.X.Age(e.Last) <= volume.Handover
		})
		return !killed && !slices.ContainsFunc(o.Mounts, func(m snapshot.VolumeMount) bool {
			v := pl.X.VolumeOfPath(pl.Node, m.Mount.Point)
			return v != nil && volume.Renewed(pl.X, v)
		})
	})
}

// InUse asks whether somebody has a file open below the mounts.
func InUse(pl *evidence.Place, list []Orphan) evidence.Answer {
	for _, p := range pl.View.Processes() {
		for _, d := range p.Open {
			for _, o := range list {
				if slices.ContainsFunc(o.Mounts, func(m snapshot.VolumeMount) bool { return probes.Within(d.Target, m.Mount.Point) }) {
					return evidence.Yes(evidence.FromNode(pl.Node, d.Path, d.Target))
				}
			}
		}
	}
	return pl.Tables(probes.Processes).And(evidence.Ended(pl.X, pl.Node, probes.Descriptors)).Found()
}

// Titles lists the pods with their mount points.
func Titles(view *snapshot.NodeView, list []Orphan) string {
	var parts []string
	for _, o := range list {
		points := evidence.Each(o.Mounts, func(m snapshot.VolumeMount) string {
			return fmt.Sprintf("%s (%s)", m.Mount.Point, Title(view, m.Mount.Dev))
		})
		parts = append(parts, fmt.Sprintf("pod %s: %s", o.UID, strings.Join(points, ", ")))
	}
	return strings.Join(parts, "; ")
}

// Directories are those of the pods below the kubelet's.
func Directories(view *snapshot.NodeView, list []Orphan) string {
	out := evidence.Each(list, func(o Orphan) string { return path.Join(view.KubeletRoot(), "pods", o.UID) })
	return strings.Join(out, ", ")
}

// Unfinished are leftovers with a volume-subpaths entry that nothing mounts, on a node
// whose kubelet is older than 1.22: it never finishes with them
// (kubernetes/kubernetes#102344). Version is the kubelet's.
func Unfinished(pl *evidence.Place, plain []Orphan) (list []Orphan, points []string, version string) {
	n := pl.X.Node(pl.Node)
	if n == nil {
		return nil, nil, ""
	}
	var minor int
	version = n.Status.NodeInfo.KubeletVersion
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "1.%d", &minor); err != nil || minor >= 22 {
		return nil, nil, version
	}
	for _, o := range plain {
		for _, s := range o.Subpaths {
			points = append(points, path.Join(pl.View.KubeletRoot(), "pods", o.UID, "volume-subpaths", s))
		}
		if len(o.Subpaths) > 0 {
			list = append(list, o)
		}
	}
	return list, points, version
}

// Complains asks whether such leftovers are there, and quotes them.
func Complains(pl *evidence.Place, points []string, version string) evidence.Answer {
	facts := evidence.Each(points, func(at string) report.Evidence {
		return evidence.FromNode(pl.Node, strings.TrimPrefix(at, "/"), "exists; no line of it in proc/1/mountinfo")
	})
	if len(facts) == 0 {
		return evidence.No()
	}
	return evidence.Yes(append(facts, evidence.FromAPI("Node "+pl.Node, "status.nodeInfo.kubeletVersion", version))...)
}

// Emptied are the directories of a leftover that are empty but for vol_data.json.
func (o Orphan) Emptied() []string {
	var out []string
	for _, d := range o.Dirs {
		if d.Plugin != "kubernetes.io~csi" || !slices.Contains(d.Files, "vol_data.json") {
			continue
		}
		if !slices.ContainsFunc(d.Files, func(name string) bool { return name != "vol_data.json" && name != "mount" }) {
			out = append(out, d.Name)
		}
	}
	return out
}
