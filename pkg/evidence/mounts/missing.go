package mounts

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Missing is a pod that uses the node's own disk instead of the place's volume.
type Missing struct {
	pl    *evidence.Place
	Pod   *corev1.Pod
	Ended bool
	mount *probes.Mount // a bind of a plain directory, or what covers the volume; nil: nothing is mounted
	under *probes.Mount // the volume's own mount, which that covers
	dir   *probes.PodVolumeDir
	own   *probes.Mount // what a container has in its own table instead of the volume, which the node has mounted
	ownNS *probes.MountNamespace
	Files []string // that lie in the directory
}

// MissingOf are the pods of the volume on the place's node whose containers run, or ran,
// without a mount of it. For a pod that has ended nothing mounted is right, unless files
// lie there: then it was so while the pod ran.
func MissingOf(pl *evidence.Place) []Missing {
	if pl.View == nil || pl.View.Init == nil || pl.Volume.Block() || !Binds(pl.Volume) {
		return nil
	}
	var out []Missing
	for _, c := range pl.Volume.Consumers {
		m := Missing{pl: pl, Pod: c.Pod, Ended: c.Pod.DeletionTimestamp != nil && !pods.Runs(c.Pod)}
		if c.Node() != pl.Node || !m.Ended && (c.Pod.Status.Phase != corev1.PodRunning || !m.ran()) {
			continue
		}
		for _, u := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
			if u.Path.Kind == snapshot.Publish && snapshot.SameUID(u.Path.PodUID, string(c.Pod.UID)) {
				m.mount = &u.Mount
			}
		}
		m.under = m.covered()
		m.ownNS, m.own = m.beneath()
		bound := m.mount != nil && onRoot(pl.View, m.mount.Dev) && m.mount.Root != "/" && !ofDirectories(pl.Volume)
		if bound || m.under != nil || m.mount != nil && m.own != nil || m.mount == nil && m.bare() {
			out = append(out, m)
		}
	}
	return out
}

// ran tells whether the pod ran when its node was looked at: a process of it was seen, whatever
// the node's clock says, which may have been set back; or its start is older than that clock.
func (m *Missing) ran() bool {
	return len(m.pl.View.ProcessesOfPod(string(m.Pod.UID))) > 0 || pods.RanAt(m.Pod, m.pl.View.Facts.Identity.Clock)
}

// covered finds the mount of the volume's device over whose path something else was mounted, if
// that is what the pod's path shows: umount(2) and a new container see the topmost one alone.
func (m *Missing) covered() *probes.Mount {
	d, ok := m.pl.X.DeviceOn(m.pl.Volume, m.pl.Node)
	if m.mount == nil || !ok || slices.Contains(d.Numbers(), m.mount.Dev) {
		return nil
	}
	all := m.pl.X.VolumeMounts(m.pl.Volume, m.pl.Node)
	for i := range all {
		lower := &all[i].Mount
		if slices.Contains(d.Numbers(), lower.Dev) && slices.ContainsFunc(all[i+1:], func(u snapshot.VolumeMount) bool {
			return u.Mount.Point == lower.Point && u.Mount.Dev == m.mount.Dev
		}) {
			return lower
		}
	}
	return nil
}

// bare tells whether nothing is mounted where it should be, as far as the node's record
// knows the pod at all.
func (m *Missing) bare() bool {
	m.dir = m.podDir()
	if m.dir != nil {
		for _, name := range m.dir.Files {
			if strings.HasPrefix(name, "mount/") || !m.inMount() {
				m.Files = append(m.Files, name)
			}
		}
	}
	running := len(m.pl.View.ProcessesOfPod(string(m.Pod.UID))) > 0
	switch {
	case m.dir == nil && (!running || m.ephemeral() && !m.told()), m.Ended && len(m.Files) == 0:
		return false
	}
	return m.Ended || running || m.pl.X.NodeReady(m.pl.Node).Ready
}

// ephemeral tells whether the volume is one that a pod names in its own template and a CSI
// driver makes for it: few recordings list their mounts.
func (m *Missing) ephemeral() bool {
	return m.pl.Volume.Inline && m.pl.Volume.PV != nil && m.pl.Volume.PV.Spec.CSI != nil
}

