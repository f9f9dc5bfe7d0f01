package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed xfs_uuid_duplicate.md
var xfsUUIDDuplicateDoc string

// XFSUUIDDuplicate finds copies of an XFS filesystem whose original is mounted on the
// same node.
var XFSUUIDDuplicate = &diagnosis.Rule{
	Name: "xfs-uuid-duplicate", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"mount-of-dead-device", "mount-pinned-in-namespace"},
	Doc:      xfsUUIDDuplicateDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, c := range carriers(p, v) {
				if len(c.uses) == 0 {
					uuidDuplicate(p, c)
				}
			}
		}
	},
}

var duplicateUUID = regexp.MustCompile(`duplicate UUID ([0-9a-fA-F-]{36})`)

// original is the mounted filesystem with the same UUID.
type original struct {
	block  *probes.BlockDevice
	use    snapshot.Use
	volume *snapshot.Volume // nil: of no volume that the API knows
}

func uuidDuplicate(p *diagnosis.Pass, c carrier) {
	content := c.view.Facts.Contents[c.block.Dev]
	uuid, said := content.UUID, []report.Evidence(nil)
	if lines := c.freshLines(kmsg.XFSDuplicateUUID); len(lines) > 0 {
		l := lines[len(lines)-1]
		said = append(said, evidence.FromKernel(c.view.Name, l))
		if m := duplicateUUID.FindStringSubmatch(l.Text); m != nil {
			uuid = m[1]
		}
	} else if content.Type != "xfs" || uuid == "" || !mountRefused(p, c) {
		return
	}
	o, found := originalOf(p, c, uuid)
	if found && o.volume == c.volume || !found && len(said) == 0 {
		return // the volume itself under another number: a dead or pinned mount
	}
	certainty := report.Certain
	if !found {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	c.about(f)
	text := fmt.Sprintf("Volume %s on %s of node %s is an XFS filesystem with the UUID %s, and the kernel refuses a second one with the UUID of one that is mounted.", volumeName(c.volume), c.name(), c.view.Name, uuid)
	if found {
		text += fmt.Sprintf(" Mounted is its original: %s (%s) at %s%s.", o.block.Name, o.block.Dev, o.use.Mount.Point, o.whose())
		f.Fact(diagnosis.FromNode(c.view.Name, fmt.Sprintf("mountinfo:%d", o.use.Mount.Line), o.use.Mount.Raw))
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+o.block.Dev.String(), "UUID="+c.view.Facts.Contents[o.block.Dev].UUID))
	} else {
		f.NotConfirmed = append(f.NotConfirmed, "which mounted device of node "+c.view.Name+" has the same UUID")
	}
	f.Sayf("%s It is a clone or a restored snapshot, and nothing is damaged.", text)
	f.Fact(said...)
	if content.UUID != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), "TYPE="+content.Type+" UUID="+content.UUID))
	}
	f.Unless("another UUID on the device, or no other mount of this UUID on the node")
	f.Advise(
		remedy.Words("Mount the copy with the option nouuid (mountOptions of its StorageClass or PersistentVolume, or a newer driver that sets it), or run the pod on a node that does not mount the original."),
		remedy.Words("Only where nouuid is impossible, and once a copy of the data exists: a new UUID for the unmounted clone with a clean log. Some drivers' own way to a new UUID formats the volume."),
	)
	p.Report(f)
}

// mountRefused tells whether a mount of the device was refused just now without a
// better reason than mount's all-purpose words.
func mountRefused(p *diagnosis.Pass, c carrier) bool {
	return slices.ContainsFunc(p.Texts(c.volume), func(t diagnosis.Text) bool {
		return t.Fresh && (t.Is(message.WrongFSType) || t.Is(message.DuplicateUUID)) && (t.Node == "" || t.Node == c.view.Name)
	})
}

// originalOf finds another mounted XFS device with a UUID; paths and maps of the same
// disk do not count.
func originalOf(p *diagnosis.Pass, c carrier, uuid string) (original, bool) {
	own := append(c.device.Numbers(), c.block.Dev)
	for i := range c.view.Facts.Block {
		b := &c.view.Facts.Block[i]
		x := c.view.Facts.Contents[b.Dev]
		uses := c.view.Uses(b.Dev)
		if x.UUID != uuid || x.Type != "xfs" || len(uses) == 0 || slices.Contains(own, b.Dev) {
			continue
		}
		o := original{block: b, use: uses[0]}
		for _, u := range uses {
			if o.volume == nil && u.Init {
				o.volume = p.VolumeOfPath(c.view.Name, u.Mount.Point)
			}
		}
		return o, true
	}
	return original{}, false
}

func (o original) whose() string {
	if o.volume == nil {
		return ""
	}
	text := ", volume " + volumeName(o.volume)
	if ns, name := o.volume.ClaimRef(); name != "" {
		text += " of claim " + ns + "/" + name
	}
	return text
}
