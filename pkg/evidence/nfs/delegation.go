package nfs

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	nodes "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	remoteIO     = pattern.MustCompile(`(?i)\bremote I/O error|\bEREMOTEIO\b|errno 121\b`)
	ganeshaStart = pattern.MustCompile(`(?i)ganesha[^:]*version \S+`)
)

// asksDelegations tells whether clients of a kernel ask for directory delegations: since 7.0.
func asksDelegations(release string) bool { return strings.HasPrefix(release, "7.") }

// Illegal is a client whose request a ganesha server calls an illegal operation.
type Illegal struct {
	Node, Release, Pod string
	Older              []string        // other clients of the share, with kernels before
	Is                 evidence.Answer // the client's error, its kernel, the server
}

// IllegalOf finds the first client of a volume whose kernel asks a ganesha for directory
// delegations: listings then fail with EREMOTEIO. The operation itself is in no snapshot.
func IllegalOf(pl *evidence.Place) (Illegal, bool) {
	server, said := ganesha(pl)
	if pl.X.ShareManagerPod(pl.Volume) == nil && !said {
		return Illegal{}, false
	}
	for _, t := range pl.Texts {
		if !t.Fresh || !remoteIO.MatchString(t.Raw) {
			continue
		}
		for _, c := range pl.Volume.Live() {
			release, fact := nodes.Kernel(pl.X, c.Node())
			pod := c.Pod.Namespace + "/" + c.Pod.Name
			if !asksDelegations(release) || t.Pod != "" && t.Pod != pod || oldProtocol(pl.X, pl.Volume, c.Node()) {
				continue
			}
			out := Illegal{Node: c.Node(), Release: release, Pod: pod, Is: evidence.Yes(t.Evidence(), fact, server)}
			for _, n := range WorksOn(pl.On(c.Node())) {
				if k, _ := nodes.Kernel(pl.X, n); k != "" && !asksDelegations(k) {
					out.Older = append(out.Older, n)
				}
			}
			return out, true
		}
	}
	return Illegal{}, false
}

// ganesha quotes the server's own name for itself from its log.
func ganesha(pl *evidence.Place) (report.Evidence, bool) {
	for _, t := range pl.Texts {
		if t.Source == "log" && ganeshaStart.MatchString(t.Raw) {
			return t.Evidence(), true
		}
	}
	return report.Evidence{}, false
}

// oldProtocol tells whether the node was seen to mount the volume with NFS 4.0 or 3.
func oldProtocol(x *snapshot.Index, v *snapshot.Volume, node string) bool {
	return x.View(node) != nil && !slices.ContainsFunc(mountsOf(x, v, node), func(m Mount) bool { return m.sessions() })
}

// Answers asks whether the server of a volume answers a node that is refused: a port that
// is silent is another matter, and other clients of the share show that it is well.
func (r Refusal) Answers() evidence.Answer {
	server, _ := MountedServer(r.pl.X, r.pl.Volume)
	named, _ := r.pl.Volume.NFSServer()
	a := reach.Of(r.pl.View, r.pl.Volume.NFSPort(), server, named).Works(r.pl.Node, server+":"+r.pl.Volume.NFSPort())
	if r.pl.View == nil {
		a = r.pl.Probed().Nothing()
	}
	if a.Unseen() && len(WorksOn(r.pl)) > 0 {
		return evidence.Yes()
	}
	return a
}
