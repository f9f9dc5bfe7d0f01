package mount

import (
	_ "embed"
	"fmt"
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

//go:embed block_volume_staging_lost.md
var blockVolumeStagingLostDoc string

// stagingTime is how long the first staging of a block volume may take before a
// missing bind means something: kubelet's own limit of a CSI call.
const stagingTime = 2 * time.Minute

// BlockVolumeStagingLost finds block volumes whose staged or published device is a
// plain file.
var BlockVolumeStagingLost = &diagnosis.Rule{
	Name: "block-volume-staging-lost", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("mountns"), diagnosis.Probe("kubelet")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume", "pod-stuck-terminating"},
	Offers:   []string{"delete-pod"},
	Doc:      blockVolumeStagingLostDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Block() && v.PVName() != "" {
				for _, node := range blockNodes(v) {
					if asked(p, node) {
						stagingOn(p, v, node)
					}
				}
			}
		}
	},
}

// victimOn finds a pod on a node that gets no device (it waits, or its container cannot
// be made again), or else one that cannot end.
func victimOn(p *diagnosis.Pass, v *snapshot.Volume, node string) *corev1.Pod {
	var ends *corev1.Pod
	for _, c := range v.LiveConsumersOn(node) {
		switch {
		case c.Terminating():
			if overdue(p, c.Pod) && !runs(c.Pod) {
				ends = c.Pod
			}
		case (c.Waiting() || !runs(c.Pod) && refusedContainer(c.Pod)) && p.Age(c.Pod.CreationTimestamp.Time) > stagingTime:
			return c.Pod
		}
	}
	return ends
}

// refusedContainer tells whether the runtime could not make a container: after a
// reboot the pod keeps its phase Running.
func refusedContainer(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		w := s.State.Waiting
		return w != nil && slices.Contains([]string{"ContainerCreating", "CreateContainerError", "RunContainerError", "CreateContainerConfigError"}, w.Reason)
	})
}

