package attach

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_renumbered.md
var deviceRenumberedDoc string

// DeviceRenumbered finds recorded kernel names that mean another disk now.
var DeviceRenumbered = &diagnosis.Rule{
	Name: "device-renumbered", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("devnode")},
	Explains: []string{"mount-failed", "volume-io-error", "mount-busy", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-is-not-the-volume", "filesystem-type-mismatch"},
	Doc:      deviceRenumberedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, c := range v.Live() {
				if node := c.Node(); node != "" {
					renumbered(p, v, node)
				}
			}
		}
	},
}

// kernelName is a name that the kernel gives in the order of detection.
var kernelName = regexp.MustCompile(`^/dev/(?:[shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+)(?:p?\d+)?$`)

// record is a device name that an object keeps for a volume.
type record struct {
	name   string
	source report.Evidence
}

// recordedNames are the kernel names that objects keep for a volume on a node.
func recordedNames(p *diagnosis.Pass, v *snapshot.Volume, node string) []record {
	var out []record
	add := func(name, object, field string) {
		if kernelName.MatchString(name) {
			out = append(out, record{name, diagnosis.FromAPI(object, field, name)})
		}
	}
	if v.PV != nil {
		object := "PersistentVolume " + v.PV.Name
		if c := v.PV.Spec.CSI; c != nil {
			for _, k := range slices.Sorted(maps.Keys(c.VolumeAttributes)) {
				add(c.VolumeAttributes[k], object, "spec.csi.volumeAttributes."+k)
			}
		}
		if l := v.PV.Spec.Local; l != nil {
			add(l.Path, object, "spec.local.path")
		}
	}
	if n := p.Node(node); n != nil {
		for _, a := range n.Status.VolumesAttached {
			if string(a.Name) == v.UniqueName() {
				add(a.DevicePath, "Node "+node, "status.volumesAttached["+v.UniqueName()+"].devicePath")
			}
		}
	}
	return out
}

func renumbered(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	records := recordedNames(p, v, node)
	if len(records) == 0 || !p.Suffers(v, "mount-failed", "volume-io-error", "mount-busy", "pod-waiting-for-volume") && !p.Sweep() {
		return
	}
	view, ok := p.Probed(node)
	if !ok {
		return
	}
	for _, r := range records {
		now, ok := view.NumberAt(r.name)
		if !ok || view.Device(now) == nil {
			continue
		}
		if right, how := trueDisk(p, v, view); !right.IsZero() {
			if wholeOf(view, right) != wholeOf(view, now) {
				reportRenumbered(p, v, view, r, now, right, how, report.Certain)
			}
			return
		}
		if right, how := diskAtLUN(p, v, view, now); !right.IsZero() {
			reportRenumbered(p, v, view, r, now, right, how, report.Likely)
			return
		}
	}
}

// wholeOf is the disk of a partition, or the disk itself.
func wholeOf(view *snapshot.NodeView, dev probes.Dev) probes.Dev {
	if b := view.Device(dev); b != nil && b.Partition > 0 {
		if parent := view.ByName(b.Parent); parent != nil {
			return parent.Dev
		}
	}
	return dev
}

// trueDisk is the disk with the volume's identity: where its persistent link leads,
// else what the index proved.
func trueDisk(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) (probes.Dev, report.Evidence) {
	if v.PV != nil && v.PV.Spec.CSI != nil {
		attrs := v.PV.Spec.CSI.VolumeAttributes
		for _, k := range slices.Sorted(maps.Keys(attrs)) {
			if l := view.DevLink(attrs[k]); l != nil && strings.HasPrefix(attrs[k], "/dev/disk/by-") && !l.Dev.IsZero() {
				return l.Dev, diagnosis.FromNode(view.Name, strings.TrimPrefix(l.Path, "/"), "-> "+l.Target)
			}
		}
	}
	if d, ok := p.DeviceOn(v, view.Name); ok && d.Proven && d.Block != nil && !strings.Contains(d.How, "mount of") {
		return d.Dev, diagnosis.FromNode(view.Name, d.Locator, d.How)
	}
	return probes.Dev{}, report.Evidence{}
}

