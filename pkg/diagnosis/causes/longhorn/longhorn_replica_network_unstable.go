package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ReplicaNetworkUnstable finds replicas that fail and rebuilds that break off because
// the network between engine and replica loses packets.
var ReplicaNetworkUnstable = &diagnosis.Rule{
	Name: "longhorn-replica-network-unstable", Layer: diagnosis.Longhorn, Severity: report.Degraded,
	Breaks:  []diagnosis.Step{diagnosis.Replicating, diagnosis.Using, diagnosis.Attaching},
	LeadsTo: []string{"longhorn-replica-inconsistent", "longhorn-volume-faulted", "filesystem-readonly-after-error", "longhorn-remount-pending"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(lh.BrokenOf(pl), func(b lh.Broken) *diagnosis.Proof { return networkUnstable(pl, b) })
	},
}

func networkUnstable(pl *evidence.Place, b lh.Broken) *diagnosis.Proof {
	v, near, far := pl.Volume.LH(), b.Engine.NodeID, b.Replica.NodeID
	herewords, here := machine.Lossy(pl.X, near)
	therewords, there := machine.Lossy(pl.X, far)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name),
		With: words.Fields{"volume": v.Name, "near": near, "far": far, "replica": b.Replica.Name, "times": fmt.Sprint(b.Times), "pair": "", "others": "", "alone": "",
			"here": herewords, "there": therewords, "nearcpu": machine.CPUPressure(pl.X, near), "farcpu": machine.CPUPressure(pl.X, far), "hosts": "", "mtus": machine.MTUsDiffer(pl.X, near, far)},
		State: []evidence.Answer{b.Is(), evidence.Any(here, there, b.Shared())},
		Hint:  b.Is(), // counters since boot that are clean, and a volume alone, refute nothing
		Last:  []evidence.Answer{here, there, b.SamePair()},
		Steps: []remedy.Step{
			remedy.Words("Repair the link between " + near + " and " + far + ": cabling, tunnel or VPN, its MTU, the load of a weak CPU that encrypts. Look twice, a minute apart, at the drops of the interfaces and at the retransmitted segments while a rebuild runs."),
			remedy.Words("A larger engine-replica-timeout helps only for a while. Deleting the replica only begins the same rebuild anew; the volume goes on with the replicas that work."),
		},
	}
	if b.Pair+b.Near >= 2 {
		p.With["pair"], p.With["others"] = fmt.Sprint(b.Pair), fmt.Sprint(b.Near)
	} else {
		p.With["alone"] = "No other volume"
	}
	if b.Hosts >= 2 {
		p.With["hosts"] = fmt.Sprint(b.Hosts)
	}
	p.At(far)
	p.At(near)
	return p
}
