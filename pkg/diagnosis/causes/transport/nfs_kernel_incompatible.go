package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSKernelIncompatible finds clients whose kernel release is known to be broken
// with a server.
var NFSKernelIncompatible = &diagnosis.Rule{
	Name: "nfs-kernel-incompatible", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo: []string{"nfs-state-hang"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, at := range pl.AtConsumers() {
			if r, ok := nfs.VersionOf(at); ok && r.Explicit {
				out = append(out, kernelRefuses(at, r))
			}
		}
		i, ok := nfs.IllegalOf(pl)
		if !ok {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(i.Node), Says: "delegation",
			With:  words.Fields{"node": i.Node, "kernel": i.Release, "pod": i.Pod, "volume": nfs.NameOf(pl.Volume), "older": words.List(nfs.Kernels(pl.X, i.Older), 0)},
			State: []evidence.Answer{i.Is}, AtMost: report.Likely, // only a packet capture shows the operation
			Steps: kernelSteps(pl, i.Node),
		}
		p.At(i.Node)
		p.Users(pl.Volume.LiveConsumersOn(i.Node)...)
		return append(out, p)
	},
}

func kernelRefuses(at *evidence.Place, r nfs.Version) *diagnosis.Proof {
	release, _ := node.Kernel(at.X, at.Node)
	known, is := r.OfKernel()
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(at.Node), Says: "refuses",
		With:  words.Fields{"node": at.Node, "kernel": release, "source": r.Source(), "pod": r.Pod, "want": r.Want, "known": "", "works": words.List(nfs.Kernels(at.X, nfs.WorksOn(at)), 0)},
		State: []evidence.Answer{r.Is, is},
		Last:  []evidence.Answer{r.Answers()},
		Steps: kernelSteps(at, at.Node),
	}
	if known {
		p.With["known"] = release
	} else {
		p.AtMost = report.Likely
	}
	p.At(at.Node)
	p.Users(at.Volume.WaitingOn(at.Node)...)
	return p
}

func kernelSteps(pl *evidence.Place, node string) []remedy.Step {
	return []remedy.Step{
		remedy.Words("Boot node " + node + " with another kernel: the one before the update, or one with the distribution's correction. Until then keep the pod on nodes whose kernel works."),
		remedy.Words("Or use " + nfs.OldVersion(pl.Volume) + "; it takes effect when the share is mounted anew."),
	}
}
