package multipath

import (
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	config "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// asks is how drivers ask for a map that is not there.
var asks = pattern.MustCompile(`(?i)for DM to appear|multipath command output: .*blacklisted|no multipath device found|multipath device .*not found|dm device for wwn \S+ not found|` +
	`(?:(?:could not|cannot|failed to|unable to) (?:find|get|locate|discover)|wait(?:ing|ed)? for|timed? ?out|no|missing) .{0,40}?\b(?:multi-?path|mpath|dm|device[- ]mapper)[ -](?:device|map)\b|` +
	`\b(?:multi-?path|mpath|dm|device[- ]mapper)[ -](?:device|map)\b.{0,80}?\b(?:timed? ?out|not (?:appear|exist|available|ready|created|detected)|missing\b)`)

// asksDaemon is how drivers miss the daemon itself, often before they look for any disk.
var asksDaemon = pattern.MustCompile(`(?i)\bmultipath(?:d| daemon| service)? (?:is |was )?(?:not (?:running|active|started|enabled)|inactive|stopped)`)

// sought is how a driver that mounts nothing but maps (HPE's) says that it found none of a disk: the
// disk may be missing as well.
var sought = pattern.MustCompile(`device not found with serial \S+ or target`)

// Sought asks whether the driver, which needs a map, did not find one or the disk.
func Sought(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return sought.MatchString(t.Raw) })
}

// Asks tells whether a text asks for a map.
func Asks(t evidence.Text) bool { return asks.MatchString(t.Raw+"\n"+t.Desc) || AsksDaemon(t) }

// AsksDaemon tells whether a text asks for the daemon that makes maps.
func AsksDaemon(t evidence.Text) bool { return asksDaemon.MatchString(t.Raw + "\n" + t.Desc) }

// SinglePath tells whether a volume has one path by its kind, whatever is said: Longhorn's, an image
// of RBD, a disk that comes from below the machine, and what is no disk.
func SinglePath(pl *evidence.Place) bool {
	_, _, image := pl.Volume.RBDImage()
	return image || pl.Volume.IsLonghorn() || volume.OfHypervisor(pl.Volume) || volume.KindOf(pl.X, pl.Volume)&volume.Disk == 0
}

// AskedFor asks whether the driver wants a map for the place's volume, in its own fresh words.
func AskedFor(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(Asks)
}

// mapped is a volume that is mounted through a map, and where that was seen.
type mapped struct {
	volume *snapshot.Volume
	fact   report.Evidence
}

// StagesMaps asks whether another volume of the same driver is mounted through a map on
// some node: then the driver needs one, also for a single path.
func StagesMaps(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	all := x.Memo("multipath.StagesMaps "+v.Driver, func() any {
		var out []mapped
		for _, o := range x.Volumes {
			if o.Driver != v.Driver {
				continue
			}
			if fact, is := mountedByMap(x, o); is {
				out = append(out, mapped{o, fact})
			}
			if len(out) == 2 { // one of them is another than any
				break
			}
		}
		return out
	}).([]mapped)
	for _, m := range all {
		if m.volume != v {
			return evidence.Yes(m.fact)
		}
	}
	return evidence.No()
}

func mountedByMap(x *snapshot.Index, v *snapshot.Volume) (report.Evidence, bool) {
	for _, d := range x.Devices(v) {
		for _, m := range x.VolumeMounts(v, d.Node) {
			if b := d.View.Device(m.Mount.Dev); b != nil && b.DM != nil && (strings.HasPrefix(b.DM.UUID, "mpath-") || isPartitionMap(b)) {
				return evidence.FromNode(d.Node, "sys/class/block/"+b.Name+"/dm/uuid", b.DM.UUID+", volume "+v.PVName()), true
			}
		}
	}
	return report.Evidence{}, false
}

// Failing asks whether the volume's staging on the place's node failed lately, in whatever
// words.
func Failing(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Mounts() || Asks(t)
	})
}

