package transport

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_session_lost.md
var iscsiSessionLostDoc string

// ISCSISessionLost finds disks whose session was not recovered in time.
var ISCSISessionLost = &diagnosis.Rule{
	Name: "iscsi-session-lost", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("blockdev"), diagnosis.Probe("iscsi"), diagnosis.Probe("nvme")},
	Explains: []string{"volume-io-error", "volume-readonly", "volume-hung", "mount-failed", "pod-stuck-terminating", "pod-waiting-for-volume"},
	LeadsTo:  []string{"mount-of-dead-device", "filesystem-readonly-after-error", "multipath-map-orphaned", "crypt-mapper-stale"},
	Offers:   []string{"delete-pod"},
	Doc:      iscsiSessionLostDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range blockNodes(p, v) {
				view := p.View(node)
				if view == nil {
					if p.Suffers(v, "volume-io-error", "volume-readonly", "volume-hung") {
						p.Probed(node)
					}
					continue
				}
				for _, d := range disksOf(p, v, view) {
					sessionLost(p, v, view, d)
				}
			}
		}
	},
}

// blockNodes are the nodes that may have the volume's disk: those that should have
// it, and those with a mount of it.
func blockNodes(p *diagnosis.Pass, v *snapshot.Volume) []string {
	nodes := slices.Clone(p.DeviceNodes(v))
	for _, n := range p.OtherNodes(v) {
		if !slices.Contains(nodes, n) && len(p.VolumeMounts(v, n)) > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// disk is a disk of the volume on a node, and how it is tied to it.
type disk struct {
	*probes.BlockDevice
	how string
}

// disksOf are the volume's device and the devices under its mounts. Of a disk with
// several paths only the loss of all paths is a loss.
func disksOf(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []disk {
	var out []disk
	add := func(b *probes.BlockDevice, how string) {
		if b != nil && !slices.ContainsFunc(out, func(d disk) bool { return d.Dev == b.Dev }) {
			out = append(out, disk{b, how})
		}
	}
	own := map[probes.Dev]bool{}
	if d, ok := p.DeviceOn(v, view.Name); ok && d.Block != nil {
		for _, n := range d.Numbers() {
			own[n] = true
		}
		if len(d.Paths) < 2 || allLost(view, d.Paths) {
			add(d.Block, d.How)
		}
	}
	for _, m := range p.VolumeMounts(v, view.Name) {
		if own[m.Mount.Dev] || m.Mount.Dev.Anonymous() {
			continue
		}
		leaves := view.Leaves(m.Mount.Dev)
		if len(leaves) == 1 {
			add(leaves[0], "mounted at "+m.Mount.Point)
		}
	}
	return out
}

// evicted tells whether the driver itself was driven off the node while its last
// pods there end: the loss of the disk is a part of that, I/O of a lost disk fails at
// once, and what the unmount waits for is the plugin.
func evicted(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	driver := v.CSIName()
	if driver == "" || p.DriverPodOn(driver, node) != nil {
		return false
	}
	registered, known := p.HasDriver(node, driver)
	released, _ := p.WantedReleased(v, node)
	return released && (!known || !registered)
}

func allLost(view *snapshot.NodeView, paths []*probes.BlockDevice) bool {
	for _, b := range paths {
		if judge(view, b, true).lost == "" {
			return false
		}
	}
	return true
}

func sessionLost(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d disk) {
	j := judge(view, d.BlockDevice, usesISCSI(p, v))
	if j.lost == "" && j.recovering == "" || j.lost != "" && evicted(p, v, view.Name) {
		return
	}
	certainty := report.Certain
	if j.lost == "" {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.DeviceSubject(view.Name, d.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, d.Dev)
	for _, h := range view.HoldersOf(d.Dev) {
		if h.Device != nil {
			f.Device(view.Name, h.Device.Dev)
		}
	}
	pods := v.LiveConsumersOn(view.Name)
	text := fmt.Sprintf("Disk %s (%s) of volume %s on node %s ", d.Name, d.Dev, volumeName(v), view.Name)
	if j.lost != "" {
		text += "lost its session to the storage: " + j.lost + ". The kernel refuses all I/O of it, and a session that comes back later does not revive what is mounted from it."
	} else {
		text += "is waiting for its session to the storage: " + j.recovering + ". It is recovering and not lost yet; accesses hang until then."
	}
	f.Sayf("%s%s", text, users(pods))
	f.Fact(j.evidence...)
	for _, c := range pods {
		f.Pod(c.Pod)
	}
	f.Unless("device state running, a session that is LOGGED_IN, and no error since")
	if j.lost == "" {
		f.Missing("the outcome of the recovery")
		f.Advise(remedy.Words("Find the break: the target's pod or host, the network between, a lack of CPU. When the session is back in time, the workload goes on by itself."))
		p.Report(f)
		return
	}
	for _, c := range pods {
		if !c.Terminating() {
			f.Advise(remedy.DeletePod(c.Pod).Note("The disk under its volume is %s; all pods of the volume on this node must go, so that it is unstaged and attached anew.", j.state))
		}
	}
	f.Advise(remedy.Words("Find what broke the session: the target's pod or host, the network between, a lack of CPU. A longer recovery time only hides it. If writes were lost, the filesystem wants a check later, while nothing mounts it."))
	p.Report(f)
}

func users(pods []*snapshot.Consumer) string {
	var names []string
	for _, c := range pods {
		names = append(names, c.Pod.Namespace+"/"+c.Pod.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " Pods on it: " + strings.Join(names, ", ") + "."
}

// volumeName is the name that people use for the volume.
func volumeName(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	if v.PVName() != "" {
		return v.PVName()
	}
	return v.Spoken()
}
