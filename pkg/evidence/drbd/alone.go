package drbd

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// flap is how long a connection may be away before its copy counts as lost: DRBD connects
// again within seconds when the network does.
const flap = time.Minute

// Lost is a peer of a resource in use that DRBD does not reach.
type Lost struct {
	Peer, State string
	Fact        report.Evidence
}

// LostPeers lists the peers whose connection was lost and has not come back, by the last
// word of the kernel on each. A peer that was taken out by a command (del-peer, down) is none;
// StandAlone without a reason beside it may be one that older versions do not name.
func LostPeers(pl *evidence.Place, r Resource) []Lost {
	var out []Lost
	for key, l := range r.last {
		peer, ok := strings.CutPrefix(key, "conn ")
		if !ok || peer == "" || l.to == "Connected" || pl.X.Age(l.at) < flap {
			continue
		}
		switch l.to {
		case "Connecting", "Unconnected", "NetworkFailure", "BrokenPipe", "Timeout", "ProtocolError":
			out = append(out, Lost{peer, l.to, l.fact})
		case "StandAlone":
			if s, dropped := r.shout["Split-Brain detected"]; dropped && s.peer == peer {
				out = append(out, Lost{peer, l.to, l.fact})
			}
		}
	}
	slices.SortFunc(out, func(a, b Lost) int { return strings.Compare(a.Peer, b.Peer) })
	return out
}

// InUse asks whether the volume is in use on the place's node: it is mounted there, or the
// kernel's last word on the role is Primary while a pod of it runs.
func (r Resource) InUse(pl *evidence.Place) evidence.Answer {
	if len(pl.Volume.LiveConsumersOn(pl.Node)) == 0 {
		return evidence.No()
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		return evidence.Yes(evidence.FromNode(pl.Node, "mountinfo", m.Mount.Raw))
	}
	if role, ok := r.last["role"]; ok && role.to == "Primary" {
		return evidence.Yes(role.fact)
	}
	return evidence.No()
}
