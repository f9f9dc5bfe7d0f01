package nfs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	nodes "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// The words of mount.nfs for EPROTONOSUPPORT and EINVAL (utils/mount/error.c), of
// utils/mount/stropts.c about rpc.statd, and of the script start-statd that it calls.
var (
	notSupported = pattern.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?([Pp]rotocol not supported|requested NFS version or transport protocol is not supported)`)
	badOption    = pattern.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?an incorrect mount option was specified`)
	statdAbsent  = pattern.MustCompile(`rpc\.statd is not running but is required for remote locking`)
	statdWords   = pattern.MustCompile(statdAbsent.String() + `|start-statd: |failed to start rpc[.-]statd`)
	statdScript  = pattern.MustCompile(`\S*start-statd: .*`)
)

// Version is a mount that was refused for the version of NFS that it asked for.
type Version struct {
	Refusal
	Want     string // empty: not known
	Explicit bool   // the words name the version, and not some option
	Lack     evidence.Answer
	Pinned   evidence.Answer // another version by default, read on the node
	Told     evidence.Answer // the same, by Longhorn's own check
	Default  string          // the line
}

// VersionOf finds the refusal of the place's node. rpc.statd's failure, which prints the
// line about the option, too, is none; nor is NFSv3 of a Longhorn share, which nobody is served.
func VersionOf(pl *evidence.Place) (Version, bool) {
	r, ok := refused(pl, func(t evidence.Text) bool {
		option := badOption.MatchString(t.Raw) && !strings.Contains(t.Raw, "sec=krb5") // it is said of a missing rpc.gssd, too
		return strings.Contains(t.Raw, "mount.nfs") && !statdWords.MatchString(t.Raw) && (notSupported.MatchString(t.Raw) || option)
	})
	if !ok {
		return Version{}, false
	}
	v := Version{Refusal: r, Want: r.Version(), Explicit: notSupported.MatchString(r.Text.Raw)}
	v.Lack = clientLacks(pl, v.Want)
	v.pin()
	return v, v.Want != "3" || !pl.Volume.RegularRWX()
}

// Switch is the switch of the kernel's configuration for a version (fs/nfs/Kconfig).
func Switch(want string) string {
	return map[string]string{"3": "CONFIG_NFS_V3", "4": "CONFIG_NFS_V4", "4.0": "CONFIG_NFS_V4", "4.1": "CONFIG_NFS_V4_1", "4.2": "CONFIG_NFS_V4_2"}[want]
}

// clientLacks asks whether the kernel of the place's node was built without the version.
func clientLacks(pl *evidence.Place, want string) evidence.Answer {
	if pl.View == nil {
		return pl.Probed().Nothing()
	}
	if doneThere(pl, want).Yes() {
		return evidence.No()
	}
	path := "boot/config-" + pl.View.Facts.Identity.Kernel
	file, ok := pl.View.Facts.Files[path]
	unread := evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: "the kernel's configuration (" + path + ") was not read"})
	name := Switch(want)
	if !ok || file.Err != "" || !strings.Contains(file.Content, "CONFIG_NFS_FS") {
		return unread
	}
	if name == "" {
		return evidence.No()
	}
	for i, l := range strings.Split(file.Content, "\n") {
		if strings.HasPrefix(l, name+"=") {
			return evidence.No()
		}
		if l == "# "+name+" is not set" {
			return evidence.Yes(evidence.FromNode(pl.Node, fmt.Sprintf("%s:%d", path, i+1), l))
		}
	}
	return evidence.Yes(evidence.FromNode(pl.Node, path, "no "+name))
}

// doneThere asks whether the kernel of the place's node has a share mounted with the version, or
// with a later one of NFS 4: CONFIG_NFS_V4_2 needs V4_1, and that needs V4 (fs/nfs/Kconfig).
func doneThere(pl *evidence.Place, want string) evidence.Answer {
	return evidence.When(want != "" && slices.ContainsFunc(mountsOn(pl.X, pl.View), func(m Mount) bool {
		v := m.SuperValue("vers")
		return v == want || strings.HasPrefix(want, "4") && strings.HasPrefix(v, "4") && v > want
	}))
}

var defaultVersion = pattern.MustCompile(`(?i)^\s*(?:Defaultvers|Nfsvers|vers)\s*=\s*([0-9.]+)`)

