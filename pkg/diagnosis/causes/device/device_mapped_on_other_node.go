package device

import (
	_ "embed"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_mapped_on_other_node.md
var deviceMappedOnOtherNodeDoc string

// DeviceMappedOnOtherNode finds a map, session or mount that the old node kept.
var DeviceMappedOnOtherNode = &diagnosis.Rule{
	Name: "device-mapped-on-other-node", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("blockdev"), diagnosis.Probe("mountns"), diagnosis.Probe("openfiles")},
	Explains: []string{"multi-attach-error", "attach-failed", "mount-failed", "detach-stuck", "volume-io-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"rbd-lock-or-watcher-stale", "filesystem-readonly-after-error", "filesystem-needs-fsck"},
	YieldsTo: []string{"node-down", "node-kubelet-down-workload-alive", "mount-pinned-in-namespace", "mount-lazily-detached", "pod-directory-orphaned",
		"kubelet-in-container", "lvm-claims-device", "block-volume-unmap-stuck", "longhorn-engine-orphaned", "device-held-by-process"},
	Offers: []string{"unmap-device"},
	Doc:    deviceMappedOnOtherNodeDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Exclusive() || v.RegularRWX() {
				continue
			}
			for _, node := range tracedNodes(p, v) {
				if len(v.LiveConsumersOn(node)) > 0 || p.WantedHere(v, node) {
					continue
				}
				view, ok := p.Probed(node)
				if !ok {
					continue
				}
				if d, ok := p.DeviceOn(v, node); ok && d.Block != nil {
					leftBehind(p, v, view, d)
				}
			}
		}
	},
}

// tracedNodes are the nodes that have or had the volume, also those of which the API
// knows nothing any more: a force-deleted pod of a driver without attachments leaves
// its device and no trace of it.
func tracedNodes(p *diagnosis.Pass, v *snapshot.Volume) []string {
	out := nodesOf(p, v)
	for _, node := range slices.Sorted(maps.Keys(p.NodeViews)) {
		if d, ok := p.DeviceOn(v, node); ok && d.Block != nil && (d.Proven || len(p.VolumeMounts(v, node)) > 0) && !slices.Contains(out, node) {
			out = append(out, node)
		}
	}
	return out
}

