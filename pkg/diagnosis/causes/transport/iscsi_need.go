package transport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// need is a node that must be able to log in to iSCSI targets.
type need struct {
	node    string
	why     string
	volumes []*snapshot.Volume // of the question, that a pod there waits for
}

// attach tells whether somebody waits for an iSCSI disk on the node right now.
func (n need) attach() bool { return len(n.volumes) > 0 }

// iscsiNeeds lists the nodes of the question that need iSCSI. A node where nobody
// attaches anything fails only at the next attach, so it matters to questions
// about nodes and not to those about a volume.
func iscsiNeeds(p *diagnosis.Pass) []need {
	var out []need
	for _, node := range p.Nodes() {
		n := need{node: node}
		for _, v := range p.VolumesAt(node) {
			if usesISCSI(p, v) && wantedOn(p, v, node) {
				n.volumes = append(n.volumes, v)
			}
		}
		switch {
		case n.attach():
			n.why = n.waiting()
		case !p.Sweep():
			continue
		case longhornV1(p) && p.LHNode(node) != nil:
			n.why = "it is a node of Longhorn, whose v1 engines attach over iSCSI"
		case consumesISCSI(p, node):
			n.why = "pods on the node use iSCSI volumes"
		default:
			continue
		}
		out = append(out, n)
	}
	return out
}

// waiting names who waits there, and for what.
func (n need) waiting() string {
	v := n.volumes[0]
	text := "volume " + volumeName(v) + " waits there for its iSCSI disk"
	if c := v.WaitingOn(n.node); len(c) > 0 {
		text = "pod " + c[0].Pod.Namespace + "/" + c[0].Pod.Name + " waits there for the iSCSI disk of volume " + volumeName(v)
	}
	if more := len(n.volumes) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more volumes)", more)
	}
	return text
}

func usesISCSI(p *diagnosis.Pass, v *snapshot.Volume) bool { return iscsi.Uses(p.Index, v, p.Texts(v)) }

// volumeName is the name that people use for the volume.
func volumeName(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	if v.PVName() != "" {
		return v.PVName()
	}
	return v.Spoken()
}

// wantedOn tells whether a pod waits on the node for the volume's disk and the
// disk is not there yet.
func wantedOn(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if v.RegularRWX() {
		if len(v.Waiting()) == 0 || !slices.Contains(p.DeviceNodes(v), node) {
			return false
		}
	} else if len(v.WaitingOn(node)) == 0 {
		return false
	}
	d, ok := p.DeviceOn(v, node)
	return !ok || d.Block == nil
}

func longhornV1(p *diagnosis.Pass) bool {
	s, ok := p.Setting("v1-data-engine")
	return !ok || s != "false"
}

func consumesISCSI(p *diagnosis.Pass, node string) bool {
	for _, v := range p.VolumesOn(node) {
		if usesISCSI(p, v) {
			return true
		}
	}
	return false
}

// tie joins a node's finding to the volumes and pods that wait there.
func (n need) tie(f *diagnosis.Finding) {
	f.Node(n.node)
	for _, v := range n.volumes {
		f.Volume(v)
		for _, c := range v.WaitingOn(n.node) {
			f.Pod(c.Pod)
		}
	}
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
