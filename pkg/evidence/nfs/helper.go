package nfs

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Share is what shall be mounted for a pod that waits on the place's node, and with which
// helper of mount(8).
type Share struct {
	pl             *evidence.Place
	Source, Helper string
	Pod            string
	Said           evidence.Answer // mount(8) refused it freshly
	explicit       bool            // and names the helper
	Called         bool            // the driver calls the program itself, and does not find it
}

// ofMount tells whether the driver's own words, behind those of the kubelet, speak of a mount: it calls other programs, too.
func ofMount(raw string) bool {
	_, own, _ := strings.Cut(raw, "desc = ")
	own = strings.ToLower(own)
	return strings.Contains(own, "mount") || strings.Contains(own, "fuse")
}

// notFound is a program that was called and is nowhere in the directories that are searched (Go: os/exec).
var notFound = pattern.MustCompile(`exec: \\?"([\w./+-]+)\\?": executable file not found`)

// ShareOf finds the network source of the volume: what mount(8) was called with, else
// what the PV says.
func ShareOf(pl *evidence.Place) (Share, bool) {
	s := Share{pl: pl, Said: evidence.No()}
	waiting := pl.Volume.WaitingOn(pl.Node)
	if len(waiting) == 0 {
		return s, false
	}
	s.Pod = waiting[0].Pod.Namespace + "/" + waiting[0].Pod.Name
	if server, dir := pl.Volume.NFSServer(); server != "" {
		s.Source, s.Helper = server+":"+dir, "mount.nfs"
	} else if pl.Volume.LH() != nil && pl.Volume.RegularRWX() {
		s.Source, s.Helper = pl.Volume.ShareSource(), "mount.nfs"
	}
	if ofShare := around.KindOf(pl.X, pl.Volume, pl.Node).Share(); ofShare {
		for _, t := range pl.Refused() {
			if m := notFound.FindStringSubmatch(t.Raw); m != nil && t.Mounts() && !t.OfContainer() && ofMount(t.Raw) {
				s.Source, s.Helper, s.Said, s.Called = volume.Name(pl.Volume), path.Base(m[1]), evidence.Yes(t.Evidence()), true
				return s, true
			}
		}
	}
	for _, t := range pl.Texts {
		explicit := t.Is(message.NFSHelperMissing)
		if !t.Fresh || t.Node != pl.Node && t.OnNode != pl.Node || !explicit && !t.Is(message.WrongFSType) {
			continue
		}
		source := t.MountSource
		source = cmp.Or(source, s.Source)
		if helper := helperFor(source, t.Args); helper != "" {
			s.Source, s.Helper, s.Said, s.explicit = source, helper, evidence.Yes(t.Evidence()), explicit
			break
		}
	}
	return s, s.Helper != "" && s.Source != "" && (s.Said.Yes() || s.OnHost())
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

// OnHost tells whether the mount is made with the host's programs: by the kubelet for
// in-tree volumes, by Longhorn in the host's namespace.
func (s Share) OnHost() bool { return s.pl.Volume.CSIName() == "" || s.pl.Volume.IsLonghorn() }

// Works asks whether the helper does its work, or has none: it spoke itself, the volume is
// mounted, or the share is not there to be mounted yet.
func (s Share) Works() evidence.Answer {
	for _, m := range s.pl.X.VolumeMounts(s.pl.Volume, s.pl.Node) {
		if isNFS(m.Mount) || m.Mount.FSType == "cifs" {
			return evidence.Yes(evidence.FromMount(s.pl.Node, nil, m.Mount))
		}
	}
	if said := s.pl.Texts.Say(func(t evidence.Text) bool {
		return t.Fresh && (t.Node == s.pl.Node || t.OnNode == s.pl.Node) && (strings.Contains(t.Raw, s.Helper+": ") || strings.Contains(t.Raw, s.Helper+"4: "))
	}); said.Yes() {
		return said
	}
	lh := s.pl.Volume.LH()
	if !s.Said.Yes() && s.pl.Volume.RegularRWX() && (lh == nil || lh.Status.ShareState != "running") {
		return evidence.Yes()
	}
	return s.pl.Mounts().Found()
}

// Missing asks whether the node has no helper where it is looked for; where says in words
// whose directories these are, elsewhere where it lies instead. A host with its own layout
// finds its own programs, unless mount(8) names the helper.
func (s Share) Missing() (where, elsewhere string, a evidence.Answer) {
	view := s.pl.View
	if view == nil {
		return "", "", s.pl.Probed().Nothing()
	}
	if !view.Facts.ToolsRead() {
		return "", "", evidence.Unseen(append(s.pl.Tables(probes.Files).Lacks(), evidence.Lack{Need: "node/" + s.pl.Node + "/" + string(probes.Files), Node: s.pl.Node, Why: "its programs were not read"})...)
	}
	root, where := s.root()
	if hasHelper(view, root, s.Helper) {
		return "", "", evidence.No()
	}
	elsewhere = view.Facts.ToolElsewhere(s.Helper)
	if elsewhere != "" && !s.explicit {
		return "", "", evidence.No()
	}
	a = evidence.Yes(evidence.FromNode(s.pl.Node, root+"{sbin,usr/sbin}/"+s.Helper, "not there"))
	if elsewhere != "" {
		a = a.With(evidence.FromNode(s.pl.Node, elsewhere, "there, outside the searched directories"))
	}
	return where, elsewhere, a
}

// Searched asks whether mount looks for the helper where it was looked for.
func (s Share) Searched(elsewhere string) evidence.Answer {
	whole := s.pl.Tables(probes.Files)
	if elsewhere != "" {
		whole = whole.And(evidence.Partial(evidence.Lack{Need: "the PATH that mount is started with on node " + s.pl.Node, Node: s.pl.Node, Why: "it was not read"}))
	} else if !s.OnHost() {
		whole = whole.And(evidence.Partial(evidence.Lack{Need: "the programs in the image of driver " + s.pl.Volume.Driver, Node: s.pl.Node, Why: "it may mount with them"}))
	}
	return whole.Nothing()
}

// Checked asks whether Longhorn's own check of the node found no client.
func (s Share) Checked() evidence.Answer {
	lh := s.pl.X.LHNode(s.pl.Node)
	if lh == nil || !s.pl.Volume.IsLonghorn() {
		return evidence.Unseen()
	}
	k, ok := lh.Conditions.Get("NFSClientInstalled")
	fact := evidence.FromAPI("nodes.longhorn.io "+s.pl.Node, "status.conditions[NFSClientInstalled]", strings.TrimSpace(k.Reason+" "+k.Message))
	switch {
	case ok && k.Status == "False" && k.Reason == "NFSClientIsNotFound":
		return evidence.Yes(fact)
	case ok && k.Status == "True":
		return evidence.No(fact)
	}
	return evidence.Unseen()
}

// root is where the programs are looked for: in the host, or in the container of a
// kubelet that mounts from its own image.
func (s Share) root() (prefix, words string) {
	k := s.pl.View.Facts.Kubelet
	if !s.pl.Volume.IsLonghorn() && k.PID != 0 && k.MntNS != 0 && k.MntNS != s.pl.View.Facts.Identity.InitMntNS {
		if prefix = fmt.Sprintf("proc/%d/root/", k.PID); s.pl.View.HasBelow(prefix) {
			return prefix, "of the container that the kubelet runs in"
		}
	}
	return "", ""
}

func hasHelper(view *snapshot.NodeView, root, helper string) bool {
	names := []string{helper}
	if helper == "mount.nfs" {
		names = append(names, "mount.nfs4")
	}
	return slices.ContainsFunc(names, func(n string) bool {
		if root == "" {
			return view.Facts.Tool(n) != ""
		}
		return slices.ContainsFunc([]string{"sbin/", "usr/sbin/", "bin/", "usr/bin/"}, func(dir string) bool {
			_, ok := view.Facts.Files[root+dir+n]
			return ok
		})
	})
}
