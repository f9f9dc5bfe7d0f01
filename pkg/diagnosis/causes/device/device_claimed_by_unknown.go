package device

import (
	_ "embed"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_claimed_by_unknown.md
var deviceClaimedByUnknownDoc string

// DeviceClaimedByUnknown is what is left when a device is claimed and every known
// kind of claim was looked for in vain.
var DeviceClaimedByUnknown = &diagnosis.Rule{
	Name: "device-claimed-by-unknown", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns"), diagnosis.Probe("openfiles"), diagnosis.Probe("swap")},
	Explains: []string{"mount-busy", "format-failed", "fsck-failed", "unmount-blocked", "pod-waiting-for-volume"},
	Residual: []diagnosis.Layer{diagnosis.Device, diagnosis.Mount},
	Doc:      deviceClaimedByUnknownDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, s := range stacks(p, v) {
				if s.found && s.device.Block != nil && p.Suffers(v, busySymptoms...) && !s.inUse() {
					claimedByUnknown(p, &s)
				}
			}
		}
	},
}

// busySymptoms are what an unknown claim can be the reason of.
var busySymptoms = []string{"mount-busy", "format-failed", "fsck-failed", "unmount-blocked", "mount-failed", "pod-waiting-for-volume"}

// inUse tells whether a running pod of the node uses the volume raw: its own exclusive
// open is rightful, seen or not.
func (s *stack) inUse() bool {
	if !s.volume.Block() {
		return false
	}
	for _, c := range s.volume.Running() {
		if c.Pod.Spec.NodeName == s.view.Name {
			return true
		}
	}
	return false
}

func claimedByUnknown(p *diagnosis.Pass, s *stack) {
	d := s.device
	if s.view.Facts.Claims[d.Dev] == "" && len(s.above) == 0 && !mounted(s.view, d.Dev) && p.WantedHere(s.volume, s.view.Name) && p.Suffers(s.volume, "mount-busy", "format-failed") {
		p.Miss("node/"+s.view.Name+"/claim", s.view.Name) // busy, and nobody tried to claim it
		return
	}
	if s.view.Facts.Claims[d.Dev] != "EBUSY" || mountedAbove(s.view, d.Dev) || s.view.Superblock(d.Dev) != nil ||
		s.view.Swap(d.Dev) != nil || partitionInUse(s.view, d.Block) || len(exclusiveOpeners(s.view, d.Dev)) > 0 {
		return
	}
	c, holder := report.Certain, ""
	for _, h := range s.above {
		switch {
		case d.Mapper != nil && h.Device.Dev == d.Mapper.Dev, knownHolder(h.Device):
			return // another cause, or the rightful mapper
		default:
			c, holder = report.Likely, h.Device.Name
		}
	}
	f := p.Find(c, diagnosis.DeviceSubject(s.view.Name, d.Dev)).On(s.volume).Located(s.view.Name)
	f.Device(s.view.Name, d.Dev)
	if holder != "" {
		f.Sayf("%s (%s) of volume %s on node %s is claimed by %s, a kind of device that no known cause covers.",
			d.Block.Name, d.Dev, volumeName(s.volume), s.view.Name, holder)
		f.Fact(diagnosis.FromNode(s.view.Name, "sys/class/block/"+d.Block.Name+"/holders", strings.Join(d.Block.Holders, " ")))
	} else {
		f.Sayf("Something claims %s (%s) of volume %s on node %s exclusively and could not be identified: no holder, no mount in any namespace that was read, "+
			"no live filesystem, no swap, no process with the device open.", d.Block.Name, d.Dev, volumeName(s.volume), s.view.Name)
	}
	f.Fact(diagnosis.FromNode(s.view.Name, "@claim/"+d.Dev.String(), s.view.Facts.Claims[d.Dev]))
	if !s.view.AllNamespacesRead() {
		f.Missing("the mount tables of some namespaces on node " + s.view.Name)
		f.Certainty = f.Certainty.AtMost(report.Possible)
	}
	f.Unless("an exclusive open that succeeds now: then it was a claim of seconds")
	f.Advise(remedy.Words("Take a second sample in a minute. Look for mount namespaces that a bind mount or a descriptor (mnt:[…]) keeps alive without a process. Take no step that changes the device; the last resort is to drain and reboot node " + s.view.Name + "."))
	p.Report(f)
}

// knownHolder tells whether another rule speaks about this kind of holder.
func knownHolder(d *probes.BlockDevice) bool {
	return hasPrefix(d, "mpath-") || hasPrefix(d, "LVM-") || hasPrefix(d, "CRYPT-") || hasPrefix(d, "part") || isMD(d) || strings.HasPrefix(d.Name, "drbd")
}

// partitionInUse tells whether a partition of the disk is mounted or held.
func partitionInUse(view *snapshot.NodeView, disk *probes.BlockDevice) bool {
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if b.Parent == disk.Name && b.Partition > 0 && (mountedAbove(view, b.Dev) || len(b.Holders) > 0) {
			return true
		}
	}
	return false
}

// exclusiveOpeners are processes that have the block device itself open. The kernel
// does not keep O_EXCL in every fdinfo, so each of them is a suspect.
func exclusiveOpeners(view *snapshot.NodeView, dev probes.Dev) []snapshot.Opener {
	var out []snapshot.Opener
	for _, o := range view.Openers(dev) {
		if o.Descriptor.Device {
			out = append(out, o)
		}
	}
	return out
}
