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
		if s.Called {
			return []*diagnosis.Proof{notThere(pl, s)}
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

// notThere is a program that the driver calls to mount, in its own container or on the host, and does not find.
func notThere(pl *evidence.Place, s nfs.Share) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: "called",
		With:  words.Fields{"node": pl.Node, "helper": s.Helper, "source": s.Source, "pod": s.Pod, "driver": pl.Volume.CSIName()},
		State: []evidence.Answer{s.Said},
		Last:  []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "where " + s.Helper + " is called", Node: pl.Node, Why: "the driver does not say whether it is on the node or in its own container"})},
		Steps: []remedy.Step{remedy.Words("Look where the driver mounts. In the container of its node plugin: deploy the image of a release that has " + s.Helper +
			". On the host (a proxy, a unit of systemd): install it on node " + pl.Node + " and on every node that may run the pod, or keep the pods from nodes that do not have it. The PATH of the pod's own container does not matter.")},
	}
	p.Users(pl.Volume.WaitingOn(pl.Node)...)
	return p
}
