package nfs

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Refusal is a mount of a network filesystem that failed for a waiting pod just now.
type Refusal struct {
	pl   *evidence.Place
	Pod  string // "ns/name"
	Text evidence.Text
	Is   evidence.Answer
}

// refused finds the newest fresh text that a test takes, about a pod that still waits on
// the place's node and has no mount yet. Owners are changed after the mount.
func refused(pl *evidence.Place, match func(evidence.Text) bool) (Refusal, bool) {
	for _, t := range pl.Texts {
		if !t.Fresh || t.OfContainer() || !match(t) || ofAnother(pl.Volume, t) {
			continue
		}
		for _, c := range pl.Volume.Waiting() {
			pod := c.Pod.Namespace + "/" + c.Pod.Name
			if c.Node() == "" || c.Node() != pl.Node || t.Pod != "" && t.Pod != pod || t.Pod == "" && t.Node != c.Node() && t.OnNode != c.Node() {
				continue
			}
			if !pl.Published(c) || notOwner.MatchString(t.Raw) {
				return Refusal{pl, pod, t, evidence.Yes(t.Evidence())}, true
			}
		}
	}
	return Refusal{pl: pl, Is: evidence.No()}, false
}

// whileMounting is the source in the words of mount.nfs.
var whileMounting = pattern.MustCompile(`while mounting (\[[^\]]+\]|[\w.-]+):`)

// ofAnother tells whether a text is about a mount from another server than the volume's.
func ofAnother(v *snapshot.Volume, t evidence.Text) bool {
	own, _ := v.NFSServer()
	host, _, named := strings.Cut(t.MountSource, ":/")
	if m := whileMounting.FindStringSubmatch(t.Raw); !named && m != nil {
		host, named = m[1], true
	}
	return own != "" && named && !sameHost(host, own)
}

func sameHost(a, b string) bool {
	return strings.EqualFold(strings.Trim(a, "[]."), strings.Trim(b, "[]."))
}

// Source is what should be mounted: what mount(8) was told, else what the PV says.
func (r Refusal) Source() string {
	if r.Text.MountSource != "" {
		return r.Text.MountSource
	}
	if server, path := r.pl.Volume.NFSServer(); server != "" {
		return server + ":" + path
	}
	if r.pl.Volume.LH() != nil {
		return r.pl.Volume.ShareSource()
	}
	return NameOf(r.pl.Volume)
}

var wantedVersion = pattern.MustCompile(`\b(?:nfs)?vers=([0-9.]+)`)

// Version is the NFS version that was asked for, or nothing.
func (r Refusal) Version() string {
	for _, o := range r.options() {
		if m := wantedVersion.FindStringSubmatch(o); m != nil {
			return m[1]
		}
	}
	if r.pl.Volume.RegularRWX() {
		return "4.1" // Longhorn's default options (csi/nfs mount in longhorn-manager)
	}
	return ""
}

// options are the words of the mount that was tried, then what the volume asks for.
func (r Refusal) options() []string {
	v := r.pl.Volume
	wanted := r.Text.Args + "," + v.Attribute("nfsOptions")
	if v.PV != nil {
		wanted += "," + strings.Join(v.PV.Spec.MountOptions, ",")
	}
	return strings.FieldsFunc(wanted, func(c rune) bool { return c == ',' || c == ' ' })
}

// asked tells whether the mount was asked for with an option.
func (r Refusal) asked(option string) bool { return slices.Contains(r.options(), option) }

// WorksOn lists other nodes where the place's volume is mounted now, or where a pod runs
// with it and nobody looked.
func WorksOn(pl *evidence.Place) []string {
	out := evidence.Keep(Seen(pl.X), func(node string) bool { return node != pl.Node && len(mountsOf(pl.X, pl.Volume, node)) > 0 })
	for _, c := range pl.Volume.Running() {
		if n := c.Node(); pl.X.View(n) == nil && n != pl.Node && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Kernels names nodes with the releases of their kernels.
func Kernels(x *snapshot.Index, nodes []string) []string {
	return evidence.Each(nodes, func(n string) string {
		release, _ := node.Kernel(x, n)
		return strings.TrimSpace(n + " " + release)
	})
}
