package launch

import (
	"fmt"
	"strings"
)

// Basis is what a choice rests on. Nothing that a tenant can write is one: no
// label, argument, image or name of a pod or workload outside of the namespaces
// that the cluster's storage proves.
type Basis string

// The bases of a choice.
const (
	OfUser     Basis = "user"     // a flag names it
	OfLonghorn Basis = "longhorn" // Longhorn's own objects lie in that namespace, and in no other
	OfSystem   Basis = "system"   // kube-system, which belongs to no tenant
	OfDriver   Basis = "driver"   // a pod that the node lets serve a CSI driver that is registered there
	OfDefault  Basis = "default"  // nothing was proven: the image that this build names
)

// Reason is why a namespace or an image was chosen.
type Reason struct {
	Basis     Basis
	Driver    string        // the CSI driver that the workload serves; may be empty
	DaemonSet string        // NAMESPACE/NAME of the workload that the image was taken from
	Pod       string        // its pod on the node
	Refused   *Disagreement // why nothing better was taken
}

// String is the reason of an image, after "because".
func (r Reason) String() string {
	switch r.Basis {
	case OfUser:
		return "--probe-image names it"
	case OfDefault:
		text := "it is the default: no workload of the cluster's own storage runs on this node whose image is known by its digest"
		if r.Refused != nil {
			text += "; " + r.Refused.Error()
		}
		return text
	case OfLonghorn:
		return fmt.Sprintf("pod %s of DaemonSet %s runs it on this node, in the namespace of Longhorn's objects", r.Pod, r.DaemonSet)
	}
	return fmt.Sprintf("pod %s of DaemonSet %s runs it on this node and serves CSI driver %s, which is registered there", r.Pod, r.DaemonSet, r.Driver)
}

// short is the reason for a line of progress.
func (r Reason) short() string {
	switch r.Basis {
	case OfUser:
		return "of --probe-image"
	case OfDefault:
		return "the default"
	}
	return "of DaemonSet " + r.DaemonSet + " here"
}

// Place is the namespace of the probe pods.
type Place struct {
	Namespace string
	Basis     Basis
}

// String is the reason of the namespace, after "because".
func (p Place) String() string {
	switch p.Basis {
	case OfUser:
		return "--probe-namespace names it"
	case OfLonghorn:
		return "Longhorn's objects are there"
	}
	return "no object of Longhorn was read, and kube-system belongs to no tenant"
}

// Disagreement means that several candidates are equally good, so that one of
// them may be anybody's: none is taken.
type Disagreement struct {
	About      string   // what they disagree on, a whole clause
	Candidates []string // sorted
	Flag       string   // the way out
}

func (d *Disagreement) Error() string {
	return fmt.Sprintf("%s: %s; none of them is taken (way out: %s)", d.About, strings.Join(d.Candidates, " and "), d.Flag)
}