// pin finds a default version in nfsmount.conf that contradicts the wanted one, or
// Longhorn's own finding about it, which a file that was read since outranks.
func (v *Version) pin() {
	const path = "etc/nfsmount.conf"
	v.Pinned, v.Told = evidence.Unseen(), evidence.No()
	if view := v.pl.View; view != nil {
		file, read := view.Facts.Files[path]
		for i, l := range strings.Split(file.Content, "\n") {
			if m := defaultVersion.FindStringSubmatch(l); m != nil && v.Want != "" && m[1] != v.Want && !strings.HasPrefix(v.Want, m[1]+".") {
				v.Default = strings.TrimSpace(l)
				v.Pinned = evidence.Yes(evidence.FromNode(v.pl.Node, fmt.Sprintf("%s:%d", path, i+1), v.Default))
				return
			}
		}
		if read {
			v.Pinned = evidence.No()
			return
		}
	}
	if lh := v.pl.X.LHNode(v.pl.Node); lh != nil && v.pl.Volume.IsLonghorn() {
		c, ok := lh.Conditions.Get("NFSClientInstalled")
		if ok && c.Status == "False" && c.Reason == "NFSClientIsMisconfigured" {
			v.Default = c.Message
			v.Told = evidence.Yes(evidence.FromAPI("nodes.longhorn.io "+v.pl.Node, "status.conditions[NFSClientInstalled]", c.Reason+": "+c.Message))
		}
	}
}

// Missing asks whether it is the client that does not do the version; not seen where
// the words leave open which side it is.
func (v Version) Missing() evidence.Answer {
	if a := evidence.Any(v.Lack, v.Pinned); a.Yes() {
		return a
	}
	need := "node/" + v.pl.Node + "/" + string(probes.Files)
	why := "neither its kernel's configuration nor etc/nfsmount.conf shows that it lacks the version"
	if v.pl.View == nil {
		need, why = "node/"+v.pl.Node, "its kernel's configuration and etc/nfsmount.conf were not read"
	}
	return evidence.Unseen(evidence.Lack{Need: need, Node: v.pl.Node, Why: why})
}

// Indicated asks whether something besides the line about an option points to the version.
func (v Version) Indicated() evidence.Answer {
	return evidence.Any(evidence.When(v.Explicit), v.Told, v.withoutModule())
}

// Option asks whether it is another option that the client does not know: the version is
// NFSv3 or was not asked for, or the kernel was built with it.
func (v Version) Option() evidence.Answer {
	return evidence.When(!v.Indicated().Yes() && !v.Missing().Yes() && (v.Lack.No() || v.Want == "" || v.Want == "3"))
}

// withoutModule asks whether the kernel's lists were read and have no module for the
// version: nfsv4 does 4.0 and later (fs/nfs/Makefile).
func (v Version) withoutModule() evidence.Answer {
	view := v.pl.View
	if view == nil || !strings.HasPrefix(v.Want, "4") {
		return evidence.No()
	}
	at := "lib/modules/" + view.Facts.Identity.Kernel + "/modules.dep"
	dep, read := view.Facts.HostFile(at)
	return evidence.When(read && dep.Err == "" && view.Facts.LoadedRead() && !view.Facts.Module("nfsv4").Available(), evidence.FromNode(v.pl.Node, at, "no nfsv4"))
}

// OfKernel asks whether the kernel of the node is to blame: a release that is known for
// it, or one with which alone the share does not work.
func (v Version) OfKernel() (known bool, a evidence.Answer) {
	if !v.Explicit || v.Lack.Yes() || v.Pinned.Yes() {
		return false, evidence.No()
	}
	release, fact := nodes.Kernel(v.pl.X, v.pl.Node)
	if knownBroken(release) {
		return true, evidence.Yes(fact)
	}
	works := WorksOn(v.pl)
	for _, n := range works {
		if other, _ := nodes.Kernel(v.pl.X, n); other == "" || other == release {
			return false, evidence.No()
		}
	}
	a = evidence.When(release != "" && len(works) > 0, fact)
	for _, n := range works {
		_, f := nodes.Kernel(v.pl.X, n)
		a = a.With(f)
	}
	return false, a
}
