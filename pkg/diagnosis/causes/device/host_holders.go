package device

import (
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// heldBySwap reports swap on the volume's device: it claims the device, and mkfs
// says that it is mounted.
func heldBySwap(p *diagnosis.Pass, s *stack) bool {
	w := s.view.Swap(s.device.Dev)
	if w == nil {
		return false
	}
	f := p.Find(report.Certain, diagnosis.DeviceSubject(s.view.Name, s.device.Dev)).On(s.volume).Located(s.view.Name)
	f.Device(s.view.Name, s.device.Dev)
	f.Sayf("Node %s swaps to %s (%s), the device of volume %s. Swap claims the device exclusively.", s.view.Name, w.Path, s.device.Dev, volumeName(s.volume))
	f.Fact(diagnosis.FromNode(s.view.Name, "proc/swaps", strings.TrimSpace(w.Path+" "+w.Type)))
	f.Advise(remedy.Words("Switch this swap area off on node " + s.view.Name + " (swapoff of exactly " + w.Path + ") and remove it from /etc/fstab and from units. What lay on the volume before the swap area was made is lost."))
	f.Unless("another number of the volume's device")
	p.Report(f)
	return true
}

// heldByHostMount reports a mount of the device that the host itself made, outside
// the kubelet's directory.
func heldByHostMount(p *diagnosis.Pass, s *stack) bool {
	numbers := s.numbers()
	for _, part := range s.view.PartitionsOf(s.device.Dev) {
		numbers = append(numbers, part.Dev)
	}
	for _, h := range s.above { // an array of which the device is a member
		if isMD(h.Device) {
			numbers = append(numbers, h.Device.Dev)
		}
	}
	for _, dev := range numbers {
		for _, u := range s.view.InitUses(dev) {
			if !hostMade(s.view, u) {
				continue
			}
			subject := dev
			if b := s.view.Device(dev); b != nil && (b.Partition > 0 || isMD(b)) {
				subject = s.device.Dev // the disk that is held
			}
			f := p.Find(report.Certain, diagnosis.DeviceSubject(s.view.Name, subject)).On(s.volume).Located(s.view.Name)
			f.Device(s.view.Name, dev)
			f.Device(s.view.Name, s.device.Dev)
			f.Sayf("Node %s itself has the device %s of volume %s mounted on %s, outside the kubelet's directory%s. Neither the driver nor the kubelet will unmount that.",
				s.view.Name, dev, volumeName(s.volume), u.Mount.Point, fstabNote(s.view, u.Mount.Point))
			f.Fact(diagnosis.FromNode(s.view.Name, "proc/1/mountinfo", u.Mount.Raw))
			f.Unless("a driver that stages its volumes at that path")
			f.Advise(remedy.Words("Find out who mounted " + u.Mount.Point + " (fstab, a unit, a person) and what uses it; then unmount exactly that path on node " + s.view.Name + " and remove the entry."))
			p.Report(f)
			return true
		}
	}
	return false
}

// hostMade tells whether a mount in init's namespace is none of the kubelet's or a
// storage system's own.
func hostMade(view *snapshot.NodeView, u snapshot.Use) bool {
	for _, prefix := range []string{view.KubeletRoot(), "/var/lib/longhorn", "/run/containerd", "/var/lib/containerd", "/var/lib/docker", "/run/k3s", "/var/lib/rancher", "/run/user"} {
		if u.Mount.Point == prefix || strings.HasPrefix(u.Mount.Point, prefix+"/") {
			return false
		}
	}
	// Paths that contain a kubelet's layout below another root are the kubelet's, too.
	return !strings.Contains(u.Mount.Point, "/pods/") && !strings.Contains(u.Mount.Point, "/plugins/kubernetes.io/")
}

// fstabNote says whether /etc/fstab asks for the mount point.
func fstabNote(view *snapshot.NodeView, point string) string {
	for _, line := range strings.Split(view.Facts.Files["etc/fstab"].Content, "\n") {
		if w := strings.Fields(line); len(w) > 1 && w[1] == point && !strings.HasPrefix(w[0], "#") {
			return " (/etc/fstab: " + strings.TrimSpace(line) + ")"
		}
	}
	return ""
}

// heldByTarget reports a kernel target (LIO, nvmet) that exports the volume's device
// from the node: it has the device open exclusively, and no process shows it.
func heldByTarget(p *diagnosis.Pass, s *stack) bool {
	for _, name := range slices.Sorted(maps.Keys(s.view.Facts.Files)) {
		if !strings.HasPrefix(name, "sys/kernel/config/target/core/") && !strings.HasPrefix(name, "sys/kernel/config/nvmet/") {
			continue
		}
		path := strings.TrimSpace(s.view.Facts.Files[name].Content)
		if dev, ok := s.view.NumberAt(path); !ok || path == "" || !slices.Contains(s.numbers(), dev) {
			continue
		}
		f := p.Find(report.Certain, diagnosis.DeviceSubject(s.view.Name, s.device.Dev)).On(s.volume).Located(s.view.Name)
		f.Device(s.view.Name, s.device.Dev)
		f.Sayf("The kernel target of node %s exports %s (%s), the device of volume %s, as a backstore. A backstore holds its device exclusively.",
			s.view.Name, path, s.device.Dev, volumeName(s.volume))
		f.Fact(diagnosis.FromNode(s.view.Name, name, path))
		f.Unless("another number of the path that the backstore names")
		f.Advise(remedy.Words("Remove this backstore on node " + s.view.Name + " through whoever configured it (targetcli, nvmetcli, a storage agent), after its initiators have logged out."))
		p.Report(f)
		return true
	}
	return false
}
