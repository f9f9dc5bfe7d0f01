package drbd

import (
	"maps"
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
	Facts       []report.Evidence
}

// LostPeers lists the peers whose connection was lost and has not come back, by the last
// word of the kernel on each. DRBD goes StandAlone to a peer, and does not try again, when one of
// the two refuses, which it logs as an error, and when a command takes the peer out: that one is
// none. Newer versions name the command (del-peer, down) beside the transition; of a peer without
// either word, nobody knows (drbd_receiver.c, drbd_nl.c).
func LostPeers(pl *evidence.Place, r Resource) (out []Lost, known evidence.Reading) {
	for _, key := range slices.Sorted(maps.Keys(r.last)) {
		l := r.last[key]
		peer, ok := strings.CutPrefix(key, "conn ")
		if !ok || peer == "" || l.to == "Connected" || pl.X.Age(l.at) < flap {
			continue
		}
		switch l.to {
		case "Connecting", "Unconnected", "NetworkFailure", "BrokenPipe", "Timeout", "ProtocolError":
			out = append(out, Lost{peer, l.to, []report.Evidence{l.fact}})
		case "StandAlone":
			if why, refused := r.refusal(peer, l.at); refused {
				out = append(out, Lost{peer, l.to, []report.Evidence{why.fact, l.fact}})
			} else if !r.takenOut[peer] {
				known = known.And(evidence.Partial(evidence.Lack{Need: "why " + r.Name + " is StandAlone to its peer " + peer, Node: pl.Node,
					Why: "the log names neither a command that took the peer out nor a refusal"}))
			}
		}
	}
	return out, known
}

// refusal is the last error about a peer, or about the resource, just before it was left.
func (r Resource) refusal(peer string, at time.Time) (line, bool) {
	for _, l := range slices.Backward(r.errors) {
		if (l.peer == peer || l.peer == "") && !l.at.After(at) && at.Sub(l.at) < flap {
			return l, true
		}
	}
	return line{}, false
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