// diskAtLUN judges disks without any serial: the attachment tells the LUN, the disk
// behind the recorded name has another one and another size or user, and the disk at
// the LUN has the volume's size and no user.
func diskAtLUN(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, now probes.Dev) (probes.Dev, report.Evidence) {
	va := v.AttachmentOn(view.Name)
	b := view.Device(now)
	if va == nil || b == nil || disk.SizeOf(v) == 0 {
		return probes.Dev{}, report.Evidence{}
	}
	lun := ""
	for k, value := range va.Status.AttachmentMetadata {
		if strings.EqualFold(k, "lun") {
			lun = value
		}
	}
	wrong := b.Sectors*512 != disk.SizeOf(v)
	for _, u := range view.Uses(now) {
		if o := p.VolumeOfPath(view.Name, u.Mount.Point); o != nil && o != v {
			wrong = true
		}
	}
	if lun == "" || !wrong || lunOf(b) == "" || lunOf(b) == lun {
		return probes.Dev{}, report.Evidence{}
	}
	for i := range view.Facts.Block {
		x := &view.Facts.Block[i]
		if disk.Whole(x) && lunOf(x) == lun && x.Sectors*512 == disk.SizeOf(v) && disk.Idle(view, x) && !disk.System(view, x) {
			return x.Dev, diagnosis.FromNode(view.Name, "sys/class/block/"+x.Name, "LUN "+lun+" ("+x.HCTL+")")
		}
	}
	return probes.Dev{}, report.Evidence{}
}

func lunOf(b *probes.BlockDevice) string {
	if i := strings.LastIndex(b.HCTL, ":"); i >= 0 {
		return b.HCTL[i+1:]
	}
	return ""
}

func reportRenumbered(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, r record, now, right probes.Dev, how report.Evidence, c report.Certainty) {
	f := p.Find(c, diagnosis.DeviceSubject(view.Name, now)).On(v).Located(view.Name)
	f.Device(view.Name, now)
	f.Device(view.Name, right)
	for _, w := range v.LiveConsumersOn(view.Name) {
		f.Pod(w.Pod)
	}
	name := func(dev probes.Dev) string {
		if b := view.Device(dev); b != nil {
			return b.Name + " (" + dev.String() + ")"
		}
		return dev.String()
	}
	f.Sayf("Volume %s is recorded as %s on node %s, and that name means another disk now, %s: kernel names are given anew at every boot and attach. The volume itself is %s (%s). What is found on %s belongs to somebody else.",
		volumeName(v), r.name, view.Name, name(now)+describe(view, now), name(right), how.Locator+" "+how.Text, r.name)
	f.Fact(r.source, how)
	for _, t := range p.Texts(v) {
		if t.Fresh && strings.Contains(t.Raw, r.name) {
			f.Fact(t.Evidence())
			break
		}
	}
	if boot := view.Facts.Identity.Boot(); !boot.IsZero() {
		f.Fact(diagnosis.FromNode(view.Name, "@clock", fmt.Sprintf("booted %s ago", ago(p, boot))))
	}
	if c != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "a serial or WWID of either disk: the node shows none")
	}
	f.Unless("the volume's serial, WWID or by-id link on the disk behind " + r.name)
	f.Advise(
		remedy.Words("Stop the workload, then have the driver or its records use the persistent link (/dev/disk/by-id/…) instead of "+r.name+"; a newer driver may do so by itself. The volume's data is on "+name(right)+"."),
		remedy.Words("Change nothing on the disk behind "+r.name+": do not format, repair, unmap or deactivate what is found there."),
	)
	p.Report(f)
}

// describe says what the wrong disk holds.
func describe(view *snapshot.NodeView, dev probes.Dev) string {
	if c, ok := view.Facts.Contents[dev]; ok && c.Type != "" && c.Type != "none" {
		return " with " + c.Type
	}
	return ""
}
