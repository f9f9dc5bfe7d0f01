package longhorn

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// noRoomAnywhere finds a replica that is placed nowhere because every disk which could
// take it is under pressure: one finding per node, with all its full disks.
func noRoomAnywhere(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := v.Longhorn.Volume
	c, ok := lh.Status.Conditions.Get("Scheduled")
	if !ok || c.Status != "False" || !unplaced(v) || len(v.Waiting()) == 0 && !p.Suffers(v, "attach-failed") {
		return
	}
	full := map[string][]string{}
	for _, n := range p.Cluster.Longhorn.Nodes {
		if !n.AllowScheduling || !nodeWorks(p, n.Name) {
			continue
		}
		for i := range n.Disks {
			d := &n.Disks[i]
			if !d.AllowScheduling || d.Type != "" && (d.Type == "block") != (lh.DataEngine == "v2") {
				continue
			}
			if _, _, _, broken := rejected(d); broken {
				continue // takes nothing either
			}
			if s, _ := d.Conditions.Get("Schedulable"); s.Status != "False" || s.Reason != "DiskPressure" {
				return // a disk is not full: something else keeps the replica away
			}
			full[n.Name] = append(full[n.Name], fmt.Sprintf("%s (%s, %s of %s available)", d.Name, d.Path, gib(d.Available), gib(d.Maximum)))
		}
	}
	for _, n := range p.Cluster.Longhorn.Nodes {
		if len(full[n.Name]) == 0 {
			continue
		}
		f := p.Find(report.Certain, diagnosis.NodeSubject(n.Name)).On(v).Located(n.Name)
		f.Sayf("Every Longhorn disk that could take a replica of volume %s is under pressure; on node %s: %s. The volume's replicas are placed nowhere, so it cannot be attached.",
			lh.Name, n.Name, strings.Join(full[n.Name], ", "))
		f.Fact(diagnosis.FromAPI("Node.longhorn.io "+n.Name, "status.diskStatus[].conditions[Schedulable]", "False DiskPressure: "+strings.Join(full[n.Name], ", ")),
			diagnosis.FromAPI("Volume "+lh.Name, "status.conditions[Scheduled]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
		adviseRoom(f)
		p.Report(f)
	}
}

// unplaced tells whether no usable replica of the volume has a place.
func unplaced(v *snapshot.Volume) bool {
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID != "" && r.FailedAt == "" {
			return false
		}
	}
	return true
}