// leftBehind reports the volume's device on a node where no pod uses it.
func leftBehind(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) {
	stage, below := initMounts(view, d)
	if below || heldByOthers(p, v, view, d) {
		return // a pod's directory, another namespace, a holder or an open file: their own causes
	}
	mountedHere := stage != nil
	if !mountedHere && (v.Longhorn != nil || !unattached(p, v, view.Name) || !d.Proven || !mapped(view, d)) {
		return
	}
	if mountedHere && deadMap(view, stage.Mount.Dev) {
		return // multipath-map-orphaned or mount-of-dead-device
	}
	if mountedHere && anothers(p, v, view, stage.Mount.Dev) {
		return // the number was given to another volume's disk under the mount: mount-of-dead-device
	}
	if mountedHere && namesake(view, *stage) {
		return // the kubelet counts a dead mount with the same source: mount-of-dead-device
	}
	c, pending := report.Certain, ""
	if why := stillPending(p, v, view.Name); mountedHere && why != "" {
		c, pending = report.Possible, why
	}
	f := p.Find(c, diagnosis.DeviceSubject(view.Name, d.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, d.Dev)
	what := "still maps it as " + d.Block.Name + " (" + d.Dev.String() + "), mounted nowhere"
	if mountedHere {
		what = "still has it mounted on " + stage.Mount.Point
		f.Fact(diagnosis.FromNode(view.Name, "proc/1/mountinfo", stage.Mount.Raw))
	}
	f.Sayf("No pod on node %s uses volume %s, but the node %s. The map, session or mount keeps the volume there.%s%s",
		view.Name, volumeName(v), what, pending, alsoElsewhere(p, v, view.Name))
	if !mountedHere {
		f.NotTo = []string{"filesystem-readonly-after-error"} // what is only mapped writes nothing
	}
	f.Fact(diagnosis.FromNode(view.Name, d.Locator, d.How))
	if !view.AllNamespacesRead() {
		f.Missing("the mount tables of some namespaces on node " + view.Name)
	}
	f.Unless("a pod, an open file, a holder or another mount namespace on node " + view.Name + " that uses the device")
	if mountedHere && alsoElsewhere(p, v, view.Name) != "" {
		f.Advise(remedy.Words("Scale the workload of volume " + volumeName(v) + " to 0 and leave it so until no node mounts the volume: a pod that only starts anew replays the journal under a second writer. Then check the filesystem before anything mounts it."))
	}
	adviseUnmap(f, v, view, d, mountedHere)
	p.Report(f)
}

// anothers tells whether a device is, by its own identity, that of another volume.
func anothers(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, dev probes.Dev) bool {
	return slices.ContainsFunc(p.Index.Volumes, func(o *snapshot.Volume) bool {
		if o == v {
			return false
		}
		d, ok := p.DeviceOn(o, view.Name)
		return ok && d.Proven && slices.Contains(d.Numbers(), dev)
	})
}

// mapped tells whether it is the node that made the device: by a map, a login or a
// connection of its own. A disk that the backend attached is the backend's to take away,
// and a replicated one is on every node that has a copy of it, or a vote.
func mapped(view *snapshot.NodeView, d snapshot.VolumeDevice) bool {
	for _, b := range append(slices.Clone(d.Paths), d.Block) {
		client := slices.ContainsFunc([]string{"rbd", "nbd", "dm-", "loop"}, func(s string) bool { return strings.HasPrefix(b.Name, s) })
		fabric := slices.ContainsFunc(view.Facts.NVMe, func(c probes.NVMeSubsystem) bool {
			return c.Transport != "" && c.Transport != "pcie" && slices.Contains(c.Namespaces, b.Name)
		})
		if client || fabric || view.SessionOfDisk(b.Name) != nil {
			return true
		}
	}
	return false
}

// initMounts returns the staging mount in init, and whether a line below a pod's
// directory exists.
func initMounts(view *snapshot.NodeView, d snapshot.VolumeDevice) (stage *snapshot.Use, below bool) {
	for _, dev := range d.Numbers() {
		for _, u := range view.InitUses(dev) {
			if strings.Contains(u.Mount.Point, "/pods/") {
				return nil, true
			}
			if stage == nil {
				stage = &u
			}
		}
	}
	return stage, false
}

// deadMap tells whether a device is a multipath map without a usable path.
func deadMap(view *snapshot.NodeView, dev probes.Dev) bool {
	m := view.Device(dev)
	return disk.IsMapped(m, "mpath-") && view.NoPath(m)
}

// namesake tells whether a mount of a dead device has the same source. The kubelet
// counts references by that name (GetDeviceMountRefs in mount-utils).
func namesake(view *snapshot.NodeView, stage snapshot.Use) bool {
	return slices.ContainsFunc(view.VolumePaths(), func(m snapshot.VolumeMount) bool {
		return m.Mount.Source == stage.Mount.Source && m.Mount.Dev != stage.Mount.Dev && view.Dead(m.Mount.Dev)
	})
}

// stillPending tells why a mount that the kubelet knows may yet go by itself, or has
// another reason to stay: nobody has wanted it elsewhere for longer than the kubelet's
// retries take (2m2s), or the driver that has to unmount it is not registered.
func stillPending(p *diagnosis.Pass, v *snapshot.Volume, node string) string {
	if registered, known := p.HasDriver(node, v.CSIName()); v.CSIName() != "" && known && !registered {
		return " The driver is not registered on that node, so nobody can unmount it there."
	}
	if !p.ReportedInUse(node, v) {
		return ""
	}
	if va := v.AttachmentOn(node); va != nil && va.DeletionTimestamp != nil && p.Age(va.DeletionTimestamp.Time) > retryTime {
		return ""
	}
	for _, w := range v.Waiting() {
		if p.Age(w.Pod.CreationTimestamp.Time) > retryTime {
			return ""
		}
	}
	return " The kubelet there still lists the volume as in use, so its own unmount may be under way."
}

// retryTime is how long the kubelet waits between two tries at most, with the call
// itself (maxDurationBeforeRetry, 2m2s).
const retryTime = 4 * time.Minute

// heldByOthers tells whether something named keeps the device, which is then the cause.
func heldByOthers(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) bool {
	for _, dev := range d.Numbers() {
		for _, u := range view.ForeignUses(dev) {
			if u.Mount.Master == 0 || len(view.InitUses(dev)) == 0 {
				return true // a copy that init's unmount does not reach
			}
		}
	}
	for _, h := range view.HoldersOf(d.Dev) {
		if !d.Above(h.Device.Dev) {
			return true
		}
	}
	for _, dev := range d.Numbers() {
		for _, o := range view.Openers(dev) {
			if !disk.Passing(p.Index, v, view.Name, o.Process) {
				return true
			}
		}
	}
	return view.Superblock(d.Top()) != nil && len(view.Uses(d.Top())) == 0
}

// unattached tells whether Kubernetes does not want the volume on the node any more:
// no VolumeAttachment there, or one that has been terminating for two minutes. Drivers
// without attachments (in-tree rbd, iscsi) have none by nature.
func unattached(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if !p.Has("storage.k8s.io/volumeattachments") {
		return false
	}
	va := v.AttachmentOn(node)
	return va == nil || va.DeletionTimestamp != nil && p.Age(va.DeletionTimestamp.Time) > 2*time.Minute
}

func alsoElsewhere(p *diagnosis.Pass, v *snapshot.Volume, node string) string {
	for _, o := range p.Devices(v) {
		if o.Node != node && len(o.View.InitUses(o.Dev)) > 0 && len(v.LiveConsumersOn(o.Node)) > 0 {
			return fmt.Sprintf(" At the same time it is mounted on node %s: two nodes have one filesystem. Stop the workload before anything else.", o.Node)
		}
	}
	return ""
}

func adviseUnmap(f *diagnosis.Finding, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice, mountedHere bool) {
	if mountedHere {
		f.Advise(remedy.Words("Unmount exactly the path above on node " + view.Name + "; then the driver, or the next step, can release the device. Restarting the driver's node pod or the kubelet often does it."))
		return
	}
	session := view.SessionOfDisk(d.Block.Name)
	switch {
	case session != nil && len(session.Connections) > 0:
		c := session.Connections[0]
		f.Advise(remedy.LogoutISCSI(view.Name, v, session.Target, net.JoinHostPort(c.PersistentAddress, orDefault(c.PersistentPort, "3260"))))
	case strings.HasPrefix(d.Block.Name, "rbd"):
		f.Advise(remedy.UnmapRBD(view, v, d.Block))
	default:
		f.Advise(remedy.Words("Let the driver's node pod on " + view.Name + " detach " + d.Block.Name + " (restart it), or detach it in the storage backend."))
	}
}
