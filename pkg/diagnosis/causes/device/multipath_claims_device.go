package device

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MultipathClaimsDevice finds a multipath map on a disk that is wanted directly.
var MultipathClaimsDevice = &diagnosis.Rule{
	Name: "multipath-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving, diagnosis.Staging},
	LeadsTo: []string{"longhorn-share-manager-down", "multipath-map-orphaned"},
	Offers:  []string{"multipath-flush", "delete-pod", "disable-multipathd"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		marked, busy := multipath.SaysBusy(pl)
		out := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Block, probes.Mounts))}
		if pl.View == nil && busy.No() {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "unprobed", AtMost: report.Possible, With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume)},
			State: []evidence.Answer{busy, evidence.Any(multipath.Reported(pl), evidence.When(marked))}, Last: []evidence.Answer{pl.Probed().Nothing()},
			Steps: []remedy.Step{remedy.Words("Look on node " + pl.Node + " whether the volume's disk has a device-mapper holder (lsblk, /sys/class/block/<disk>/holders), or let the probe run there. If it has: exclude Longhorn's disks (vendor IET, product VIRTUAL-DISK) in /etc/multipath.conf first, then flush that one map.")},
		}
		if marked { // the mount tool's own reading of the disk
			p.AtMost = report.Likely
		}
		c, ok := multipath.ClaimOf(pl)
		if pl.View == nil && volume.Belongs(pl) {
			return append(out, p)
		} else if !ok {
			return out
		}
		p.Subject, p.With["disk"], p.With["name"], p.With["path"] = diagnosis.DeviceSubject(pl.Node, c.Disk.Dev), disk.Title(c.Disk.Block), c.Disk.Block.Name, c.Path()
		p.Device(pl.Node, c.Disk.Dev)
		mounted := diagnosis.LookAlike{Cause: "a disk that is mounted itself or through its map", Is: c.Mounted()}
		if c.Map == nil {
			pid, open := c.OpenedByDaemon()
			p.Says, p.AtMost, p.State, p.LookAlikes = "moment", report.Likely, []evidence.Answer{busy, c.Remembered()}, []diagnosis.LookAlike{mounted}
			p.Steps = []remedy.Step{remedy.Words("Exclude the disk from multipath on node " + pl.Node + " before the next attachment; the waiting pod is tried again by itself.")}
			if open.Yes() {
				p.Says, p.AtMost, p.State, p.With["pid"] = "open", report.Possible, []evidence.Answer{busy, open}, strconv.Itoa(pid)
				p.Steps = []remedy.Step{remedy.Words("Take a second sample: a map that is just being built shows as a holder of the disk within seconds. Then exclude the disk from multipath before anything else.")}
			}
			return append(out, p)
		}
		p.Says, p.AtMost, p.State = "map", "", []evidence.Answer{c.Lies()}
		p.With["map"], p.With["others"] = c.Map.DM.Name+" ("+c.Map.Name+")", strings.Join(c.Others(), ", ")
		p.Last = []evidence.Answer{c.Identified(), c.InTheWay(busy), pl.Tables(probes.Block, probes.Mounts).Nothing()}
		p.LookAlikes = []diagnosis.LookAlike{mounted, {Cause: "multipath-map-orphaned", Is: c.Dead()}, {Cause: "a driver that stages the map itself", Is: c.Meant()}}
		p.Device(pl.Node, c.Map.Dev)
		p.Steps = []remedy.Step{
			remedy.Words("Exclude the disk from multipath on node "+pl.Node+": add it to the blacklist of /etc/multipath.conf, remove its WWID from /etc/multipath/wwids, then run multipathd reconfigure. Without this the map comes back at the next attach.").
				In("/etc/multipath.conf", remedy.Blacklist(c.Vendor(), c.Disk.Block.Model, strings.TrimPrefix(c.Map.DM.UUID, "mpath-"))...),
			remedy.MultipathFlush(pl.View, c.Map).Note("After the disk is excluded."),
		}
		for _, w := range pl.Volume.Waiting()[:min(1, len(pl.Volume.Waiting()))] {
			p.Steps = append(p.Steps, remedy.DeletePod(w.Pod).Note("It waits and holds nothing; the kubelet tries again within 2 minutes by itself."))
		}
		return append(out, p)
	},
}
