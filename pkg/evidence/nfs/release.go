package nfs

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	nodes "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// broken are the releases whose NFSv4 client fails against servers that others mount:
// a regression in 6.5.6 and what distributions took from it.
var broken = pattern.MustCompile(`^(6\.5\.6([^0-9]|$)|5\.15\.0-94([^0-9]|$)|6\.5\.0-21([^0-9]|$)|6\.5\.0-1014-aws)`)

// knownBroken tells whether a release of the kernel is one of them.
func knownBroken(release string) bool { return broken.MatchString(release) }

// KernelWell asks whether the kernel of a node is none of those whose NFSv4 client is
// known to fail: what runs there, else what the kubelet reports.
func KernelWell(x *snapshot.Index, node string) evidence.Answer {
	if release, fact := nodes.Kernel(x, node); release != "" {
		return evidence.When(!knownBroken(release), fact)
	}
	return evidence.Unseen(evidence.Tables(x, node, probes.Machine).And(evidence.Resource(x, "/nodes")).Lacks()...)
}
