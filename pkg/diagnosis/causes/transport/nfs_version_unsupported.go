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

//go:embed nfs_version_unsupported.md
var nfsVersionUnsupportedDoc string

// NFSVersionUnsupported finds mounts that ask for a version of NFS that the client's
// kernel or configuration does not do.
var NFSVersionUnsupported = &diagnosis.Rule{
	Name: "nfs-version-unsupported", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      nfsVersionUnsupportedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, r := range refusals(p, v, speaksOfVersion) {
				versionRefused(p, r)
			}
		}
	},
}

// The words of mount.nfs for EPROTONOSUPPORT and EINVAL (utils/mount/error.c).
var (
	notSupported = regexp.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?([Pp]rotocol not supported|requested NFS version or transport protocol is not supported)`)
	badOption    = regexp.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?an incorrect mount option was specified`)
)

// speaksOfVersion leaves out rpc.statd's failure, which prints the line about the
// option, too.
func speaksOfVersion(t diagnosis.Text) bool {
	return !statdWords.MatchString(t.Raw) && (notSupported.MatchString(t.Raw) || badOption.MatchString(t.Raw))
}

func versionRefused(p *diagnosis.Pass, r refusal) {
	want := r.version()
	if want == "3" && r.volume.RegularRWX() {
		return // Longhorn's shares do not serve it to anybody: storageclass-parameter-wrong
	}
	lack := clientLacks(r.view, want)
	pinned, read := pinnedVersion(p, r, want)
	release, where := kernelOf(p, r.node)
	explicit := notSupported.MatchString(r.text.Raw)
	certainty := report.Certain
	switch {
	case lack != nil || pinned != nil && read:
	case explicit && (nfs.KnownBroken(release) || onlyThisKernel(p, r)):
		return // nfs-kernel-incompatible
	case pinned != nil, explicit, r.view != nil && withoutModule(r.view, want):
		certainty = report.Likely
	case r.view != nil && configRead(r.view), want == "" || want == "3":
		return // an option is wrong, and not the version
	default:
		certainty = report.Possible
	}
	f := p.Find(certainty, diagnosis.NodeSubject(r.node))
	r.tie(f)
	asked := "the NFS version that is asked for"
	if want != "" {
		asked = "NFS " + want
	}
	text := fmt.Sprintf("Node %s (kernel %s) cannot mount %s for pod %s: %s is not supported there.", r.node, release, r.source(), r.pod(), asked)
	f.Fact(diagnosis.FromNode(r.node, where, release))
	if lack != nil {
		text += " The kernel was built without it."
		f.Fact(*lack)
	}
	if pinned != nil {
		text += " The client's configuration sets another version by default."
		f.Fact(*pinned)
	}
	if works := worksOn(p, r.volume, r.node); len(works) > 0 {
		text += " The same share works on node " + joined(works) + ", so the server is well."
	}
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "the kernel's configuration (boot/config-"+release+") and etc/nfsmount.conf of node "+r.node)
		p.Probed(r.node)
	}
	f.Sayf("%s", text)
	f.Unless("a mount of this version on the same node")
	f.Advise(versionAdvice(r, want)...)
	p.Report(f)
}

func versionAdvice(r refusal, want string) []remedy.Step {
	out := []remedy.Step{remedy.Words("Give node " + r.node + " a kernel (or its module package) with " + strings.TrimSpace("NFS "+want) + " in the client, and take Defaultvers or Nfsvers out of nfsmount.conf where they say otherwise.")}
	if r.volume.IsLonghorn() {
		return append(out, remedy.Words("Or, from Longhorn 1.11 on, use nfsOptions with vers=4.0 in a new StorageClass; until then keep the pod on nodes whose kernel does it."))
	}
	return append(out, remedy.Words("Or mount with a version that both sides do (mount option vers= of the class, or of a new PersistentVolume)."))
}

// versionSwitch is the switch of the kernel's configuration for a version (fs/nfs/Kconfig).
func versionSwitch(want string) string {
	switch want {
	case "3":
		return "CONFIG_NFS_V3"
	case "4", "4.0":
		return "CONFIG_NFS_V4"
	case "4.1":
		return "CONFIG_NFS_V4_1"
	case "4.2":
		return "CONFIG_NFS_V4_2"
	}
	return ""
}

func kernelConfig(view *snapshot.NodeView) (string, []string) {
	path := "boot/config-" + view.Facts.Identity.Kernel
	file, ok := view.Facts.Files[path]
	if !ok || file.Err != "" || !strings.Contains(file.Content, "CONFIG_NFS_FS") {
		return path, nil
	}
	return path, strings.Split(file.Content, "\n")
}

func configRead(view *snapshot.NodeView) bool {
	_, lines := kernelConfig(view)
	return lines != nil
}

// clientLacks quotes the kernel configuration of a kernel without the version.
func clientLacks(view *snapshot.NodeView, want string) *report.Evidence {
	name := versionSwitch(want)
	if view == nil || name == "" {
		return nil
	}
	path, lines := kernelConfig(view)
	if lines == nil {
		return nil
	}
	for i, l := range lines {
		if strings.HasPrefix(l, name+"=") {
			return nil
		}
		if l == "# "+name+" is not set" {
			e := diagnosis.FromNode(view.Name, fmt.Sprintf("%s:%d", path, i+1), l)
			return &e
		}
	}
	e := diagnosis.FromNode(view.Name, path, "no "+name)
	return &e
}

var defaultVersion = regexp.MustCompile(`(?i)^\s*(?:Defaultvers|Nfsvers|vers)\s*=\s*([0-9.]+)`)

// pinnedVersion finds a default version in nfsmount.conf that contradicts the wanted
// one (then it was read on the node), or Longhorn's own finding about it, which a
// file that was read since outranks.
func pinnedVersion(p *diagnosis.Pass, r refusal, want string) (e *report.Evidence, read bool) {
	if r.view != nil {
		for i, l := range strings.Split(r.view.Facts.Files["etc/nfsmount.conf"].Content, "\n") {
			if m := defaultVersion.FindStringSubmatch(l); m != nil && want != "" && m[1] != want && !strings.HasPrefix(want, m[1]+".") {
				e := diagnosis.FromNode(r.node, fmt.Sprintf("etc/nfsmount.conf:%d", i+1), strings.TrimSpace(l))
				return &e, true
			}
		}
		if _, ok := r.view.Facts.Files["etc/nfsmount.conf"]; ok {
			return nil, true
		}
	}
	if lh := p.LHNode(r.node); lh != nil && r.volume.IsLonghorn() {
		c, ok := lh.Conditions.Get("NFSClientInstalled")
		if ok && c.Status == "False" && c.Reason == "NFSClientIsMisconfigured" {
			e := diagnosis.FromAPI("nodes.longhorn.io "+r.node, "status.conditions[NFSClientInstalled]", c.Reason+": "+c.Message)
			return &e, false
		}
	}
	return nil, false
}

// withoutModule tells whether the kernel's lists were read and have no module for the
// version: nfsv4 does 4.0 and later (fs/nfs/Makefile).
func withoutModule(view *snapshot.NodeView, want string) bool {
	dep, read := view.Facts.HostFile("lib/modules/" + view.Facts.Identity.Kernel + "/modules.dep")
	return strings.HasPrefix(want, "4") && read && dep.Err == "" && !view.Facts.Module("nfsv4").Available()
}
