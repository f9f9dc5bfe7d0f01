package snapshot

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// What the component that acted names in a fresh failure: a path below /dev, also of the host's root in a
// directory of its container, or the digits of an identity.
var (
	saidPath  = pattern.MustCompile(`(?:^|[\s"'=:\[(,])(?:/[\w.-]+)?(/dev/[A-Za-z0-9_./:+-]+)`)
	saidDigit = pattern.MustCompile(`\b(?:0x|naa\.|eui\.)?[0-9A-Fa-f]{16,33}\b`)
	saidLUN   = pattern.MustCompile(`^/dev/disk/by-path/.*-iscsi-(.+)-lun-(\d+)$`) // target and LUN, also of a link that is not there
)

// saidDevice finds the one disk that fresh failures of the volume's own steps name on
// the node. An identity in the text is one; a path is a claim, which is believed when
// nothing contradicts it, and proven when the disk's size is the volume's.
func (x *Index) saidDevice(view *NodeView, v *Volume) (match, bool) {
	var found match
	for _, c := range v.WaitingOn(view.Name) {
		for _, e := range x.Events("Pod", c.Pod.Namespace, c.Pod.Name) {
			if !x.lastWord(e, x.VolumeChanged(v, view.Name)) || !x.aboutVolume(e, v, c) {
				continue
			}
			for _, m := range x.namedIn(e.Message, view, v) {
				if found.how != "" && found.dev != m.dev {
					return match{}, false // two disks: neither is told
				}
				m.proven = m.proven && x.Fresh(e, x.VolumeChanged(v, view.Name)) // a name may be another disk's by now
				m.how += " in Event Pod " + c.Pod.Namespace + "/" + c.Pod.Name + " " + e.Reason
				if found.how == "" || m.proven && !found.proven {
					found = m
				}
			}
		}
	}
	return found, found.how != ""
}

// saidMonitors are what the command lines of rbd and mount.ceph name that drivers quote.
var saidMonitors = pattern.MustCompile(`(?: -m |-t ceph )((?:[0-9a-fA-F.:\[\]]+:\d+,?)+)`)

// CephMonitors are the monitors that the PV names, or else, by their addresses, fresh failures
// of the volume on a node: a CSI driver has them in a ConfigMap, which is not read.
func (x *Index) CephMonitors(v *Volume, node string) []string {
	if named := v.CephMonitors(); len(named) > 0 {
		return named
	}
	var out nodeList
	for _, c := range v.WaitingOn(node) {
		for _, e := range x.Events("Pod", c.Pod.Namespace, c.Pod.Name) {
			if !x.lastWord(e, x.VolumeChanged(v, node)) || !x.aboutVolume(e, v, c) {
				continue
			}
			for _, m := range saidMonitors.FindAllStringSubmatch(e.Message, -1) {
				for _, a := range PortalsIn(m[1]) {
					out.add(a.String())
				}
			}
		}
	}
	return out
}

// nvmePort is where subsystems of NVMe over TCP and RDMA listen (NVMe over Fabrics, 7.4.9.3).
const nvmePort = 4420

// saidSubsystem is where a driver says that it connected to (options of /dev/nvme-fabrics, nvme-cli).
var saidSubsystem = pattern.MustCompile(`traddr[= ]([0-9a-fA-F.:]+)[, ](?:--)?trsvcid[= ]([0-9]+)`)

// NVMePortals are the addresses of a volume's subsystems: by value, as its source, its attachment to a
// node and fresh failures there name them.
func (x *Index) NVMePortals(v *Volume, node string) []netip.AddrPort {
	if v == nil || v.PV == nil {
		return nil
	}
	var out []netip.AddrPort
	add := func(list []netip.AddrPort) {
		for _, a := range list {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for _, values := range v.spokenOn(node) {
		texts := slices.Sorted(maps.Values(values))
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "nqn.") }) {
			for _, text := range texts {
				add(portalsIn(text, nvmePort))
			}
		}
	}
	for _, c := range v.WaitingOn(node) {
		for _, e := range x.Events("Pod", c.Pod.Namespace, c.Pod.Name) {
			if m := saidSubsystem.FindStringSubmatch(e.Message); m != nil && x.Fresh(e, x.VolumeChanged(v, node)) && x.aboutVolume(e, v, c) {
				add(portalsIn(net.JoinHostPort(m[1], m[2]), nvmePort))
			}
		}
	}
	return out
}

