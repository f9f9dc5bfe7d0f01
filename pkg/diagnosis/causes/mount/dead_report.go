package mount

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// reportDead says which mounts of which pods use what is gone, and where the
// volume is now.
func reportDead(p *diagnosis.Pass, d dead) {
	pods := d.podsOf(p)
	f := p.Find(report.Certain, d.subject(pods)).On(d.volume).Located(d.view.Name)
	f.Device(d.view.Name, d.dev)
	if d.now != nil {
		f.Device(d.view.Name, d.now.Dev)
	}
	for _, pod := range pods {
		f.Pod(pod)
	}
	f.On(d.victim)
	f.Sayf("On node %s %s still mounted from %s: %s.%s%s", d.view.Name, d.paths(), d.name(), d.reason, d.present(), d.users(pods))
	for _, m := range d.mounts {
		f.Fact(tableLine(d.view.Name, m.NS, m.Mount))
		if st, ok := d.view.Statfs(m.Mount.Point); ok && st.Err != "" {
			f.Fact(diagnosis.FromNode(d.view.Name, "@statfs"+m.Mount.Point, st.Err))
		}
	}
	f.Fact(d.facts...)
	if d.unsure != "" {
		f.Missing(d.unsure)
	}
	if d.now != nil {
		f.Fact(diagnosis.FromNode(d.view.Name, d.now.Locator, d.now.How))
	}
	if d.victim == nil && d.volume != nil && len(d.volume.LiveConsumersOn(d.view.Name)) == 0 {
		// A leftover: what happens on other nodes has other reasons.
		f.Explains = []string{"unmount-blocked", "detach-stuck", "multi-attach-error", "pod-stuck-terminating", "pod-waiting-for-volume"}
	}
	f.Unless("an entry of " + d.dev.String() + " in sys/class/block that is the volume's own disk")
	d.advise(p, f, pods)
	p.Report(f)
}

// subject is the number in the mount; a pod that Longhorn wants to remount is
// named itself, because that finding and this one are about the same pod.
func (d dead) subject(pods []*corev1.Pod) report.Subject {
	if d.volume != nil {
		if lh := d.volume.LH(); lh != nil && lh.Status.RemountRequestedAt != "" && !d.volume.RegularRWX() {
			at, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt)
			for _, pod := range pods {
				if err == nil && pod.Status.StartTime != nil && at.After(pod.Status.StartTime.Time) && pod.DeletionTimestamp == nil {
					return diagnosis.PodSubject(pod)
				}
			}
		}
	}
	return diagnosis.DeviceSubject(d.view.Name, d.dev)
}

// paths names the mount points, at most three.
func (d dead) paths() string {
	var list []string
	for _, m := range d.mounts {
		if !slices.Contains(list, m.Mount.Point) {
			list = append(list, m.Mount.Point)
		}
	}
	if len(list) == 1 {
		return list[0] + " is"
	}
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return joined(list) + " are"
}

// name is what the mount's device was called, with its number.
func (d dead) name() string {
	names := []string{}
	for _, m := range d.mounts {
		if m.Mount.Source != "" && !slices.Contains(names, m.Mount.Source) {
			names = append(names, m.Mount.Source)
		}
	}
	kname := kernelName(d.dev)
	if kname != "" && d.view.Device(d.dev) == nil && !slices.Contains(names, "/dev/"+kname) {
		names = append(names, "was "+kname)
	}
	return fmt.Sprintf("device %s (%s)", d.dev, joined(names))
}

// kernelName is the name that a SCSI disk of this number has: major 8, sixteen
// minors a disk (Documentation/admin-guide/devices.txt).
func kernelName(dev probes.Dev) string {
	if dev.Major != 8 || dev.Minor >= 16*26 {
		return ""
	}
	name := "sd" + string(rune('a'+dev.Minor/16))
	if part := dev.Minor % 16; part != 0 {
		return fmt.Sprintf("%s%d", name, part)
	}
	return name
}

func (d dead) present() string {
	if d.volume == nil {
		return " The path belongs to no volume that the API knows."
	}
	if d.now == nil || d.now.Block == nil {
		return " It belonged to volume " + volumeName(d.volume) + "."
	}
	return fmt.Sprintf(" Volume %s is %s now.", volumeName(d.volume), diskName(d.view, d.now.Dev))
}

func (d dead) users(pods []*corev1.Pod) string {
	if len(pods) == 0 {
		return " No pod of the API uses these mounts."
	}
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, podName(pod))
	}
	return " Whatever pod " + joined(names) + " reads or writes there fails or is lost."
}

// advise makes the pods let go; a lazy unmount only where no pod runs on the path
// and the disk is nobody else's.
func (d dead) advise(p *diagnosis.Pass, f *diagnosis.Finding, pods []*corev1.Pod) {
	if d.reused {
		f.Advise(remedy.Words("The number belongs to a living disk of another volume. Stop the pods of both volumes, then unmount exactly these paths plainly (not lazily), and have both filesystems checked before they are used again."))
		return
	}
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			f.Advise(remedy.DeletePod(pod).Note("Its mounts are of device %s; all pods of the volume on node %s must go, so that it is unstaged.", d.dev, d.view.Name))
		}
	}
	for _, m := range d.mounts {
		pod := p.PodByUID(m.Path.PodUID)
		switch {
		case len(pods) > 0 && m.Path.PodUID == "", pod != nil && pod.DeletionTimestamp == nil:
			// The pods that use the mount go first.
		case d.alive:
			f.Advise(remedy.Words("Once no pod runs on it, unmount " + m.Mount.Point + " plainly on node " + d.view.Name + ": its disk still answers."))
		default:
			f.Advise(remedy.UnmountLazy(d.view.Name, d.volume, m, false))
		}
	}
	f.Advise(remedy.Words("Never format or repair the volume's present disk while a pod still runs on the old mount, and delete nothing below these paths. Have the filesystem checked before its next use when writes were lost, and find out why the device went away."))
}
