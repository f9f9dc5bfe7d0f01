package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_kernel_incompatible.md
var nfsKernelIncompatibleDoc string

// NFSKernelIncompatible finds clients whose kernel release is known to be broken
// with a server.
var NFSKernelIncompatible = &diagnosis.Rule{
	Name: "nfs-kernel-incompatible", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"mount-failed", "volume-io-error", "volume-hung", "pod-waiting-for-volume"},
	LeadsTo:  []string{"nfs-state-hang"},
	Doc:      nfsKernelIncompatibleDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, r := range refusals(p, v, func(t diagnosis.Text) bool { return speaksOfVersion(t) && notSupported.MatchString(t.Raw) }) {
				kernelRefuses(p, r)
			}
			illegalOperation(p, v)
		}
	},
}

// onlyThisKernel tells whether the share works on nodes of other kernels, and only there.
func onlyThisKernel(p *diagnosis.Pass, r refusal) bool {
	mine, _ := kernelOf(p, r.node)
	works := worksOn(p, r.volume, r.node)
	for _, n := range works {
		if other, _ := kernelOf(p, n); other == "" || other == mine {
			return false
		}
	}
	return mine != "" && len(works) > 0
}

func kernelRefuses(p *diagnosis.Pass, r refusal) {
	release, where := kernelOf(p, r.node)
	known := nfs.KnownBroken(release)
	pinned, _ := pinnedVersion(p, r, r.version())
	if clientLacks(r.view, r.version()) != nil || pinned != nil || !known && !onlyThisKernel(p, r) {
		return // nfs-version-unsupported
	}
	certainty, works := report.Likely, worksOn(p, r.volume, r.node)
	if known {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.NodeSubject(r.node))
	r.tie(f)
	text := fmt.Sprintf("Node %s runs kernel %s. Its NFS client refuses %s for pod %s (Protocol not supported) although it was built with NFS %s.", r.node, release, r.source(), r.pod(), orDefault(r.version(), "4"))
	if known {
		text += " This release is known for it."
	}
	if len(works) > 0 {
		text += " Nodes with other kernels mount the same share: " + kernelsOf(p, works) + "."
	}
	f.Sayf("%s", text)
	f.Fact(diagnosis.FromNode(r.node, where, release))
	for _, n := range works {
		if k, at := kernelOf(p, n); k != "" {
			f.Fact(diagnosis.FromNode(n, at, k))
		}
	}
	if server, _ := mountedServer(p, r.volume); r.view != nil {
		named, _ := serverOf(r.volume)
		d := dialOf(r.view, nfsPort(r.volume), server, named)
		if d.failed() {
			return // nfs-server-unreachable
		}
		f.Fact(d.evidence(r.node))
		if !d.asked() && len(works) == 0 {
			f.Missing("an answer of the server's port on node " + r.node)
		}
	} else if len(works) == 0 {
		f.Missing("an answer of the server's port on node " + r.node)
		p.Probed(r.node)
	}
	f.Unless("a mount of the same share by a node with the same kernel")
	f.Advise(kernelAdvice(r.volume, r.node)...)
	p.Report(f)
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

func kernelsOf(p *diagnosis.Pass, nodes []string) string {
	var out []string
	for _, n := range nodes {
		k, _ := kernelOf(p, n)
		out = append(out, strings.TrimSpace(n+" "+k))
	}
	return joined(out)
}

func kernelAdvice(v *snapshot.Volume, node string) []remedy.Step {
	option := "mount option vers=4.0 (in the class or a new PersistentVolume)"
	if v.IsLonghorn() {
		option = "nfsOptions vers=4.0 (Longhorn 1.11 and later, in a StorageClass for new volumes)"
	}
	return []remedy.Step{
		remedy.Words("Boot node " + node + " with another kernel: the one before the update, or one with the distribution's correction. Until then keep the pod on nodes whose kernel works."),
		remedy.Words("Or use " + option + "; it takes effect when the share is mounted anew."),
	}
}

var (
	remoteIO     = regexp.MustCompile(`(?i)\bremote I/O error|\bEREMOTEIO\b|errno 121\b`)
	kernelSeven  = regexp.MustCompile(`^7\.`)
	ganeshaStart = regexp.MustCompile(`(?i)ganesha[^:]*version \S+`)
)

// illegalOperation finds clients of kernel 7 that ask a ganesha for directory
// delegations, which it calls illegal: listings then fail with EREMOTEIO. The
// operation itself is in no snapshot, so this stays likely.
func illegalOperation(p *diagnosis.Pass, v *snapshot.Volume) {
	sm := p.ShareManagerPod(v)
	server, said := ganesha(p, v)
	if sm == nil && !said {
		return
	}
	for _, t := range p.Texts(v) {
		if !t.Fresh || !remoteIO.MatchString(t.Raw) {
			continue
		}
		for _, c := range v.Live() {
			release, where := kernelOf(p, c.Node())
			if !kernelSeven.MatchString(release) || t.Pod != "" && t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || oldProtocol(p, v, c.Node()) {
				continue
			}
			f := p.Find(report.Likely, diagnosis.NodeSubject(c.Node())).On(v).Located(c.Node()).Fact(t.Evidence())
			f.Pod(c.Pod)
			text := fmt.Sprintf("Pod %s/%s on node %s (kernel %s) gets \"Remote I/O error\" from the share of volume %s, which a ganesha server offers. Clients of this kernel ask for directory delegations over NFS 4.1 and later; the server calls the operation illegal and breaks the request off. Nothing is corrupt.",
				c.Pod.Namespace, c.Pod.Name, c.Node(), release, volumeName(v))
			if others := olderClients(p, v, c.Node()); len(others) > 0 {
				text += " Clients with older kernels read the same share: " + kernelsOf(p, others) + "."
			}
			f.Sayf("%s", text)
			f.Fact(diagnosis.FromNode(c.Node(), where, release)).Fact(server)
			f.NotConfirmed = append(f.NotConfirmed, "the operation that the server refused (a packet capture shows OP_ILLEGAL)")
			f.Unless("the same error from a client with a kernel before 7.0, or an error of the server's own disk")
			f.Advise(kernelAdvice(v, c.Node())...)
			p.Report(f)
			return
		}
	}
}

// ganesha quotes the server's own name for itself from its log.
func ganesha(p *diagnosis.Pass, v *snapshot.Volume) (report.Evidence, bool) {
	for _, t := range p.Texts(v) {
		if t.Source == "log" && ganeshaStart.MatchString(t.Raw) {
			return t.Evidence(), true
		}
	}
	return report.Evidence{}, false
}

// oldProtocol tells whether the node was seen to mount the volume with NFS 4.0 or 3.
func oldProtocol(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if p.View(node) == nil {
		return false
	}
	for _, m := range p.VolumeMounts(v, node) {
		if x, ok := asNFS(m.Mount); ok && x.sessions() {
			return false
		}
	}
	return true
}

func olderClients(p *diagnosis.Pass, v *snapshot.Volume, node string) []string {
	var out []string
	for _, n := range worksOn(p, v, node) {
		if k, _ := kernelOf(p, n); k != "" && !kernelSeven.MatchString(k) {
			out = append(out, n)
		}
	}
	return out
}
