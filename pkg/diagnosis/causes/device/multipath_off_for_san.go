package device

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed multipath_off_for_san.md
var multipathOffForSANDoc string

// MultipathOffForSAN finds a driver that needs a multipath map and a node that makes none.
var MultipathOffForSAN = &diagnosis.Rule{
	Name: "multipath-off-for-san", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("multipath")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      multipathOffForSANDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Longhorn != nil {
				continue // single path by design
			}
			for _, w := range v.Waiting() {
				noMap(p, v, w)
			}
		}
	},
}

var wantsMap = regexp.MustCompile(`(?i)for DM to appear|multipath command output: .*blacklisted|no multipath device found|multipath device .*not found|dm device for wwn \S+ not found|(?:could not|failed to|unable to) find (?:the )?(?:multipath|dm)[ -]device|multipathd? (?:is )?not running|multipath daemon is not running`)

func noMap(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	var text diagnosis.Text
	for _, t := range p.Texts(v) {
		if t.Fresh && wantsMap.MatchString(t.Raw+"\n"+t.Desc) {
			text = t
			break
		}
	}
	node := w.Pod.Spec.NodeName
	if text.Raw == "" || node == "" {
		return
	}
	view, probed := p.Probed(node)
	c, reason, seen := report.Likely, "", []report.Evidence{}
	if probed {
		disks := sanDisks(p, v, view)
		if mapsOver(view, disks) {
			return // a map is there now
		}
		if target, _ := targetOf(v); len(disks) == 0 && (target != "" || len(volumeWWIDs(v)) > 0) {
			return // not even a disk is there: attached-in-api-missing-on-node
		}
		reason, seen = refusal(view, disks)
		if reason != "" && len(disks) > 0 {
			c = report.Certain
		}
		for _, d := range disks {
			seen = append(seen, diagnosis.FromNode(node, "sys/class/block/"+d.Name, d.Dev.String()+" "+strings.TrimSpace(d.WWID)))
		}
	}
	f := p.Find(c, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Fact(text.Evidence()).Fact(seen...)
	if reason == "" {
		reason = "why was not seen"
	}
	f.Sayf("The driver %s needs a multipath map for volume %s on node %s, and none is made: %s.", v.Driver, volumeName(v), node, reason)
	if c != report.Certain {
		f.Missing("the disk of the volume and multipath's configuration on node " + node)
	}
	f.Unless("a multipath map over the volume's disks")
	f.Advise(remedy.Words("On node " + node + ": let multipath take this array's disks (a blacklist_exceptions section or a narrower blacklist for its vendor and product), start and enable multipathd, then run multipathd reconfigure."))
	p.Report(f)
}

// sanDisks are the disks on the node that can be the volume's: by WWID, by target,
// else the volume's own device.
func sanDisks(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	ids := volumeWWIDs(v)
	target, lun := targetOf(v)
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if b.DM != nil || b.Partition > 0 {
			continue
		}
		s := view.SessionOfDisk(b.Name)
		if b.WWID != "" && contains(ids, bareWWID(b.WWID)) || target != "" && s != nil && s.Target == target && (lun == "" || lunOf(b) == lun) {
			out = append(out, b)
		}
	}
	if d, ok := p.DeviceOn(v, view.Name); len(out) == 0 && ok && d.Block != nil && d.Block.DM == nil {
		out = append(out, d.Block)
	}
	if len(out) == 0 { // some drivers keep the WWN to themselves until they fail
		out = disk.ToldOn(&evidence.Place{X: p.Index, Volume: v, Node: view.Name, View: view, Texts: p.Texts(v)}).Disks
	}
	return out
}

func mapsOver(view *snapshot.NodeView, disks []*probes.BlockDevice) bool {
	for _, d := range disks {
		if multipathMapOn(view, d.Dev) != nil {
			return true
		}
	}
	return false
}

// refusal says why multipath makes no map: no daemon, or an exclusion.
func refusal(view *snapshot.NodeView, disks []*probes.BlockDevice) (string, []report.Evidence) {
	m := view.Facts.Multipath
	if !m.Active() {
		var ev []report.Evidence
		for _, cmd := range slices.Sorted(maps.Keys(m.Answers)) {
			if a := m.Answers[cmd]; a == "ENOENT" || a == "ECONNREFUSED" {
				ev = append(ev, diagnosis.FromNode(view.Name, "@multipathd/"+cmd, a))
				break
			}
		}
		if len(ev) > 0 {
			return "multipathd does not run on the node", ev
		}
	}
	for _, d := range disks {
		excluded, why := multipath.Excluded(m.Config, multipath.Disk{Vendor: strings.TrimSpace(d.Vendor), Product: strings.TrimSpace(d.Model), WWID: multipathWWID(d), Devnode: d.Name})
		if m.ConfigRead && excluded {
			return "its configuration excludes " + d.Name + " (" + strings.TrimSpace(d.Vendor) + " " + strings.TrimSpace(d.Model) + ")",
				[]report.Evidence{diagnosis.FromNode(view.Name, "etc/multipath.conf", why)}
		}
	}
	return "", nil
}

// multipathWWID writes an identity the way multipath.conf expects it.
func multipathWWID(d *probes.BlockDevice) string {
	if strings.HasPrefix(d.WWID, "naa.") {
		return "3" + strings.TrimPrefix(d.WWID, "naa.")
	}
	return d.WWID
}