// told tells whether the table has any mount of the pod's directory: each pod has one of
// its token at least. A recording that lists none does not know the pod's mounts at all.
func (m *Missing) told() bool {
	dir := "/pods/" + string(m.Pod.UID) + "/"
	return slices.ContainsFunc(m.pl.View.Init.Mounts, func(o probes.Mount) bool { return strings.Contains(o.Point, dir) })
}

// inMount tells whether the volume belongs below its directory in the pod: only CSI mounts at "mount".
func (m Missing) inMount() bool { return strings.HasSuffix(m.dir.Plugin, "~csi") }

// podDir is what the recording has of the pod's directory for the volume.
func (m Missing) podDir() *probes.PodVolumeDir {
	for i := range m.pl.View.Facts.Kubelet.PodDirs {
		d := &m.pl.View.Facts.Kubelet.PodDirs[i]
		if !snapshot.SameUID(d.UID, string(m.Pod.UID)) {
			continue
		}
		for j := range d.Volumes {
			if d.Volumes[j].Name == m.specName() {
				return &d.Volumes[j]
			}
		}
	}
	return nil
}

// isAt tells whether a point, of whatever table and root, is where the volume's publish mount belongs.
func (m Missing) isAt(point string) bool {
	return strings.Contains(point, "/pods/"+string(m.Pod.UID)+"/volumes/") && strings.Contains(point+"/", "/"+m.specName()+"/")
}

// specName is what the kubelet calls the volume in the pod's directory.
func (m Missing) specName() string {
	for _, c := range m.pl.Volume.Consumers {
		if c.Inline && c.Pod == m.Pod {
			return strings.ReplaceAll(m.pl.Volume.SpecName(c), "/", "~")
		}
	}
	return m.pl.Volume.PVName()
}

// Bound tells whether the driver bound a directory on which nothing was mounted.
func (m Missing) Bound() bool { return m.mount != nil && !m.Covered() && !m.Beneath() }

// Covered tells whether something is mounted over the volume.
func (m Missing) Covered() bool { return m.under != nil }

// Over is the path at which that is, and Cover what it is.
func (m Missing) Over() (at, cover string) {
	if m.under == nil {
		return "", ""
	}
	return m.under.Point, m.mount.FSType + " " + m.mount.Source
}

// At is the path, and Directory what lies there on the node's own disk.
func (m Missing) At() string {
	switch {
	case m.mount != nil:
		return m.mount.Point
	case m.dir != nil:
		at := fmt.Sprintf("%s/pods/%s/volumes/%s/%s", m.pl.View.KubeletRoot(), m.Pod.UID, m.dir.Plugin, m.dir.Name)
		if m.inMount() {
			at += "/mount"
		}
		return at
	}
	return fmt.Sprintf("%s/pods/%s/volumes/*/%s", m.pl.View.KubeletRoot(), m.Pod.UID, m.specName())
}

// Directory is the directory of the node's own disk that the pod has instead.
func (m Missing) Directory() string {
	if m.Bound() {
		return Bound(m.pl.View, m.mount)
	}
	return m.At()
}

// Disk is the node's own disk.
func (m Missing) Disk() string {
	switch {
	case m.mount == nil:
		return ""
	case m.Beneath():
		return Title(m.pl.View, m.own.Dev)
	}
	return Title(m.pl.View, m.mount.Dev)
}

// Is quotes what shows it.
func (m Missing) Is() evidence.Answer {
	node, view := m.pl.Node, m.pl.View
	var facts []report.Evidence
	if boot := view.Facts.Identity.Boot(); m.pl.X.Node(node) != nil && !boot.IsZero() && m.Pod.Status.StartTime != nil && boot.After(m.Pod.Status.StartTime.Time) {
		facts = append(facts, evidence.FromNode(node, "proc/uptime", "booted "+boot.UTC().Format("2006-01-02T15:04:05Z")+", after the pod started"))
	}
	if m.mount != nil {
		facts = append(facts, evidence.FromMount(node, view.Init, *m.mount))
		if m.under != nil {
			facts = append(facts, evidence.FromMount(node, view.Init, *m.under))
		}
		if m.Beneath() {
			facts = append(facts, evidence.FromMount(node, m.ownNS, *m.own))
		}
		if d, ok := m.pl.X.DeviceOn(m.pl.Volume, node); ok {
			facts = append(facts, evidence.FromNode(node, d.Locator, d.How))
		}
		return evidence.Yes(facts...)
	}
	facts = append(facts, evidence.FromNode(node, "proc/1/mountinfo", "no line of "+m.At()))
	if m.own != nil {
		facts = append(facts, evidence.FromMount(node, m.ownNS, *m.own))
	}
	for _, name := range m.Files[:min(3, len(m.Files))] {
		facts = append(facts, evidence.FromNode(node, fmt.Sprintf("%s/pods/%s/volumes/%s/%s", strings.TrimPrefix(view.KubeletRoot(), "/"), m.Pod.UID, m.dir.Plugin, m.dir.Name), name))
	}
	return evidence.Yes(facts...)
}

