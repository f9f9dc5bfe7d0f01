package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// FirstReadFails asks the kernel's log of a node whether the first sectors of a disk of
// Longhorn (IET VIRTUAL-DISK) could not be read within a minute after it was found or
// attached, lately. Kernels that look for partitions before a disk has its name in place report it attached
// after that read has failed (drivers/scsi/sd.c: sd_probe, device_add_disk).
func FirstReadFails(pl *evidence.Place) evidence.Answer {
	if r := pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	found := pl.View.KernelLines(kmsg.SCSIDiscovered)
	for _, l := range slices.Backward(pl.View.KernelLines(kmsg.MediumError)) {
		if !firstSectors(l.Text) || l.At.IsZero() || pl.X.Age(l.At) > 30*time.Minute {
			continue
		}
		for _, d := range slices.Backward(found) {
			if !strings.Contains(d.Text, "VIRTUAL-DISK") {
				continue
			}
			if named, ok := namedAs(pl.View, d, l); ok {
				return evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", named.Text), evidence.FromNode(pl.Node, "@kmsg", l.Text))
			}
		}
	}
	return evidence.No()
}

// firstSectors tells whether a failed read was of the very beginning of a disk.
func firstSectors(text string) bool {
	_, after, ok := strings.Cut(text, ", sector ")
	var sector int64
	n, err := fmt.Sscanf(after, "%d", &sector)
	return ok && n == 1 && err == nil && sector < 256 && strings.Contains(text, "(READ)")
}

// namedAs finds the line that gives a disk which was found the name that a read soon after has.
func namedAs(view *snapshot.NodeView, found, read probes.KernelLine) (probes.KernelLine, bool) {
	_, hctl, _ := strings.Cut(found.Text, "scsi ")
	hctl, _, _ = strings.Cut(hctl, ": ")
	for _, l := range view.Facts.Kernel {
		for _, name := range read.Names {
			if l.At.Before(found.At) || !strings.Contains(l.Text, "sd "+hctl+": ["+name+"]") {
				continue
			}
			since := read.At.Sub(found.At)
			if l.Kind == kmsg.SCSIAttached && !read.At.Before(l.At) {
				since = min(since, read.At.Sub(l.At))
			}
			if since >= 0 && since <= time.Minute {
				return l, true
			}
		}
	}
	return probes.KernelLine{}, false
}

// Failing are the v1 volumes that do not come up on a node although none of their
// replicas has failed.
func Failing(x *snapshot.Index, node string) (out []*snapshot.Volume, facts []report.Evidence) {
	for _, e := range x.Cluster.Longhorn.Engines {
		v := x.VolumeOfLonghorn(e.VolumeName)
		if v == nil || v.LH() == nil || IsV2(v.LH()) || e.NodeID != node {
			continue
		}
		st := v.LH().Status.State
		broken := e.CurrentState == "error" || (st == "attaching" || st == "detaching") && e.Endpoint == ""
		clean := len(v.Longhorn.Replicas) > 0 && !slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.FailedAt != "" })
		if broken && clean {
			out = append(out, v)
			facts = append(facts, evidence.FromAPI("Engine "+e.Name, "status.currentState", e.CurrentState+", volume "+st))
		}
	}
	return out, facts
}

// Elsewhere asks whether other nodes serve v1 volumes now while this one serves none.
func Elsewhere(x *snapshot.Index, node string) evidence.Answer {
	var facts []report.Evidence
	for _, e := range x.Cluster.Longhorn.Engines {
		v := x.LHVolume(e.VolumeName)
		if v == nil || IsV2(v) || e.CurrentState != "running" || e.Endpoint == "" {
			continue
		}
		if e.NodeID == node {
			return evidence.No()
		}
		facts = append(facts, evidence.FromAPI("Engine "+e.Name, "status.endpoint", e.Endpoint+" on "+e.NodeID))
	}
	if len(facts) > 1 {
		facts = facts[:1]
	}
	return Read(x, "engines").Found(facts...)
}

// TargetSays asks for lines of tgtd in the log of a node's instance-manager: its engine
// could not read (READ(10) is 28 and READ(16) 88, SBC-3; a write fails when the engine dies).
func TargetSays(x *snapshot.Index, node string) evidence.Answer {
	for _, im := range x.InstanceManagersOn(node) {
		for l := range evidence.Lines(x.LogsOf(im.Namespace, im.Name)) {
			if strings.Contains(l.Text, "fail to read at ") || strings.Contains(l.Text, "io error") && evidence.ContainsAny(l.Text, " 28 -14 ", " 88 -14 ") {
				return evidence.Yes(l.Evidence())
			}
		}
	}
	return evidence.No()
}
