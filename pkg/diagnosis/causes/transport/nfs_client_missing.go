package transport

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_client_missing.md
var nfsClientMissingDoc string

// NFSClientMissing finds nodes without the mount helper of a network filesystem.
var NFSClientMissing = &diagnosis.Rule{
	Name: "nfs-client-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("hostfiles")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      nfsClientMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, c := range v.Waiting() {
				if c.Node() != "" {
					helperMissing(p, v, c)
				}
			}
		}
	},
}

// share is what shall be mounted for a waiting pod, and with which helper.
type share struct {
	source, helper string
	said           *diagnosis.Text // the fresh refusal of mount(8)
	explicit       bool            // it names the helper
}

// shareOf finds the network source of a volume: what mount(8) was called with, else
// what the PV says.
func shareOf(p *diagnosis.Pass, v *snapshot.Volume, node string) (share, bool) {
	s := share{}
	if server, path := serverOf(v); server != "" {
		s = share{source: server + ":" + path, helper: "mount.nfs"}
	} else if lh := v.LH(); lh != nil && v.RegularRWX() {
		s = share{source: strings.TrimPrefix(lh.Status.ShareEndpoint, "nfs://"), helper: "mount.nfs"}
	}
	for _, t := range p.Texts(v) {
		explicit := t.Is(message.NFSHelperMissing)
		if !t.Fresh || t.Node != node && t.OnNode != node || !explicit && !t.Is(message.WrongFSType) {
			continue
		}
		source := t.MountSource
		if source == "" {
			source = s.source
		}
		helper := helperFor(source, t.Args)
		if helper == "" {
			continue
		}
		s.source, s.helper, s.said, s.explicit = source, helper, &t, explicit
		break
	}
	return s, s.helper != "" && s.source != ""
}

// helperFor names the program that mount(8) starts for a source: host:/path is NFS,
// //host/share is SMB. A path below /dev is a block device and none of ours.
func helperFor(source, args string) string {
	switch {
	case strings.HasPrefix(source, "//") || strings.Contains(args, "-t cifs") || strings.Contains(args, "-t smb3"):
		return "mount.cifs"
	case strings.HasPrefix(source, "/"):
		return ""
	case strings.Contains(source, ":/"):
		return "mount.nfs"
	}
	return ""
}

func helperMissing(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer) {
	node := c.Node()
	s, ok := shareOf(p, v, node)
	if !ok || s.said == nil && !onHost(v) {
		return
	}
	view := p.View(node)
	if view == nil || !view.Facts.ToolsRead() {
		helperMissedByText(p, v, c, s)
		return
	}
	for _, m := range p.VolumeMounts(v, node) {
		if _, isNFS := asNFS(m.Mount); isNFS || m.Mount.FSType == "cifs" {
			return // the helper did its work
		}
	}
	root, where := mountRoot(view, v)
	if hasHelper(view, root, s.helper) || ran(p, v, node, s.helper) || s.said == nil && v.RegularRWX() && !served(v) {
		return
	}
	elsewhere := view.Facts.ToolElsewhere(s.helper)
	if elsewhere != "" && !s.explicit {
		return // a host with its own layout finds its own programs
	}
	certainty := report.Certain
	if !onHost(v) || elsewhere != "" {
		certainty = report.Likely // the driver may mount with the programs of its own image
	}
	f := s.finding(p, certainty, v, c)
	words := ""
	if s.said != nil {
		words = "The words about a bad option or filesystem type are what mount says without its helper; the options are well. "
	}
	f.Sayf("Node %s has no %s in the directories that mount(8) searches%s, so %s cannot be mounted for pod %s/%s. %s"+
		"A driver that brings the program in its own image mounts here all the same.", node, s.helper, where, s.source, c.Pod.Namespace, c.Pod.Name, words)
	f.Fact(diagnosis.FromNode(node, root+"{sbin,usr/sbin}/"+s.helper, "not there"))
	switch {
	case elsewhere != "":
		f.Fact(diagnosis.FromNode(node, elsewhere, "there, outside the searched directories"))
		f.Missing("the PATH that mount is started with")
	case certainty != report.Certain:
		f.Missing("the programs in the image of driver " + v.Driver)
	}
	p.Report(f)
}

