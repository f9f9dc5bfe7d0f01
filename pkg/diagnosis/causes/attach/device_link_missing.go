package attach

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/devlink"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceLinkMissing finds disks that are on the node under no name that the driver
// looks for.
var DeviceLinkMissing = &diagnosis.Rule{
	Name: "device-link-missing", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing},
	YieldsTo: []string{"csi-plugin-host-path-missing", "multipath-off-for-san"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		m, ok := devlink.Of(pl)
		switch {
		case !ok:
			return nil
		case m.Disk == nil: // the node was not looked at
			return []*diagnosis.Proof{{State: []evidence.Answer{m.Is}}}
		}
		return []*diagnosis.Proof{linkMissing(pl, m)}
	},
}

func linkMissing(pl *evidence.Place, m devlink.Missing) *diagnosis.Proof {
	v, on := pl.Volume, evidence.Yes()
	p := &diagnosis.Proof{
		Subject: diagnosis.DeviceSubject(pl.Node, m.Disk.Dev), Says: "known",
		With: words.Fields{"volume": volume.Name(v), "node": pl.Node, "disk": m.Names, "number": m.Disk.Dev.String(), "how": m.How, "unlinked": m.Unlinked(), "because": m.Because(),
			"size": fmt.Sprint(disk.SizeOf(v)), "metadata": m.Metadata()},
		Last: []evidence.Answer{m.Is, m.Said},
	}
	if va := v.AttachmentOn(pl.Node); va != nil {
		on = evidence.Yes(holder.AttachedFact(va))
		p.Attachment(va)
	}
	if p.State = []evidence.Answer{m.Identity, on}; m.How == "" {
		p.Says, p.AtMost, p.State, p.Last = "fits", report.Likely, []evidence.Answer{on}, append(p.Last, m.Identity)
	}
	if m.Several {
		p.Subject = diagnosis.NodeSubject(pl.Node)
	}
	p.Device(pl.Node, m.Disk.Dev)
	p.Pods(holder.WaitersOn(v, pl.Node)...)
	step := "Install the udev rules that the driver documents on node " + pl.Node + ", or a newer image of the node, and let udev process the disk again (udevadm trigger). The driver's next attempt finds it."
	switch kind, _ := m.Why(); kind {
	case "portal":
		step = "Give the portal as an address instead of a host name in a new PersistentVolume (or in the driver's settings); set the policy of the old one to Retain before it is removed."
	case "engine":
		step = "Scale the workload to 0, wait until Longhorn calls the volume detached, and scale it up again: the engine makes its device node anew when it starts. Look for what cleans up below /dev on node " + pl.Node + "."
	case "identifiers":
		step = "Set disk.EnableUUID to TRUE for the virtual machine of node " + pl.Node + " and power it off and on after draining it; repair the template that it was cloned from."
	case "nvme":
		step = "Use a version of the driver that looks for the names that udev gives NVMe disks, or install the udev rules that the driver documents on node " + pl.Node + " and let udev process the disk again (udevadm trigger)."
	case "lun":
		step = "Use a version of the driver that knows NVMe disks, or a machine type with a SCSI controller for this pod (node selector)."
	}
	if l := m.Astray(); l != nil {
		step = "Take the link " + l.Path + " away on node " + pl.Node + ", only the link and never what it leads to, and let udev process the volume's disk again (udevadm trigger). The driver's next attempt finds it."
	}
	p.Steps = []remedy.Step{remedy.Words(step), remedy.Words("Never link a name by hand to a disk that was only guessed, and never format it.")}
	return p
}
