package lvm

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// Scanned tells whether LVM's udev rules look at such a device although a driver
// creates it for itself.
func Scanned(d *probes.BlockDevice) bool {
	return slices.ContainsFunc([]string{"loop", "drbd", "dm-", "rbd", "nbd", "zd"}, func(p string) bool { return strings.HasPrefix(d.Name, p) })
}

var openBusy = pattern.MustCompile(`(?s)open\(\S*?([a-z]+\d+)\S*\) failed: Device or resource busy|[Cc](?:an't|annot|ould not) open .*exclusive`)

// saysBusy tells whether a text says that an open failed as busy, and of which device.
func saysBusy(text string) (device string, ok bool) {
	if !strings.Contains(text, "open") {
		return "", false
	}
	m := openBusy.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// recent is how long a line of a log speaks of the present.
const recent = 10 * time.Minute

// Busy asks whether somebody says that opening a device of the place's node failed as
// busy: among what was said about the volume, then in the logs of the node's pods, where
// a storage system's own agent speaks of the device and not of the volume. Fresh tells
// whether it is said of now.
func Busy(pl *evidence.Place, name string) (a evidence.Answer, fresh bool) {
	for _, t := range pl.Texts {
		if device, ok := saysBusy(t.Raw); ok && (device == name || strings.Contains(t.Raw, "/dev/"+name)) {
			return evidence.Yes(t.Evidence()), t.Fresh
		}
	}
	var last time.Time
	a = evidence.No()
	for _, log := range evidence.VouchedOn(pl.X, pl.Node) {
		var at time.Time
		for i, line := range log.Lines {
			if d := message.Date(line, pl.X.TakenAt); !d.IsZero() {
				at = d
			}
			if device, ok := saysBusy(line); ok && device == name && !at.Before(last) {
				last = at
				said := evidence.Line{Log: &log, Number: i + 1, Text: line}.Evidence()
				said.Node = pl.Node
				a = evidence.Yes(said)
			}
		}
	}
	return a, !last.IsZero() && pl.X.Age(last) < recent
}

// Scans asks whether one of LVM's tools has a device open now.
func Scans(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	for _, o := range pl.View.Openers(dev) {
		if disk.OfLVM(pl.X, pl.Volume, pl.Node, o.Process) {
			return evidence.Yes(evidence.FromNode(pl.Node, o.Descriptor.Path, strings.Join(mask.Args(o.Process.Cmdline), " ")+" → "+o.Descriptor.Target))
		}
	}
	return evidence.No()
}
