package transport

import (
	_ "embed"
	"net"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed ceph_backend_unreachable.md
var cephBackendUnreachableDoc string

// CephBackendUnreachable finds a node whose Ceph client does not get through.
var CephBackendUnreachable = &diagnosis.Rule{
	Name: "ceph-backend-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"ceph-client-fenced", "filesystem-readonly-after-error", "provisioning-failed"},
	YieldsTo: []string{"csi-plugin-host-path-missing"},
	Asks:     diagnosis.EachPlace,
	Doc:      cephBackendUnreachableDoc,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.View == nil || !ceph.Of(pl.Volume) {
			return nil
		}
		suffers := ceph.Suffers(pl)
		if says, line := ceph.Refusing(pl); line.Yes() {
			return []*diagnosis.Proof{{
				Subject: diagnosis.NodeSubject(pl.Node), Says: says,
				With:  words.Fields{"node": pl.Node, "volume": pl.Volume.PVName()},
				State: []evidence.Answer{suffers, line},
				Steps: cephSteps(pl.Node, ""),
			}}
		}
		var out []*diagnosis.Proof
		for _, peer := range ceph.Complaints(pl) {
			out = append(out, &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: "peer",
				With:  words.Fields{"node": pl.Node, "volume": pl.Volume.PVName(), "daemon": peer.Name, "address": peer.Address},
				State: []evidence.Answer{suffers, evidence.Yes(peer.Lines...)},
				Last:  []evidence.Answer{peer.Dialled(pl), csi.InHostNetwork(pl)},
				Steps: cephSteps(pl.Node, peer.Address),
			})
		}
		return out
	},
}

func cephSteps(node, address string) []remedy.Step {
	help := "Open the monitors (3300 and 6789) and the ports of the OSDs and metadata servers (6800 and up) of all storage hosts for node " + node + ", with one MTU on the whole way."
	checks := []remedy.Command{"ceph health detail"}
	if address != "" {
		checks = append(checks, remedy.OnNode(node, append([]string{"nc", "-vz"}, hostPort(address)...)...))
	} else {
		help = "Let the Ceph administrator bring the metadata server back, or use a kernel that speaks the protocol of the cluster (ms_mode in the map or mount options for version 2, from 5.11 on)."
	}
	return []remedy.Step{
		remedy.Check("Ask the cluster for its health, in the toolbox or on a host of Ceph, and try the address from this node and from one that works.", checks...),
		remedy.Words(help + " The call that hangs goes on by itself once the daemon answers: do not kill it, and do not detach, unmap or reboot first, none of which reaches the storage."),
	}
}

// hostPort writes an address as two words.
func hostPort(address string) []string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return []string{address}
	}
	return []string{host, port}
}
