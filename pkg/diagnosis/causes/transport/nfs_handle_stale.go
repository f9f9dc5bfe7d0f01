package transport

import (
	_ "embed"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_handle_stale.md
var nfsHandleStaleDoc string

// NFSHandleStale finds mounts whose server answers and no longer knows the file
// that is mounted.
var NFSHandleStale = &diagnosis.Rule{
	Name: "nfs-handle-stale", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("reach")},
	Explains: []string{"volume-io-error", "mount-failed", "unmount-blocked", "pod-stuck-terminating", "pod-waiting-for-volume"},
	LeadsTo:  []string{"subpath-bind-stale"},
	Offers:   []string{"delete-pod", "unmount-lazy"},
	Doc:      nfsHandleStaleDoc,
	Run: func(p *diagnosis.Pass) {
		seen := map[*snapshot.Volume]bool{}
		for _, s := range brokenShares(p, "ESTALE", isNFSType) {
			seen[s.volume] = true
			handleStale(p, s)
		}
		for _, v := range p.Volumes() {
			if !seen[v] {
				handleStaleByText(p, v)
			}
		}
	},
}

func isNFSType(fstype string) bool { return fstype == "nfs" || fstype == "nfs4" }

func handleStale(p *diagnosis.Pass, s *brokenShare) {
	b := s.mounts[0]
	m, ok := asNFS(b.Mount)
	if !ok {
		return
	}
	d := dialOf(b.view, m.port, m.addr, m.server)
	if d.failed() {
		return // nobody answers at all: nfs-server-unreachable
	}
	f := s.find(p, report.Certain)
	f.Object("server", m.addr)
	answers := fmt.Sprintf("The server %s answers on TCP port %s (%s), so nothing needs to wait for it. ", m.addr, m.port, d.answer)
	if d.asked() {
		f.Fact(d.evidence(b.view.Name))
	} else {
		answers = ""
		f.Missing("an answer of TCP port " + m.port + " of " + m.addr + " on node " + b.view.Name)
	}
	f.Sayf("The NFS file handle (%s) behind %s is stale (ESTALE): the server no longer knows the directory, because it, its export or the directory was made anew. %s"+
		"A stale handle never recovers, and a restarted container gets the same mount again.", m.Source, s.words(), answers)
	f.Unless("a statfs of the path that answers, or a server whose port does not")
	s.advise(p, f, "ESTALE")
	p.Report(f)
}

// handleStaleByText judges without a look at the mount.
func handleStaleByText(p *diagnosis.Pass, v *snapshot.Volume) {
	if server, _ := serverOf(v); server == "" && !v.RegularRWX() {
		return
	}
	for _, t := range p.Texts(v) {
		if !t.Fresh || !t.Is(message.StaleHandle) {
			continue
		}
		for _, c := range v.Live() {
			if c.Node() == "" || t.Node != "" && t.Node != c.Node() || t.Pod != "" && t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || answersThere(p, v, c.Node()) {
				continue
			}
			p.Probed(c.Node())
			f := p.Find(report.Likely, diagnosis.PodSubject(c.Pod)).On(v).Located(c.Node()).Fact(t.Evidence())
			f.Pod(c.Pod)
			f.Sayf("A mount of volume %s answers with a stale NFS file handle for pod %s/%s on node %s: the server seems to have been made anew and no longer knows the directory.",
				volumeName(v), c.Pod.Namespace, c.Pod.Name, c.Node())
			f.Missing("statfs of the volume's mounts and an answer of its server on node " + c.Node())
			f.Unless("a statfs of the path that answers, or a server whose port does not")
			f.Advise(remedy.Words(fmt.Sprintf("Once the server is known to answer, let pod %s/%s be made anew: a stale handle never recovers.", c.Pod.Namespace, c.Pod.Name)))
			p.Report(f)
			return
		}
	}
}

// answersThere tells whether the node was seen and its mounts of the volume answer:
// the present outranks the words.
func answersThere(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	view := p.View(node)
	if view == nil {
		return false
	}
	for _, m := range p.VolumeMounts(v, node) {
		if _, ok := view.Statfs(m.Mount.Point); !ok {
			return false
		}
	}
	return true
}
