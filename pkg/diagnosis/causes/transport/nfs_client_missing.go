package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSClientMissing finds nodes without the mount helper of a network filesystem.
var NFSClientMissing = &diagnosis.Rule{
	Name: "nfs-client-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		s, ok := nfs.ShareOf(pl)
		if !ok {
			return nil
		}
		where, elsewhere, missing := s.Missing()
		checked := s.Checked()
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "absent",
			With:       words.Fields{"node": pl.Node, "helper": s.Helper, "where": where, "source": s.Source, "pod": s.Pod, "words": ""},
			State:      []evidence.Answer{missing.With(s.Said.Facts()...)},
			Last:       []evidence.Answer{s.Searched(elsewhere)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a helper that does its work", Is: s.Works()}},
		}
		if missing.Unseen() { // Longhorn's check and the fresh words together are proof, the words alone are not
			p.Says, p.LookAlikes = "said", nil
			switch said := s.Said.Yes(); {
			case checked.No():
				return nil
			case said && checked.Yes():
				p.State, p.Last = []evidence.Answer{s.Said, checked}, nil
			case said: // a mistyped option or type makes mount say the same (longhorn/longhorn#9323)
				p.State, p.Last, p.AtMost = []evidence.Answer{s.Said}, []evidence.Answer{missing}, report.Possible
			case checked.Yes():
				p.State, p.Last, p.AtMost = []evidence.Answer{checked}, []evidence.Answer{missing}, report.Possible
			}
		} else if !s.OnHost() { // a driver of NFS brings the helper in its image
			p.AtMost = report.Possible
		} else if s.Said.Yes() {
			p.With["words"] = "a bad option or filesystem type"
		}
		pkg := "nfs-common (Debian, Ubuntu), nfs-utils (Red Hat and its kin) or nfs-client (SUSE)"
		if s.Helper == "mount.cifs" {
			pkg = "cifs-utils"
		}
		p.Steps = []remedy.Step{remedy.Words("Install " + pkg + " on every node that may run the pod, node " + pl.Node + " first. The kubelet tries again within two minutes.")}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
