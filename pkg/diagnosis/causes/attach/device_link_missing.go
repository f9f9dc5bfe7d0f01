package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_link_missing.md
var deviceLinkMissingDoc string

// DeviceLinkMissing finds disks that are on the node under no name that the driver
// looks for.
var DeviceLinkMissing = &diagnosis.Rule{
	Name: "device-link-missing", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("devnode")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"csi-plugin-host-path-missing", "multipath-off-for-san"},
	Doc:      deviceLinkMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			seen := map[string]bool{}
			for _, w := range v.Waiting() {
				if node := w.Node(); node != "" && !seen[node] {
					seen[node] = true
					linkMissing(p, v, node)
				}
			}
		}
	},
}

func linkMissing(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	var t diagnosis.Text
	said := false
	for _, x := range p.Texts(v) {
		if !x.Fresh || x.Node != "" && x.Node != node {
			continue
		}
		if disk.SaysNoMap(x) {
			return // a map is no link to a disk: the disk may be well known
		}
		if disk.SaysUnnamed(x) {
			t, said = x, true
			break
		}
	}
	_, _, mapped := v.RBDImage() // an image is mapped when it is staged, not linked
	if v.IsLonghorn() || mapped {
		return
	}
	va := v.AttachmentOn(node)
	attached := va != nil && va.Status.Attached && va.DeletionTimestamp == nil || va == nil && (p.ReportedAttached(node, v) || !v.AttachRequired(p.Index))
	if !attached || va != nil && p.Age(va.CreationTimestamp.Time) < 30*time.Second {
		return
	}
	view := p.View(node)
	if said {
		p.Probed(node)
	}
	if view == nil || !said && !lateFor(p, v, node) {
		return
	}
	s := linkScene{p: p, v: v, view: view, text: t}
	if d, found := p.DeviceOn(v, node); found && d.Block != nil && d.Proven {
		s.provenDisk(d)
		return
	}
	s.likelyDisk()
}

// lateFor tells whether a pod has waited on the node for longer than the driver looks for
// a disk: then the missing name counts without the driver's word, which expires.
func lateFor(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	va := v.AttachmentOn(node)
	return (va != nil && p.Age(va.CreationTimestamp.Time) > 5*time.Minute || va == nil && p.ReportedAttached(node, v)) &&
		slices.ContainsFunc(waitersOn(v, node), func(w *corev1.Pod) bool { return p.Age(w.CreationTimestamp.Time) > 5*time.Minute })
}

// linkScene is one volume that shall appear on one node.
type linkScene struct {
	p    *diagnosis.Pass
	v    *snapshot.Volume
	view *snapshot.NodeView
	text diagnosis.Text
}

var devPath = regexp.MustCompile(`/dev/[\w./:@+=-]+`)

// provenDisk: the disk carries the volume's identity, and the name is not there.
func (s linkScene) provenDisk(d snapshot.VolumeDevice) {
	if len(s.view.Uses(d.Dev)) > 0 || len(d.Block.Holders) > 0 {
		return // somebody found it
	}
	expected, exists := "", false
	for _, path := range devPath.FindAllString(s.text.Raw, -1) {
		path = strings.TrimRight(path, ".:")
		if strings.HasPrefix(path, "/dev/longhorn") {
			continue
		}
		expected = path
		if dev, ok := s.view.NumberAt(path); ok && dev == d.Dev {
			exists = true
		}
	}
	links := linksTo(s.view, d.Dev)
	ownLink := strings.HasPrefix(d.How, "link ") // of another directory than by-id: DRBD's, LVM's
	if exists || expected == "" && (len(links) > 0 || ownLink) {
		return // the host has the name: what the driver sees of it is another matter
	}
	if s.text.Raw == "" && (len(s.view.Facts.DevLinks) == 0 || s.view.SessionOfDisk(d.Block.Name) != nil) {
		return // no link of any disk was read, or the driver logs in itself
	}
	f := s.find(report.Certain, diagnosis.DeviceSubject(s.view.Name, d.Dev))
	f.Device(s.view.Name, d.Dev)
	if s.text.Raw == "" {
		f.Missing("the driver's own word that it does not find the disk")
	}
	missing := "no link below /dev/disk/by-id leads to it"
	if expected != "" {
		missing = expected + ", where it is looked for, is not there"
	}
	f.Sayf("Volume %s is on node %s as %s (%s, known by %s), unused, but %s. The driver waits for the name and calls the disk missing. %s",
		volumeName(s.v), s.view.Name, d.Block.Name, d.Dev, d.How, missing, s.branch(d.Block, expected))
	f.Fact(diagnosis.FromNode(s.view.Name, d.Locator, d.How), diagnosis.FromNode(s.view.Name, "dev/disk/by-id", orNone(links)))
	s.report(f, d.Block, expected)
}

// likelyDisk: no disk carries an identity that could be compared, and one that
// nobody uses has the volume's size.
func (s linkScene) likelyDisk() {
	if disk.Compare(s.v, s.view).Match || disk.SizeOf(s.v) == 0 || s.text.Raw == "" && !s.withoutIdentifiers() {
		return
	}
	var fits []*probes.BlockDevice
	for i := range s.view.Facts.Block {
		b := &s.view.Facts.Block[i]
		if disk.Whole(b) && !disk.System(s.view, b) && disk.Idle(s.view, b) && b.Sectors*512 == disk.SizeOf(s.v) && !disk.OwnIdentity(s.view, b) {
			fits = append(fits, b)
		}
	}
	if len(fits) == 0 {
		return
	}
	b, names := fits[0], []string{}
	for _, x := range fits {
		names = append(names, x.Name)
	}
	subject := diagnosis.DeviceSubject(s.view.Name, b.Dev)
	if len(fits) > 1 {
		subject = diagnosis.NodeSubject(s.view.Name)
	}
	f := s.find(report.Likely, subject)
	f.Device(s.view.Name, b.Dev)
	f.Sayf("Volume %s seems to be on node %s as %s (%s): nobody uses it and it has the volume's size of %d bytes. The driver does not find it by the name or address that it looks for%s. %s",
		volumeName(s.v), s.view.Name, strings.Join(names, " or "), b.Dev, disk.SizeOf(s.v), s.metadata(), s.branch(b, ""))
	for _, x := range fits {
		f.Fact(diagnosis.FromNode(s.view.Name, "sys/class/block/"+x.Name+"/size", fmt.Sprint(x.Sectors)))
	}
	f.Fact(appeared(s.view, names)...)
	f.Fact(diagnosis.FromNode(s.view.Name, "dev/disk/by-id", orNone(linksTo(s.view, b.Dev))))
	f.NotConfirmed = append(f.NotConfirmed, "an identity of the disk that names the volume: the node shows none")
	s.report(f, b, "")
}

func (s linkScene) find(c report.Certainty, subject report.Subject) *diagnosis.Finding {
	f := s.p.Find(c, subject).On(s.v).Located(s.view.Name).Fact(s.text.Evidence())
	for _, w := range s.v.WaitingOn(s.view.Name) {
		f.Pod(w.Pod)
	}
	if va := s.v.AttachmentOn(s.view.Name); va != nil {
		f.Object("va", va.Name)
		f.Fact(attachedEvidence(va))
	}
	return f
}

func (s linkScene) report(f *diagnosis.Finding, b *probes.BlockDevice, expected string) {
	f.Unless("the expected name on the node, leading to this disk")
	f.Advise(s.advice(b, expected))
	f.Advise(remedy.Words("Never link a name by hand to a disk that was only guessed, and never format it."))
	s.p.Report(f)
}