// aboutVolume tells whether an event of a pod speaks of the volume: it names it, or the
// pod has no other.
func (x *Index) aboutVolume(e *Event, v *Volume, c *Consumer) bool {
	if !strings.HasPrefix(e.Reason, "Failed") {
		return false
	}
	for _, name := range []string{v.PVName(), c.Volume} {
		if name != "" && strings.Contains(e.Message, `volume "`+name+`"`) {
			return true
		}
	}
	return len(x.VolumesOfPod(c.Pod)) == 1 && !strings.Contains(e.Message, `volume "`)
}

func (x *Index) namedIn(text string, view *NodeView, v *Volume) []match {
	var out []match
	for _, id := range saidDigit.FindAllString(text, -1) {
		bare, paths := []string{BareWWID(id)}, match{}
		for _, b := range view.Blocks() {
			if field := identityField(view, b, bare); field != "" && b.Partition == 0 && b.DM == nil && !x.othersDisk(view, v, b) {
				paths.addPath(b)
				paths.how, paths.locator = field+", named", "sys/class/block/"+b.Name
			}
		}
		if m, ok := paths.finish(); ok {
			out = append(out, m)
		}
	}
	for _, m := range saidPath.FindAllStringSubmatch(text, -1) {
		p := strings.TrimRight(m[1], ".:/")
		if t := saidLUN.FindStringSubmatch(p); t != nil {
			if m, ok := iscsiDevice(view, t[1], t[2]); ok && !slices.ContainsFunc(m.paths, func(b *probes.BlockDevice) bool { return x.othersDisk(view, v, b) }) {
				m.how += ", named"
				out = append(out, m)
				continue
			}
		}
		dev, ok := view.NumberAt(p)
		b := view.Device(dev)
		if !ok || b == nil || b.Partition > 0 || b.LoopFile != "" || x.othersDisk(view, v, b) || view.NamesOther(v, b) {
			continue
		}
		named := match{paths: []*probes.BlockDevice{b}}
		if b.DM != nil { // drivers of arrays name the map over the paths
			if named.paths = view.Leaves(dev); !strings.HasPrefix(b.DM.UUID, "mpath-") || len(named.paths) < 2 {
				continue
			}
		}
		size, fits := v.fits(b)
		if size != "" && !fits {
			continue // a disk that cannot be this volume: the name is another's by now
		}
		m, _ := named.finish()
		m.proven, m.how, m.locator = fits, p+size+", named", strings.TrimPrefix(p, "/")
		out = append(out, m)
	}
	return out
}

// volumeName is how provisioners and Amazon name volumes, and backends the disks of these.
var volumeName = pattern.MustCompile(`(?i)pvc-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bvol-?[0-9a-f]{17}\b`)

// NamesOther tells whether what a disk says of itself, or udev made of that, is the name of another volume, where one of
// this volume has that form: a driver may name the disk over which it stumbles, which is not the one that it looks for.
func (n *NodeView) NamesOther(v *Volume, b *probes.BlockDevice) bool {
	own := v.PVName() + " " + v.Handle
	if !volumeName.MatchString(own) {
		return false
	}
	said := []string{b.Serial, b.WWID, b.VPD83}
	for _, l := range n.Facts.DevLinks {
		if l.Dev == b.Dev && strings.HasPrefix(l.Path, "/dev/disk/by-id/") {
			said = append(said, l.Path)
		}
	}
	other := false
	for _, name := range volumeName.FindAllString(strings.Join(said, " "), -1) {
		if v.Names(name) {
			return false
		}
		other = other || name[:3] == volumeName.FindString(own)[:3]
	}
	return other
}

// othersDisk tells whether a disk is of the system or mounted as another volume.
func (x *Index) othersDisk(view *NodeView, v *Volume, b *probes.BlockDevice) bool {
	numbers := []probes.Dev{b.Dev}
	for _, p := range view.PartitionsOf(b.Dev) {
		numbers = append(numbers, p.Dev)
	}
	return slices.ContainsFunc(numbers, func(dev probes.Dev) bool {
		return slices.ContainsFunc(view.InitUses(dev), func(u Use) bool {
			p, ok := view.ParsePath(u.Mount.Point)
			return !ok || !pathIsOf(view, VolumeMount{Use: u, Path: p}, v)
		})
	})
}

// fits compares the size of a disk with the volume's: drivers round up to whole units of
// their backend. The text is empty when one of them is not known.
func (v *Volume) fits(b *probes.BlockDevice) (text string, fits bool) {
	if v.PV == nil || b.Sectors <= 0 {
		return "", false
	}
	q, ok := v.PV.Spec.Capacity[corev1.ResourceStorage]
	if !ok || q.Value() <= 0 {
		return "", false
	}
	const unit = 1 << 30
	want, have := q.Value(), b.Sectors*512
	return fmt.Sprintf(" (%s, %d bytes)", b.Name, have), have >= want && have <= want+want/20+unit
}
