package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// V2MemoryShort finds nodes on which the v2 data engine (SPDK) lacks huge pages.
var V2MemoryShort = &diagnosis.Rule{
	Name: "longhorn-v2-memory-short", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Using},
	LeadsTo: []string{"longhorn-instance-manager-restarted", "longhorn-v2-engine-stuck"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !lh.IsV2(pl.Volume.LH()) || !lh.Suffers(pl) {
			return nil
		}
		return evidence.Each(lh.PartNodes(pl.X, pl.Volume), func(node string) *diagnosis.Proof { return memoryShort(pl, node) })
	},
}

func memoryShort(pl *evidence.Place, node string) *diagnosis.Proof {
	says, short := lh.PagesShort(pl.X, node)
	numbers, used := lh.PagesUsed(pl.X, node)
	failed, queue := lh.NoMemory(pl, node), lh.QueueReset(pl.X, node)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(node),
		With: words.Fields{"node": node, "volume": pl.Volume.LH().Name, "says": says, "pages": numbers,
			"engines": fmt.Sprintf("%d v2 engines run there", lh.V2Engines(pl.X, node))},
		Steps: []remedy.Step{remedy.Words("Raise the number of 2 MiB huge pages on node " + node + " (2 GiB are 1024 pages, more with the number of v2 volumes), restart the kubelet so that it reports them, and restart the v2 instance-manager while the v2 volumes of the node are detached. Verify: condition HugePagesAvailable True.")},
	}
	switch {
	case short.Yes():
		p.Says, p.State, p.Last = "short", []evidence.Answer{short.With(used.Facts()...)}, []evidence.Answer{failed}
	case used.Yes() && (failed.Yes() || queue.Yes()):
		p.Says, p.State, p.Last = "used", []evidence.Answer{used.With(queue.Facts()...)}, []evidence.Answer{failed}
	case failed.Yes():
		p.Says, p.State, p.Last = "said", []evidence.Answer{failed}, []evidence.Answer{used}
	case used.Unseen():
		p.State = []evidence.Answer{used} // not checked
	default: // SPDK takes its pages when it starts: none free is normal while it works
		return nil
	}
	p.At(node)
	return p
}
