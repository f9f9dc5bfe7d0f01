package claims

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// Wish is what a claim asks of external-resizer for a volume that it has: more room, or other
// attributes.
type Wish struct {
	Want, Got string
	// Unserved: the claim asks for it, and nothing shows that the driver was asked, or that it
	// refused.
	Unserved []evidence.Answer
	// Begun: the driver was asked, and no answer of it is known.
	Begun   evidence.Answer
	JustNow bool
}

// Unexpandable is what a volume is that no controller of Kubernetes enlarges, and no csi-resizer: a directory, a share
// (FindExpandablePluginBySpec, pkg/volume/plugins.go), or a local disk, whose filesystem the kubelet grows once somebody has
// raised the capacity of the PersistentVolume (pkg/volume/local, NodeExpand). A controller of another kind is free to do it.
func Unexpandable(pl *evidence.Place) (kind string, is evidence.Answer) {
	if pl.Volume.PV == nil {
		return "", evidence.No()
	}
	switch s := pl.Volume.PV.Spec.PersistentVolumeSource; {
	case s.HostPath != nil:
		kind = "hostPath"
	case s.Local != nil:
		kind = "local"
	case s.NFS != nil:
		kind = "nfs"
	}
	return kind, evidence.When(kind != "", evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec."+kind, "no csi"))
}

// SourceOf is from what the volume of a claim is made; nothing where it is made empty.
func SourceOf(c *corev1.PersistentVolumeClaim) (kind, name string) {
	switch {
	case c.Spec.DataSourceRef != nil:
		return c.Spec.DataSourceRef.Kind, c.Spec.DataSourceRef.Name
	case c.Spec.DataSource != nil:
		return c.Spec.DataSource.Kind, c.Spec.DataSource.Name
	}
	return "", ""
}

// Populator is the object from which a volume populator of its kind fills the volume of a claim, the resource as
// kubectl calls it, or nothing: the provisioner of the class leaves such a claim alone (KEP-1495).
func Populator(c *corev1.PersistentVolumeClaim) (namespace, resource, name string) {
	if c == nil || c.Spec.DataSourceRef == nil {
		return "", "", ""
	}
	r, namespace := c.Spec.DataSourceRef, c.Namespace
	if r.Kind == "PersistentVolumeClaim" || r.Kind == "VolumeSnapshot" {
		return "", "", ""
	}
	resource = strings.ToLower(r.Kind)
	if r.APIGroup != nil && *r.APIGroup != "" {
		resource += "." + *r.APIGroup
	}
	if r.Namespace != nil { // KEP-3294
		namespace = *r.Namespace
	}
	return namespace, resource, r.Name
}

// Wishes are those of the claim of a place that are not fulfilled.
func Wishes(pl *evidence.Place) []Wish {
	var out []Wish
	if grows := Grows(pl); grows.Yes() {
		want, _, got := Sizes(pl)
		asked, small := condition(pl.Volume.Claim, "Resizing"), evidence.Not(BackendGrown(pl))
		begun := evidence.All(grows, small, evidence.When(asked.Locator != "", asked), evidence.Not(Refused(pl)))
		out = append(out, Wish{want.String(), got.String(), []evidence.Answer{grows, small, untouched(pl)}, begun, raisedJustNow(pl)})
	}
	if c := pl.Volume.Claim; c != nil {
		if m, ok := ModificationOf(c); ok {
			_, refused := m.Complaint(pl.Texts)
			unanswered := evidence.When(!refused && m.Status != corev1.PersistentVolumeClaimModifyVolumeInfeasible, m.Facts...)
			if !refused {
				unanswered = evidence.All(unanswered, evidence.Resource(pl.X, "/events").Nothing())
			}
			out = append(out, Wish{"VolumeAttributesClass " + m.Want, cmp.Or(m.Have, "none"),
				[]evidence.Answer{unanswered, evidence.Not(m.NoAttributes(pl.X))}, evidence.No(), false})
		}
	}
	return out
}
