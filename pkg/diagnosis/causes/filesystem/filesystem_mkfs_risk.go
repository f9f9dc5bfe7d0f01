package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_mkfs_risk.md
var filesystemMkfsRiskDoc string

// MkfsRisk finds volumes with data that look unformatted, so that staging may format
// them.
var MkfsRisk = &diagnosis.Rule{
	Name: "filesystem-mkfs-risk", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"format-failed", "mount-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"longhorn-engine-data-path-broken", "crypt-mapper-stale", "multipath-claims-device", "drbd-state-blocks", "encryption-parameters-refused"},
	Doc:      filesystemMkfsRiskDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Block() || len(v.Waiting()) == 0 {
				continue
			}
			list := carriers(p, v)
			for _, c := range list {
				mkfsRisk(p, c)
			}
			if len(list) == 0 {
				mkfsUnseen(p, v, nil)
			}
		}
	},
}

var formats = regexp.MustCompile(`(?i)appears to be unformatted|format of disk "?[^"]*"? failed|could not erase sector|mkfs\.\w+.*(Input/output error|No data available)`)

// formatText is the newest word about a format of the volume on a node.
func formatText(p *diagnosis.Pass, c carrier) *diagnosis.Text {
	for _, t := range p.Texts(c.volume) {
		if t.Fresh && (t.Node == "" || t.Node == c.view.Name) && (formats.MatchString(t.Raw) || t.Is(message.FormatFailed)) && !refusedBusy(t) {
			return &t
		}
	}
	return nil
}

// refusedBusy tells whether mkfs wrote nothing because somebody holds the disk.
func refusedBusy(t diagnosis.Text) bool {
	return t.Is(message.InUseBySystem) || t.Is(message.WillNotMakeFSMounted) || t.Is(message.CannotOpenBlockdev)
}

// heldData tells whether the volume provably was written to, and by what.
func heldData(p *diagnosis.Pass, v *snapshot.Volume) (proven bool, ev report.Evidence) {
	if lh := v.LH(); lh != nil {
		size := lh.Status.ActualSize
		e := diagnosis.FromAPI("volumes.longhorn.io "+lh.Name, "status.actualSize", fmt.Sprintf("%d of %d bytes", size, lh.Size))
		return lh.Size > 0 && size > lh.Size/100, e
	}
	return false, report.Evidence{}
}

// looksEmpty says how the device reads now: with an error, or as if nothing were on it.
func (c carrier) looksEmpty() (unreadable, empty bool, x probes.Content) {
	x, read := c.view.Facts.Contents[c.device.Dev]
	switch {
	case !read:
		return false, false, x
	case x.Err == "EIO" || x.Err == "ENODATA" || x.Err == "EREMOTEIO":
		return true, false, x
	}
	return false, x.Err == "" && x.Type == "none", x
}

func mkfsRisk(p *diagnosis.Pass, c carrier) {
	unreadable, empty, x := c.looksEmpty()
	d := c.device.Block
	if len(c.uses) > 0 || d == nil || !c.isTheVolume() || len(c.view.HoldersOf(d.Dev)) > 0 {
		return
	}
	if _, read := c.view.Facts.Contents[c.device.Dev]; !read {
		mkfsUnseen(p, c.volume, &c)
		return
	}
	if !unreadable && !empty {
		return
	}
	said := formatText(p, c)
	held, fact := heldData(p, c.volume)
	old := c.volume.PV != nil && p.Age(c.volume.PV.CreationTimestamp.Time) > time.Hour
	certainty := report.Certainty("")
	switch {
	case held && said != nil:
		certainty = report.Certain
	case held, said != nil && unreadable && old:
		certainty = report.Likely
	case said != nil && old && c.volume.LH() == nil:
		certainty = report.Possible // it may never have been formatted
	default:
		return // a new volume, or one that nobody tries to format
	}
	f := p.Find(certainty, diagnosis.DeviceSubject(c.view.Name, d.Dev))
	c.about(f)
	how := "shows no filesystem"
	if unreadable {
		how = "cannot be read (" + x.Err + ": " + wordsOf(x.Err) + ")"
	}
	f.Sayf("DANGER: volume %s has data, but its device %s (%s) on node %s %s. The mount code takes such a disk for a new one and makes a filesystem on it at every retry%s. If reads succeed between two of its steps, the data is gone.",
		volumeName(c.volume), d.Name, d.Dev, c.view.Name, how, tried(said))
	f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+d.Dev.String(), strings.TrimSpace(x.Err+" "+x.Type)), fact)
	if said != nil {
		f.Fact(said.Evidence())
	}
	for _, l := range c.ownErrors() {
		f.Fact(evidence.FromKernel(c.view.Name, l))
	}
	if !held {
		f.NotConfirmed = append(f.NotConfirmed, "whether volume "+volumeName(c.volume)+" ever held data")
	}
	f.Unless("a volume that was never written to")
	f.Advise(
		remedy.Words("Scale the workload to 0 now, so that nothing retries; leave the volume alone until the device reads well again. Then look that its filesystem is there before anything mounts it."),
		remedy.Words("Find out why reads fail (the path to the data, the replicas, the storage network). Keep every replica and every backup: none may be removed, repaired or salvaged by hand now."),
	)
	p.Report(f)
}

// isTheVolume tells whether the disk is the volume by identity, and the name that the
// mount code opens leads to it; else device-is-not-the-volume is the question.
func (c carrier) isTheVolume() bool {
	dev, ok := c.view.NumberAt(c.device.NodePath)
	return c.device.Proven && (c.device.NodePath == "" || !ok || dev == c.device.Dev)
}

func wordsOf(errno string) string {
	switch errno {
	case "ENODATA":
		return "No data available, a medium error of the target"
	case "EREMOTEIO":
		return "Remote I/O error"
	}
	return "Input/output error"
}

func tried(t *diagnosis.Text) string {
	if t == nil {
		return ""
	}
	return ", and did so just now"
}

// ownErrors are the kernel's lines about failed requests of the disk itself.
func (c carrier) ownErrors() []probes.KernelLine {
	own := c
	own.block = c.device.Block
	lines := own.failedRequests()
	if len(lines) > 3 {
		lines = slices.Clone(lines[len(lines)-3:])
	}
	return lines
}