// Elsewhere asks whether the pod has its volume all the same: a kubelet in a container has
// the mount in its own table, or the pod's own namespace has the volume's device or a
// share, whatever became of the host's mount.
func (m Missing) Elsewhere() evidence.Answer {
	if m.Bound() {
		return evidence.No()
	}
	view := m.pl.View
	var numbers []probes.Dev
	if d, ok := m.pl.X.DeviceOn(m.pl.Volume, m.pl.Node); ok {
		numbers = d.Numbers()
	}
	own := view.NamespacesOfPod(string(m.Pod.UID))
	for _, ns := range view.Namespaces() {
		for _, o := range ns.Mounts {
			kubelets := m.mount == nil && m.own == nil && ofKubelet(view, ns) && m.isAt(o.Point)
			if kubelets || slices.Contains(own, ns) && (slices.Contains(numbers, o.Dev) || Remote(o.FSType)) && !m.beside(ns, o) {
				return evidence.Yes(evidence.FromMount(m.pl.Node, ns, o))
			}
		}
	}
	if class := m.Pod.Spec.RuntimeClassName; m.mount == nil && class != nil && evidence.ContainsAny(strings.ToLower(*class), "kata", "rund") {
		// a direct-assigned volume is mounted in the guest alone (kata-containers, docs/design/direct-blk-device-assignment.md)
		return evidence.Unseen(evidence.Lack{Need: "node/" + m.pl.Node + "/guest", Node: m.pl.Node, Why: "the pod is a virtual machine of " + *class + ", whose own mounts no table of the node shows"})
	}
	return m.pl.Tables(probes.Mounts).Found()
}

// Storage asks whether something has to be mounted for the pod. A CSI driver may bind a
// directory, but it has to mount at the path (NodePublishVolume in the CSI specification).
func (m Missing) Storage() evidence.Answer {
	if m.Beneath() || m.mount == nil && m.pl.Volume.PV != nil && m.pl.Volume.PV.Spec.CSI != nil {
		return evidence.Yes()
	}
	return realStorage(m.pl)
}

// shareWords stand in the names of drivers that mount a server's share or a daemon's
// filesystem and attach nothing.
var shareWords = []string{"nfs", "smb", "cifs", "cephfs", "gluster", "juicefs", "lustre", "efs.", "s3", "azurefile", "file.csi.azure.com", "filestore", "quobyte", "beegfs", "gpfs", "spectrumscale", "seaweedfs", "cvmfs"}

// realStorage asks whether the place's driver is known to mount devices or shares: it
// attaches, it is a network filesystem's by its name, or some volume of it is mounted from
// one on a probed node. A driver may bind directories on purpose.
func realStorage(pl *evidence.Place) evidence.Answer {
	v, driver := pl.Volume, strings.ToLower(pl.Volume.Driver)
	switch {
	case evidence.ContainsAny(driver, shareWords...),
		v.IsLonghorn() || strings.HasPrefix(v.Driver, "kubernetes.io/") || len(v.Attachments) > 0,
		v.CSIName() != "" && pl.X.CSIDriver(v.Driver) != nil && v.AttachRequired(pl.X):
		return evidence.Yes()
	}
	for _, o := range pl.X.Volumes {
		if o.Driver != v.Driver {
			continue
		}
		for name, view := range pl.X.NodeViews {
			if slices.ContainsFunc(pl.X.VolumeMounts(o, name), func(m snapshot.VolumeMount) bool { return !onRoot(view, m.Mount.Dev) }) {
				return evidence.Yes()
			}
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "that driver " + v.Driver + " mounts devices or shares", Why: "it attaches nothing, and no mount of it was seen"})
}
