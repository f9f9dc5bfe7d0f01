package device

import (
	_ "embed"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_held_by_process.md
var deviceHeldByProcessDoc string

// DeviceHeldByProcess finds processes, swap and host mounts that keep a device.
var DeviceHeldByProcess = &diagnosis.Rule{
	Name: "device-held-by-process", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns"), diagnosis.Probe("openfiles")},
	Explains: []string{"unmount-blocked", "detach-stuck", "mount-busy", "format-failed", "pod-stuck-terminating", "multi-attach-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"mount-of-dead-device"},
	Offers:   []string{"restart-holder"},
	Doc:      deviceHeldByProcessDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, s := range stacks(p, v) {
				if s.found {
					heldDevice(p, &s)
				}
			}
		}
	},
}

// heldDevice looks for each kind of holder in the order of how surely it blocks.
func heldDevice(p *diagnosis.Pass, s *stack) {
	released, why := p.WantedReleased(s.volume, s.view.Name)
	wanted := p.WantedHere(s.volume, s.view.Name)
	if (wanted || released) && heldByTarget(p, s) || (wanted || released) && heldBySwap(p, s) || (wanted || released) && heldByHostMount(p, s) {
		return
	}
	if claim := s.view.Facts.Claims[s.device.Dev]; wanted && claim != "free" && len(s.above) == 0 && !mounted(s.view, s.device.Dev) && s.view.Superblock(s.device.Dev) == nil {
		heldExclusively(p, s, claim)
		return
	}
	if released && !heldOpen(p, s, why) {
		heldByStranger(p, s, why)
	}
}

// heldOpen reports a process that keeps a file of the volume's filesystem, or the
// device itself, open although the volume should be let go.
func heldOpen(p *diagnosis.Pass, s *stack, why string) (found bool) {
	for _, dev := range s.numbers() {
		for _, o := range s.view.Openers(dev) {
			who := p.WhoIs(s.view, o.Process)
			if disk.Passing(p.Index, s.volume, s.view.Name, o.Process) || p.IsConsumerProcess(s.volume, s.view.Name, who) && o.Process.PodUID != "" || !blocksRelease(s, o) {
				continue
			}
			f := holderFinding(p, s, report.Certain, o, who)
			f.Sayf("Process %d (%s%s) on node %s keeps %s open (%s), so %s %s cannot be let go, although %s.",
				o.Process.PID, o.Process.Comm, belongsTo(who), s.view.Name, o.Descriptor.Target, o.Descriptor.Path, kindOf(o), volumeName(s.volume), why)
			f.Unless("that the process ends or closes the file and the volume still does not go")
			p.Report(f)
			found = true
		}
	}
	return found
}

// blocksRelease tells whether an open file keeps the volume: a file in a filesystem
// that init has mounted keeps umount from succeeding; a descriptor on the device
// itself keeps only mapper removal, logout and unmap from succeeding.
func blocksRelease(s *stack, o snapshot.Opener) bool {
	if o.Descriptor.Device {
		return !mounted(s.view, s.device.Dev) || s.device.Mapper != nil
	}
	return len(s.view.InitUses(o.Descriptor.Dev)) > 0
}

// heldExclusively reports the only process that has a claimed device open. The
// kernel does not show O_EXCL in fdinfo for all openers, so without the flag the
// link is likely, not certain.
func heldExclusively(p *diagnosis.Pass, s *stack, claim string) {
	var open []snapshot.Opener
	for _, o := range exclusiveOpeners(s.view, s.device.Dev) {
		if !disk.Passing(p.Index, s.volume, s.view.Name, o.Process) && !p.IsConsumerProcess(s.volume, s.view.Name, p.WhoIs(s.view, o.Process)) {
			open = append(open, o)
		}
	}
	for _, o := range open {
		const oExcl = 0o200
		c := report.Likely
		excl := o.Descriptor.Flags&oExcl != 0
		if !excl && (claim == "" || !p.Suffers(s.volume, busySymptoms...)) {
			continue // a plain descriptor, and nothing that shows a claim
		}
		if excl {
			c = report.Certain
		} else if len(open) > 1 {
			c = report.Possible
		}
		who := p.WhoIs(s.view, o.Process)
		f := holderFinding(p, s, c, o, who)
		how := "exclusively (O_EXCL), while nothing mounts or holds"
		if !excl {
			how = "and an exclusive open fails with EBUSY while nothing mounts or holds"
		}
		f.Sayf("Process %d (%s%s) on node %s has the device %s itself open, %s %s. A device that is open with O_EXCL can be neither mounted nor formatted.",
			o.Process.PID, o.Process.Comm, belongsTo(who), s.view.Name, o.Descriptor.Target, how, s.device.Dev)
		if claim != "" {
			f.Fact(diagnosis.FromNode(s.view.Name, "@claim/"+s.device.Dev.String(), claim))
		}
		f.Unless("a device that stays busy after the process has ended")
		p.Report(f)
	}
}

func holderFinding(p *diagnosis.Pass, s *stack, c report.Certainty, o snapshot.Opener, who snapshot.Who) *diagnosis.Finding {
	subject := diagnosis.ProcessSubject(s.view.Name, o.Process.PID)
	if who.Pod != nil {
		subject = diagnosis.PodSubject(who.Pod)
	}
	f := p.Find(c, subject).On(s.volume).Located(s.view.Name)
	f.Device(s.view.Name, s.device.Dev)
	f.Fact(
		diagnosis.FromNode(s.view.Name, o.Descriptor.Path, o.Descriptor.Target),
		diagnosis.FromNode(s.view.Name, fmt.Sprintf("proc/%d/cgroup", o.Process.PID), o.Process.Cgroup),
	)
	if who.Unknown() && !p.Collected("/pods") {
		f.Missing("the pod with UID " + o.Process.PodUID + " (it is not in the API)")
	}
	return f.Advise(remedy.EndHolder(s.view.Name, who))
}

func belongsTo(who snapshot.Who) string {
	switch {
	case who.Pod != nil:
		return " of pod " + who.Pod.Namespace + "/" + who.Pod.Name
	case who.Unit != "":
		return " of unit " + who.Unit
	case who.PodUID != "":
		return " of a pod with UID " + who.PodUID
	}
	return ""
}

func kindOf(o snapshot.Opener) string {
	if o.Descriptor.Device {
		return "the device of volume"
	}
	return "the filesystem of volume"
}

// numbers are the device numbers under which the volume's filesystem may be open.
func (s *stack) numbers() []probes.Dev {
	out := []probes.Dev{s.device.Dev}
	if s.device.Mapper != nil && s.device.Mapper.Dev != s.device.Dev {
		out = append(out, s.device.Mapper.Dev)
	}
	return out
}
