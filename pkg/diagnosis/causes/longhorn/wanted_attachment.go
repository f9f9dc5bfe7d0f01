package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// patience is how long Longhorn may take to attach or detach a volume before its
// state counts as stuck.
const patience = 3 * time.Minute

// freshFor is how old a line of a log may be that speaks of the present.
const freshFor = 10 * time.Minute

func wantedFor(p *diagnosis.Pass, v *snapshot.Volume) time.Duration { return lh.WantedFor(p.Index, v) }

func wantedNodes(v *snapshot.Volume) []string { return lh.WantedNodes(v) }

func nodeWorks(p *diagnosis.Pass, node string) bool { return lh.NodeWorks(p.Index, node) }
