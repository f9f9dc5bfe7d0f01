package transport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// refusal is a mount of a network filesystem that failed for a waiting pod just now.
type refusal struct {
	volume   *snapshot.Volume
	consumer *snapshot.Consumer
	node     string
	view     *snapshot.NodeView // nil: not probed
	text     diagnosis.Text
}

// refusals are the fresh texts of a kind about a volume, one for each node with a
// pod that still waits and has no mount yet.
func refusals(p *diagnosis.Pass, v *snapshot.Volume, match func(diagnosis.Text) bool) []refusal {
	var out []refusal
	for _, t := range p.Texts(v) {
		if !t.Fresh || !match(t) {
			continue
		}
		for _, c := range v.Waiting() {
			pod := c.Pod.Namespace + "/" + c.Pod.Name
			if c.Node() == "" || t.Pod != "" && t.Pod != pod || t.Pod == "" && t.Node != c.Node() && t.OnNode != c.Node() {
				continue
			}
			taken := slices.ContainsFunc(out, func(r refusal) bool { return r.node == c.Node() })
			if taken || mountedFor(p, v, c) && !notOwner.MatchString(t.Raw) { // owners are changed after the mount
				continue
			}
			out = append(out, refusal{v, c, c.Node(), p.View(c.Node()), t})
		}
	}
	return out
}

// mountedFor tells whether the node shows the pod's mount of the volume.
func mountedFor(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer) bool {
	if p.View(c.Node()) == nil {
		return false
	}
	for _, m := range p.VolumeMounts(v, c.Node()) {
		if strings.EqualFold(m.Path.PodUID, string(c.Pod.UID)) {
			return true
		}
	}
	return false
}

// tie joins a finding to the volume, the pods that wait for it on the node, and the words.
func (r refusal) tie(f *diagnosis.Finding) {
	f.On(r.volume).Located(r.node).Fact(r.text.Evidence())
	for _, c := range r.volume.WaitingOn(r.node) {
		f.Pod(c.Pod)
	}
}

func (r refusal) pod() string { return r.consumer.Pod.Namespace + "/" + r.consumer.Pod.Name }

// source is what should be mounted: what mount(8) was told, else what the PV says.
func (r refusal) source() string {
	if r.text.MountSource != "" {
		return r.text.MountSource
	}
	if server, path := serverOf(r.volume); server != "" {
		return server + ":" + path
	}
	if lh := r.volume.LH(); lh != nil {
		return strings.TrimPrefix(lh.Status.ShareEndpoint, "nfs://")
	}
	return volumeName(r.volume)
}

var wantedVersion = regexp.MustCompile(`\b(?:nfs)?vers=([0-9.]+)`)

// version is the NFS version that was asked for, or nothing.
func (r refusal) version() string {
	if m := wantedVersion.FindStringSubmatch(r.text.Args); m != nil {
		return m[1]
	}
	options := r.volume.Attribute("nfsOptions")
	if r.volume.PV != nil {
		options += "," + strings.Join(r.volume.PV.Spec.MountOptions, ",")
	}
	if m := wantedVersion.FindStringSubmatch(options); m != nil {
		return m[1]
	}
	if r.volume.RegularRWX() {
		return "4.1" // Longhorn's default options (csi/nfs mount in longhorn-manager)
	}
	return ""
}

// worksOn lists other nodes where the volume is mounted now, or where a pod runs with it.
func worksOn(p *diagnosis.Pass, v *snapshot.Volume, except string) []string {
	var out []string
	add := func(node string) {
		if node != except && !slices.Contains(out, node) {
			out = append(out, node)
		}
	}
	for _, view := range p.Views() {
		node := view.Name
		for _, m := range p.VolumeMounts(v, node) {
			if _, ok := asNFS(m.Mount); ok {
				add(node)
			}
		}
	}
	for _, c := range v.Running() {
		if p.View(c.Node()) == nil {
			add(c.Node())
		}
	}
	return out
}

// kernelOf is the kernel release of a node, from itself or from its Node object.
func kernelOf(p *diagnosis.Pass, node string) (release, locator string) {
	if view := p.View(node); view != nil && view.Facts.Identity.Kernel != "" {
		return view.Facts.Identity.Kernel, "proc/sys/kernel/osrelease"
	}
	if n := p.Node(node); n != nil {
		return n.Status.NodeInfo.KernelVersion, "Node " + node + " status.nodeInfo.kernelVersion"
	}
	return "", ""
}

// joined lists names for a sentence.
func joined(names []string) string {
	if n := len(names); n > 1 {
		return fmt.Sprintf("%s and %s", strings.Join(names[:n-1], ", "), names[n-1])
	}
	return strings.Join(names, "")
}
