package mounts

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stageTime is how long after a pod's start its volumes are mounted at the latest
// in an undisturbed start: kubelet's own limit (podAttachAndMountTimeout).
const stageTime = 2*time.Minute + 3*time.Second

// mountedBefore is a moment before which the mounts must have been made, as no
// container starts earlier than its mounts. mountinfo has no times. A restarted
// container hides its first start; then the start of the pod must do, which is
// not sure.
func mountedBefore(x *snapshot.Index, d *DeadMount) (before time.Time, sure bool) {
	if at := mountLine(d.view, d.view.Device(d.Dev)); !at.IsZero() {
		return at, true
	}
	if d.Volume == nil {
		return before, false
	}
	for _, m := range x.VolumeMounts(d.Volume, d.view.Name) {
		pod := x.PodByUID(m.Path.PodUID)
		if m.Mount.Dev != d.Dev || pod == nil {
			continue
		}
		for _, s := range pod.Status.ContainerStatuses {
			at := time.Time{}
			switch r := s.State.Running; {
			case r != nil && s.RestartCount == 0:
				at = r.StartedAt.Time
			case s.RestartCount > 0 && pod.Status.StartTime != nil:
				at = pod.Status.StartTime.Add(stageTime)
			}
			if !at.IsZero() && (before.IsZero() || at.Before(before)) {
				before, sure = at, s.RestartCount == 0
			}
		}
	}
	return before, sure
}

// appeared is when a disk came: the kernel's announcement, else the creation of the
// VolumeAttachment that brought its volume to the node; or zero.
func appeared(x *snapshot.Index, view *snapshot.NodeView, name string, v *snapshot.Volume) time.Time {
	t := attachLine(view, name)
	if at := changeLine(view, view.ByName(name)); at.After(t) {
		t = at
	}
	if va := v.AttachmentOn(view.Name); t.IsZero() && va != nil {
		t = va.CreationTimestamp.Time
	}
	return t
}

// attachLine is when the kernel last announced a SCSI disk of this name, or zero.
func attachLine(view *snapshot.NodeView, name string) time.Time {
	return lastly(view, func(l probes.KernelLine) bool {
		return slices.Contains(l.Names, name) && strings.Contains(l.Text, "Attached SCSI")
	})
}

// lastly is when the kernel last said something, or zero.
func lastly(view *snapshot.NodeView, what func(probes.KernelLine) bool) time.Time {
	if l := evidence.Last(view.Facts.Kernel, what); l != nil {
		return l.At
	}
	return time.Time{}
}

// mountLine is when the kernel mounted the filesystem that is on a device now, or zero:
// a line that an unmount follows is of an earlier one.
func mountLine(view *snapshot.NodeView, b *probes.BlockDevice) time.Time {
	var t time.Time
	if b == nil {
		return t
	}
	for _, l := range view.Facts.Kernel {
		switch {
		case !slices.Contains(l.Names, b.Name):
		case l.Kind == kmsg.Mounted, strings.HasPrefix(l.Text, "XFS (") && strings.Contains(l.Text, "Mounting V"):
			t = l.At
		case l.Kind == kmsg.Unmounted:
			t = time.Time{}
		}
	}
	return t
}

// changeLine is when a disk last became another one under its address, by the kernel's
// word for exactly this LUN (scsi_report_sense in drivers/scsi/scsi_error.c), or zero.
func changeLine(view *snapshot.NodeView, b *probes.BlockDevice) time.Time {
	return lastly(view, func(l probes.KernelLine) bool {
		return b != nil && b.HCTL != "" && strings.HasPrefix(l.Text, "sd "+b.HCTL+": ") && (strings.Contains(l.Text, "Inquiry data has changed") || l.Kind == kmsg.LUNChanged)
	})
}

// kernelFacts quotes the kernel's lines of some moments about mounts and disks.
func kernelFacts(view *snapshot.NodeView, times ...time.Time) []report.Evidence {
	var out []report.Evidence
	for _, l := range view.Facts.Kernel {
		dated := l.Kind == kmsg.Mounted || l.Kind == kmsg.LUNChanged || strings.Contains(l.Text, "Inquiry data has changed") ||
			strings.Contains(l.Text, "Attached SCSI") || strings.Contains(l.Text, "Mounting V")
		if dated && !l.At.IsZero() && slices.ContainsFunc(times, l.At.Equal) {
			out = append(out, evidence.FromNode(view.Name, "@kmsg "+l.At.UTC().Format(time.RFC3339), l.Text))
		}
	}
	return out
}