// Plain are the disks of the volume on the place's node that run without a map over them:
// by the volume's own identities, else by those that the driver's fresh words name. One
// map over one of them: none.
func Plain(pl *evidence.Place) ([]*probes.BlockDevice, evidence.Answer) {
	if r := pl.Probed(); !r.Complete() {
		return nil, evidence.Unseen(r.Lacks()...)
	}
	var list []*probes.BlockDevice
	if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok && d.Block != nil {
		if list = d.Paths; len(list) == 0 {
			list = []*probes.BlockDevice{d.Block}
		}
	} else {
		list = disk.ToldOn(pl).Disks
	}
	if targets, _ := pl.Volume.ISCSITargets(pl.Node); len(list) == 0 && len(targets) == 0 && len(pl.Volume.WWIDs()) == 0 {
		return nil, evidence.Unseen(evidence.Lack{Need: "which disk is the volume's", Node: pl.Node, Why: "nothing names it"})
	}
	var facts []report.Evidence
	for _, b := range list {
		if b.DM != nil || over(pl.View, b) {
			return nil, evidence.No()
		}
		if b.State == "" || b.State == "running" {
			facts = append(facts, evidence.FromNode(pl.Node, "sys/class/block/"+b.Name, strings.TrimSpace(b.Dev.String()+" "+b.WWID)))
		}
	}
	return list, pl.Tables(probes.Block).Found(facts...)
}

func over(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return len(view.Uses(b.Dev)) > 0 || slices.ContainsFunc(view.HoldersOf(b.Dev), func(h snapshot.Holder) bool { return h.Device != nil && h.Device.DM != nil })
}

// Refusal says why multipath makes no map over disks of the place's node: no daemon, an
// exclusion, or a single path that it does not know (find_multipaths yes and strict).
func Refusal(pl *evidence.Place, disks []*probes.BlockDevice) (why string, a evidence.Answer) {
	if r := pl.Probed(); !r.Complete() {
		return "", evidence.Unseen(r.Lacks()...)
	}
	m := pl.View.Facts.Multipath
	if !m.Active() {
		for _, cmd := range slices.Sorted(maps.Keys(m.Answers)) {
			if said := m.Answers[cmd]; said == "ENOENT" || said == "ECONNREFUSED" {
				return "multipathd does not run on the node", evidence.Yes(evidence.FromNode(pl.Node, "@multipathd/"+cmd, said))
			}
		}
	}
	for _, b := range disks {
		if excluded, line := config.Excluded(m.Config, diskOf(pl.View, b)); m.ConfigRead && excluded {
			return "its configuration excludes " + b.Name + " (" + strings.TrimSpace(strings.TrimSpace(b.Vendor)+" "+strings.TrimSpace(b.Model)) + ")",
				evidence.Yes(evidence.FromNode(pl.Node, "etc/multipath.conf", line))
		}
	}
	if value := onlySeveral(m.Config); value != "" && len(disks) == 1 && m.Active() && !remembers(m, pl.View, disks[0]) {
		return "find_multipaths is " + value + ", the disk has one path only, and its identity is not in /etc/multipath/wwids",
			evidence.Yes(evidence.FromNode(pl.Node, "etc/multipath.conf", "find_multipaths "+value), evidence.FromNode(pl.Node, "etc/multipath/wwids", "no "+diskOf(pl.View, disks[0]).WWID))
	}
	return "", evidence.Unseen(evidence.Lack{Need: "why multipath makes no map", Node: pl.Node, Why: "neither its absence nor an exclusion was seen"})
}

// onlySeveral is the setting by which the daemon wants two paths or a known identity.
func onlySeveral(sections []probes.ConfigSection) string {
	if value := setting(sections); slices.Contains([]string{"yes", "on", "1", "strict"}, value) {
		return value
	}
	return ""
}

// setting is what find_multipaths is set to, if it is.
func setting(sections []probes.ConfigSection) (value string) {
	for _, s := range sections {
		for _, k := range s.Settings {
			if s.Name == "defaults" && k.Key == "find_multipaths" {
				value = k.Value
			}
		}
	}
	return value
}

func remembers(m probes.Multipath, view *snapshot.NodeView, b *probes.BlockDevice) bool {
	id := diskOf(view, b).WWID
	return id == "" || slices.Contains(m.WWIDs, id)
}