// blockNodes are the nodes of the pods that live.
func blockNodes(v *snapshot.Volume) []string {
	var out []string
	for _, c := range v.Live() {
		if n := c.Node(); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func stagingOn(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	victim := victimOn(p, v, node)
	if victim == nil || v.AttachRequired(p.Index) && (v.AttachmentOn(node) == nil || !v.AttachmentOn(node).Status.Attached) {
		return
	}
	view, ok := p.Probed(node)
	if !ok || view.Init == nil {
		return
	}
	b := blockEntries(view, v)
	staged, published := b.broken(snapshot.BlockStaging, ""), b.broken(snapshot.BlockPublish, string(victim.UID))
	foreign := b.foreign(p, v)
	if staged == nil && published == nil && len(foreign) == 0 {
		return
	}
	f := p.Find(report.Certain, blockSubject(v)).On(v).Located(node)
	for _, c := range v.LiveConsumersOn(node) {
		f.Pod(c.Pod)
	}
	then := "The container of pod " + podName(victim) + " gets no device."
	if victim.DeletionTimestamp != nil {
		then = "Pod " + podName(victim) + " does not end as long as these entries stay."
	}
	f.Sayf("On node %s volume %s (Block) is attached, but %s. %s%s%s", node, volumeName(v),
		joined(brokenWords(staged, published, foreign)), then, b.deviceWords(p, v), strayWords(p, b))
	for _, e := range append([]*blockEntry{staged, published}, b.strays(p)...) {
		if e != nil {
			f.Fact(e.evidence(view))
		}
	}
	f.Unless("a bind of the volume's device at these paths")
	f.Advise(remedy.Words("On node " + node + " unmount only entries of pod UIDs that do not exist any more" + strayList(p, b) + "; leave those of living pods alone."))
	if victim.DeletionTimestamp == nil {
		f.Advise(remedy.DeletePod(victim).Note("No container of it runs, so nothing writes; a new pod makes the kubelet stage the volume again."))
	}
	if v.IsLonghorn() {
		f.Advise(remedy.Words("Longhorn 1.6.1 and later stage such a volume again by themselves."))
	}
	p.Report(f)
}

// foreign are strays whose device is not the volume's any more.
func (l blockList) foreign(p *diagnosis.Pass, v *snapshot.Volume) []*blockEntry {
	d, ok := p.DeviceOn(v, l.view.Name)
	if !ok || !d.Proven {
		return nil
	}
	return slices.DeleteFunc(l.strays(p), func(e *blockEntry) bool {
		if e.mount.Deleted() {
			return false
		}
		dev, known := l.view.NumberAt("/dev" + e.mount.Root)
		return e.file || e.mount.FSType != "devtmpfs" || !known || slices.Contains(d.Numbers(), dev)
	})
}

func blockSubject(v *snapshot.Volume) report.Subject {
	if v.IsLonghorn() {
		return diagnosis.ObjectSubject("Volume", "", v.Handle)
	}
	return diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
}

// blockEntry is one entry below volumeDevices that belongs to the volume.
type blockEntry struct {
	path  snapshot.VolumePath
	point string
	entry *probes.BlockPath // as listed; nil: known from the mount table only
	mount *probes.Mount
	file  bool // a plain file of the node's disk instead of a device
}

type blockList struct {
	view    *snapshot.NodeView
	entries []*blockEntry
}

// blockEntries joins what lies below volumeDevices with what is mounted there.
func blockEntries(view *snapshot.NodeView, v *snapshot.Volume) blockList {
	l := blockList{view: view}
	get := func(point string) *blockEntry {
		vp, ok := view.ParsePath(point)
		if !ok || vp.PV != v.PVName() || !strings.Contains(point, "/volumeDevices/") {
			return nil
		}
		for _, e := range l.entries {
			if e.point == point {
				return e
			}
		}
		e := &blockEntry{path: vp, point: point}
		l.entries = append(l.entries, e)
		return e
	}
	for i := range view.Facts.Kubelet.BlockDirs {
		b := &view.Facts.Kubelet.BlockDirs[i]
		if e := get(b.Path); e != nil && b.Kind != "link" {
			e.entry, e.file = b, b.Kind == "file"
		}
	}
	for i := range view.Init.Mounts {
		m := &view.Init.Mounts[i]
		if e := get(m.Point); e != nil {
			e.mount, e.file = m, rootOf(view, m.Dev)
		}
	}
	return l
}

// broken returns the entry of a kind (of a pod, when a UID is given) that is a
// plain file. A staging path that does not exist at all counts only with a
// published one that is broken: before the first staging nothing is there.
func (l blockList) broken(kind, uid string) *blockEntry {
	var found *blockEntry
	for _, e := range l.entries {
		if e.path.Kind != kind || uid != "" && !sameUID(e.path.PodUID, uid) {
			continue
		}
		if e.entry != nil && e.entry.Kind == "device" || e.mount != nil && !e.file {
			return nil
		}
		if e.file {
			found = e
		}
	}
	return found
}

// strays are entries of pods that the API does not know, mounted from plain files.
func (l blockList) strays(p *diagnosis.Pass) []*blockEntry {
	var out []*blockEntry
	for _, e := range l.entries {
		if e.path.PodUID != "" && e.mount != nil && p.Collected("/pods") && p.PodByUID(e.path.PodUID) == nil {
			out = append(out, e)
		}
	}
	return out
}

func brokenWords(staged, published *blockEntry, foreign []*blockEntry) []string {
	var out []string
	if staged != nil {
		out = append(out, "its staging path "+staged.point+" is a plain file of the node's own disk")
	}
	if published != nil {
		out = append(out, "its publish path "+published.point+" is a plain file")
	}
	if len(out) == 0 {
		for _, e := range foreign {
			out = append(out, "the entry "+e.point+" of a pod that does not exist any more binds another device")
		}
	}
	return out
}

func (l blockList) deviceWords(p *diagnosis.Pass, v *snapshot.Volume) string {
	d, ok := p.DeviceOn(v, l.view.Name)
	if !ok || d.Block == nil {
		return ""
	}
	return " The device itself is there: " + diskName(l.view, d.Dev) + "."
}

func strayWords(p *diagnosis.Pass, l blockList) string {
	uids := strayUIDs(p, l)
	if len(uids) == 0 {
		return ""
	}
	return " Entries of pods that do not exist any more are still mounted: " + joined(uids) + "."
}

func strayList(p *diagnosis.Pass, l blockList) string {
	var points []string
	for _, e := range l.strays(p) {
		points = append(points, e.point)
	}
	if len(points) == 0 {
		return ""
	}
	return " (" + joined(points) + ")"
}

func strayUIDs(p *diagnosis.Pass, l blockList) []string {
	var out []string
	for _, e := range l.strays(p) {
		if !slices.Contains(out, e.path.PodUID) {
			out = append(out, e.path.PodUID)
		}
	}
	return out
}

func (e *blockEntry) evidence(view *snapshot.NodeView) report.Evidence {
	if e.mount != nil {
		return tableLine(view.Name, view.Init, *e.mount)
	}
	return diagnosis.FromNode(view.Name, strings.TrimPrefix(e.point, "/"), fmt.Sprintf("%s, nothing mounted on it", e.entry.Kind))
}
