package device

import (
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// lvmScan reports the transient variant: udev starts a scan for every new block
// device, and the scan's exclusive open or short activation makes somebody else's
// open fail. It is never proved from the node alone: the claim lasts seconds.
func lvmScan(p *diagnosis.Pass, s *stack) {
	d := s.device.Block
	if d == nil || !scannable(d) || len(s.above) > 0 || mounted(s.view, d.Dev) {
		return
	}
	if accepts, read := lvmAccepts(s.view, "/dev/"+d.Name); !read || !accepts {
		return
	}
	text, fresh := openBusyText(p, s.volume, s.view.Name, d.Name)
	scan := lvmOpener(p, s.volume, s.view, d.Dev)
	if text.Raw == "" || (!fresh && scan == nil) {
		return
	}
	c := report.Possible
	if fresh {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.DeviceSubject(s.view.Name, d.Dev)).On(s.volume).Located(s.view.Name)
	f.Device(s.view.Name, d.Dev)
	f.Sayf("Opening %s (%s) on node %s exclusively fails now and then, and lvm.conf there lets LVM scan it (no pattern of a global_filter rejects it). "+
		"The scan that udev starts for every fresh device claims it for a moment. Nothing holds the device at probe time, so the race is likely, not seen.",
		d.Name, d.Dev, s.view.Name)
	f.Fact(text.Evidence(), lvmFilterFact(s.view))
	if scan != nil {
		f.Fact(diagnosis.FromNode(s.view.Name, scan.Descriptor.Path, diagnosis.Arguments(scan.Process.Cmdline)+" → "+scan.Descriptor.Target))
	}
	f.Unless("a global_filter in lvm.conf that rejects the device, or a holder of it")
	f.Advise(preventLVM(s.view.Name))
	p.Report(f)
}

// scannable tells whether LVM's udev rules look at such a device although a
// driver creates it for itself.
func scannable(d *probes.BlockDevice) bool {
	for _, p := range []string{"loop", "drbd", "dm-", "rbd", "nbd", "zd"} {
		if strings.HasPrefix(d.Name, p) {
			return true
		}
	}
	return false
}

var openBusy = regexp.MustCompile(`(?s)open\(\S*?([a-z]+\d+)\S*\) failed: Device or resource busy|[Cc](?:an't|annot|ould not) open .*exclusive`)

// openBusyText finds a text that says that opening this device failed as busy: among
// what was said about the volume, then in the logs of the node's pods, where a storage
// system's own agent speaks of the device and not of the volume.
func openBusyText(p *diagnosis.Pass, v *snapshot.Volume, node, name string) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		m := openBusy.FindStringSubmatch(t.Raw)
		if m != nil && (m[1] == name || strings.Contains(t.Raw, "/dev/"+name)) {
			return t, t.Fresh
		}
	}
	var last diagnosis.Text
	for _, log := range p.Logs {
		if pod := p.Pod(log.Namespace, log.Pod); pod == nil || pod.Spec.NodeName != node {
			continue
		}
		var at time.Time
		for _, line := range log.Lines {
			if d := message.Date(line, p.TakenAt); !d.IsZero() {
				at = d
			}
			if m := openBusy.FindStringSubmatch(line); m != nil && m[1] == name && !at.Before(last.At) {
				last = diagnosis.Text{Source: "log", Component: log.Container, Node: node, At: at, Raw: strings.TrimSpace(line),
					Locator: "logs " + log.Namespace + "/" + log.Pod + "/" + log.Container}
			}
		}
	}
	return last, !last.At.IsZero() && p.Age(last.At) < 10*time.Minute
}

func lvmOpener(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, dev probes.Dev) *snapshot.Opener {
	for _, o := range view.Openers(dev) {
		if disk.OfLVM(p.Index, v, view.Name, o.Process) {
			return &o
		}
	}
	return nil
}
