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

//go:embed md_claims_device.md
var mdClaimsDeviceDoc string

// MDClaimsDevice finds a RAID array that the host assembled from a volume.
var MDClaimsDevice = &diagnosis.Rule{
	Name: "md-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-busy", "format-failed", "mount-failed", "unmount-blocked", "detach-stuck", "pod-stuck-terminating", "pod-waiting-for-volume"},
	LeadsTo:  []string{"block-volume-unmap-stuck"},
	Offers:   []string{"unmap-device"},
	Doc:      mdClaimsDeviceDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, s := range stacks(p, v) {
				mdHolder(p, &s)
			}
		}
	},
}

func mdHolder(p *diagnosis.Pass, s *stack) {
	for _, h := range s.above {
		if !isMD(h.Device) || mountedAbove(s.view, h.Device.Dev) {
			continue
		}
		d := s.bottom(h)
		if d == nil || s.usedByConsumer(p, []snapshot.Holder{h}) {
			continue
		}
		f := p.Find(report.Certain, diagnosis.DeviceSubject(s.view.Name, d.Dev)).On(s.volume).Located(s.view.Name)
		f.Device(s.view.Name, d.Dev)
		f.Device(s.view.Name, s.device.Dev)
		f.Sayf("Node %s assembled the md array %s (state %s) from %s (%s), the device of volume %s. The array holds the device, "+
			"so it cannot be mounted, formatted, unmapped or detached. The array itself is not mounted in any namespace that was read.",
			s.view.Name, h.Device.Name, orUnknown(h.Device.MDState), d.Name, d.Dev, volumeName(s.volume))
		f.Fact(
			diagnosis.FromNode(s.view.Name, "sys/class/block/"+d.Name+"/holders", strings.Join(d.Holders, " ")),
			diagnosis.FromNode(s.view.Name, "sys/class/block/"+h.Device.Name+"/md/array_state", h.Device.MDState),
			contentFact(s.view, d.Dev),
		)
		f.Unless("a mount of " + h.Device.Name + ", or a guest on this node that uses the array")
		adviseMD(f, s, h)
		p.Report(f)
	}
}

func adviseMD(f *diagnosis.Finding, s *stack, h snapshot.Holder) {
	f.Advise(remedy.UnmapMD(s.view, s.volume, h.Device))
	f.Advise(remedy.Words("Keep mdadm on node " + s.view.Name + " from assembling volumes: AUTO -all, or ARRAY <ignore> UUID=… in /etc/mdadm.conf."))
}

func isMD(d *probes.BlockDevice) bool {
	return d != nil && (d.MDState != "" || len(d.Name) > 2 && strings.HasPrefix(d.Name, "md") && d.Name[2] >= '0' && d.Name[2] <= '9')
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