// ran tells whether the helper itself spoke: "mount.nfs: access denied by server".
func ran(p *diagnosis.Pass, v *snapshot.Volume, node, helper string) bool {
	for _, t := range p.Texts(v) {
		if t.Fresh && (t.Node == node || t.OnNode == node) && (strings.Contains(t.Raw, helper+": ") || strings.Contains(t.Raw, helper+"4: ")) {
			return true
		}
	}
	return false
}

// onHost tells whether the mount is made with the host's programs: by the kubelet
// for in-tree volumes, by Longhorn in the host's namespace.
func onHost(v *snapshot.Volume) bool { return v.CSIName() == "" || v.IsLonghorn() }

// served tells whether the share is there to be mounted; before that nobody mounts.
func served(v *snapshot.Volume) bool {
	lh := v.LH()
	return lh != nil && lh.Status.ShareState == "running"
}

// mountRoot is where the programs are looked for: in the host, or in the container
// of a kubelet that mounts from its own image.
func mountRoot(view *snapshot.NodeView, v *snapshot.Volume) (prefix, words string) {
	k := view.Facts.Kubelet
	if !v.IsLonghorn() && k.PID != 0 && k.MntNS != 0 && k.MntNS != view.Facts.Identity.InitMntNS {
		prefix = fmt.Sprintf("proc/%d/root/", k.PID)
		for p := range view.Facts.Files {
			if strings.HasPrefix(p, prefix) {
				return prefix, " of the container that the kubelet runs in"
			}
		}
	}
	return "", ""
}

func hasHelper(view *snapshot.NodeView, root, helper string) bool {
	names := []string{helper}
	if helper == "mount.nfs" {
		names = append(names, "mount.nfs4")
	}
	for _, n := range names {
		if root == "" && view.Facts.Tool(n) != "" {
			return true
		}
		for _, dir := range []string{"sbin/", "usr/sbin/", "bin/", "usr/bin/"} {
			if _, ok := view.Facts.Files[root+dir+n]; ok && root != "" {
				return true
			}
		}
	}
	return false
}

func (s share) finding(p *diagnosis.Pass, certainty report.Certainty, v *snapshot.Volume, c *snapshot.Consumer) *diagnosis.Finding {
	f := p.Find(certainty, diagnosis.NodeSubject(c.Node())).On(v).Located(c.Node())
	f.Pod(c.Pod)
	if s.said != nil {
		f.Fact(s.said.Evidence())
	}
	if v.PV != nil && v.PV.Spec.NFS != nil {
		f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PV.Name, "spec.nfs", v.PV.Spec.NFS.Server+":"+v.PV.Spec.NFS.Path))
	}
	pkg := "nfs-common (Debian, Ubuntu), nfs-utils (Red Hat and its kin) or nfs-client (SUSE)"
	if s.helper == "mount.cifs" {
		pkg = "cifs-utils"
	}
	f.Advise(remedy.Words("Install " + pkg + " on every node that may run the pod, node " + c.Node() + " first. The kubelet tries again within two minutes."))
	return f.Unless(s.helper + " on the host, or a source that is a block device")
}

// helperMissedByText judges without the node: Longhorn's own check of the node and
// the fresh words together are proof, the words alone are not.
func helperMissedByText(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer, s share) {
	var checked *report.Evidence
	if lh := p.LHNode(c.Node()); lh != nil && v.IsLonghorn() {
		k, ok := lh.Conditions.Get("NFSClientInstalled")
		switch {
		case ok && k.Status == "False" && k.Reason == "NFSClientIsNotFound":
			e := diagnosis.FromAPI("nodes.longhorn.io "+c.Node(), "status.conditions[NFSClientInstalled]", strings.TrimSpace(k.Reason+" "+k.Message))
			checked = &e
		case ok && k.Status == "True":
			return
		}
	}
	if s.said == nil && checked == nil {
		p.Probed(c.Node())
		return
	}
	certainty := report.Possible
	switch {
	case s.said != nil && checked != nil:
		certainty = report.Certain
	case s.said != nil:
		certainty = report.Likely
	}
	f := s.finding(p, certainty, v, c)
	f.Sayf("Mounting %s for pod %s/%s on node %s fails the way it does without %s: the host has no client of this network filesystem installed.", s.source, c.Pod.Namespace, c.Pod.Name, c.Node(), s.helper)
	if checked != nil {
		f.Fact(*checked)
	}
	if certainty != report.Certain {
		f.Missing("the programs of node " + c.Node())
	}
	p.Report(f)
}
