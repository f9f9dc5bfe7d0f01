package filesystem

import (
	"fmt"
	"regexp"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// formatFails is a mkfs that fails for I/O errors: it was started, so the mount code
// took the disk for an empty one.
var formatFails = regexp.MustCompile(`(?is)(format of disk|mkfs\.\w+|mke2fs).*(Input/output error|No data available|could not erase sector)|could not erase sector`)

// mkfsUnseen judges by the words alone, where the disk was not read: what is at stake
// does not wait for a look at the node. c is nil where the node was not seen either.
func mkfsUnseen(p *diagnosis.Pass, v *snapshot.Volume, c *carrier) {
	held, fact := heldData(p, v)
	old := v.PV != nil && p.Age(v.PV.CreationTimestamp.Time) > time.Hour
	for _, t := range p.Texts(v) {
		fails := formatFails.MatchString(t.Raw)
		if !t.Fresh || refusedBusy(t) || !fails && !(held && formats.MatchString(t.Raw)) {
			continue
		}
		certainty := report.Likely
		if !held {
			if !old || v.LH() != nil {
				return // a new volume
			}
			certainty = report.Possible
		}
		subject := diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
		if lh := v.LH(); lh != nil {
			subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
		}
		if c != nil {
			subject = diagnosis.DeviceSubject(c.view.Name, c.device.Dev)
		}
		f := p.Find(certainty, subject).On(v).Located(t.Node).Fact(t.Evidence(), fact)
		if c != nil {
			c.about(f)
		}
		for _, w := range v.WaitingOn(t.Node) {
			f.Pod(w.Pod)
		}
		stake := "has data"
		if !held {
			stake = "was made " + diagnosis.Duration(p.Age(v.PV.CreationTimestamp.Time)) + " ago and may have data"
		}
		f.Sayf("DANGER: volume %s %s, and the mount code on node %s just took its disk for a new one and started to make a filesystem on it. At every retry it does so again; if the disk reads and writes well at one of them, the data is gone.",
			volumeName(v), stake, t.Node)
		p.Probed(t.Node)
		f.Missing("what the disk of volume " + volumeName(v) + " reads like on node " + t.Node)
		if !held {
			f.NotConfirmed = append(f.NotConfirmed, "whether volume "+volumeName(v)+" ever held data")
		}
		f.Unless("a volume that was never written to")
		f.Advise(
			remedy.Words("Scale the workload to 0 now, so that nothing retries; leave the volume alone until its disk reads well again. Then look that its filesystem is there before anything mounts it."),
			remedy.Words(fmt.Sprintf("Find out why reads fail on node %s (the path to the data, the replicas, the storage network). Keep every replica and every backup.", t.Node)),
		)
		p.Report(f)
		return
	}
}
