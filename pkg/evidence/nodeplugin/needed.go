// Package nodeplugin answers questions about the pods that serve a CSI driver on nodes:
// where one is needed, why there is none, and what it lacks.
package nodeplugin

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Use is a node on which a CSI driver is needed now, and for whom.
type Use struct {
	Driver, Node string
	Volume       *snapshot.Volume // nil for an inline volume
	Pods         []*corev1.Pod
}

// Uses lists where a driver is needed to go on with what a place asks: with a volume, on the
// nodes of its waiting pods, of pods that are being deleted, and where it must detach for a
// pod elsewhere, or be made for one; with a pod, where its inline volumes wait.
func Uses(pl *evidence.Place) []Use {
	switch {
	case pl.Volume != nil && pl.Volume.PV == nil:
		return chosen(pl)
	case pl.Volume != nil:
		return ofVolume(pl.X, pl.Volume)
	case pl.Pod != nil:
		return inline(pl.Pod)
	}
	return keptOut(pl.X, pl.Node)
}

func ofVolume(x *snapshot.Index, v *snapshot.Volume) []Use {
	driver := v.CSIName()
	if driver == "" {
		return nil
	}
	out := unplaced(x, v, driver)
	for _, c := range v.Live() {
		if c.Node() != "" && (c.Waiting() || c.Terminating()) {
			out = add(out, Use{driver, c.Node(), v, []*corev1.Pod{c.Pod}})
		}
	}
	for _, a := range holder.Attachments(x, v) {
		waiters := holder.WaitersAway(v, a.Node)
		if a.VA != nil && (v.Exclusive() && len(waiters) > 0 || a.VA.DeletionTimestamp != nil) {
			out = add(out, Use{driver, a.Node, v, waiters})
		}
	}
	return out
}

// Unplaced lists the nodes on which a driver would have to register, for pods of a place's volume to be
// scheduled there.
func Unplaced(pl *evidence.Place) []Use {
	if pl.Volume.PV == nil {
		return unpublished(pl)
	}
	return unplaced(pl.X, pl.Volume, pl.Volume.CSIName())
}

func unplaced(x *snapshot.Index, v *snapshot.Volume, driver string) (out []Use) {
	for _, c := range v.Live() {
		if c.Node() == "" && driver != "" {
			for _, n := range onlyNodesFor(x, v, c.Pod) {
				out = add(out, Use{driver, n, v, []*corev1.Pod{c.Pod}})
			}
		}
	}
	return out
}

// unpublished are the nodes that the pods of a claim allow, when the scheduler misses room and nobody publishes any: who is
// registered on none of them has nothing to publish. Where plugins run on some, it is for those to register.
func unpublished(pl *evidence.Place) (out []Use) {
	v := pl.Volume
	if _, silent, short := provision.Shortage(pl); !silent || short.No() {
		return nil
	}
	driver, here := v.Class.Provisioner, []Use(nil)
	for _, n := range pl.X.Cluster.Nodes {
		open := evidence.Keep(waiting(v), func(p *corev1.Pod) bool { return p.Spec.NodeName == "" && pods.Excludes(p, n) == "" })
		if len(open) == 0 || !pl.X.NodeReady(n.Name).Ready {
			continue
		}
		if !csi.Listed(pl.X, n.Name, driver).No() {
			return nil
		}
		u := Use{driver, n.Name, v, open}
		out = append(out, u)
		if pl.X.DriverPodOn(driver, n.Name) != nil {
			here = append(here, u)
		}
	}
	if here != nil {
		return here
	}
	return out
}

// chosen is the node for which a volume shall be made and of which the provisioner cannot
// tell where it lies: topology keys stand in CSINode once the driver has registered there.
// The refusal is the sidecar's own, before it asks the driver (external-provisioner:
// pkg/controller/topology.go).
func chosen(pl *evidence.Place) []Use {
	v := pl.Volume
	if v.Claim == nil || v.Class == nil || v.Claim.Status.Phase != corev1.ClaimPending {
		return nil
	}
	for _, t := range pl.Refused() {
		if t.Reason != "ProvisioningFailed" || t.Code != "" {
			continue
		}
		name := t.Raw[strings.LastIndexByte(t.Raw, ' ')+1:]
		if on := snapshot.ChosenNode(v.Claim); on != "" && on != name {
			continue
		}
		if pl.X.Node(name) != nil {
			return []Use{{v.Class.Provisioner, name, v, waiting(v)}}
		}
	}
	return unpublished(pl)
}

func waiting(v *snapshot.Volume) []*corev1.Pod {
	return evidence.Each(v.Waiting(), func(c *snapshot.Consumer) *corev1.Pod { return c.Pod })
}

func add(list []Use, u Use) []Use {
	i := slices.IndexFunc(list, func(o Use) bool { return o.Node == u.Node })
	if i < 0 {
		return append(list, u)
	}
	list[i].Pods = evidence.Once(list[i].Pods, u.Pods...)
	return list
}

func inline(pod *corev1.Pod) []Use {
	if pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName == "" {
		return nil
	}
	var out []Use
	for _, vol := range pod.Spec.Volumes {
		if vol.CSI != nil {
			out = append(out, Use{vol.CSI.Driver, pod.Spec.NodeName, nil, []*corev1.Pod{pod}})
		}
	}
	return out
}

// keptOut are the volumes whose pods are not scheduled because a node lacks their driver:
// they are no volumes of that node yet.
func keptOut(x *snapshot.Index, node string) []Use {
	var out []Use
	for _, v := range x.Volumes {
		if node == "" || v.PV == nil || v.PV.Spec.CSI == nil {
			continue
		}
		for _, c := range v.Waiting() {
			if c.Node() == "" && slices.Contains(onlyNodesFor(x, v, c.Pod), node) {
				out = append(out, Use{v.Driver, node, v, []*corev1.Pod{c.Pod}})
			}
		}
	}
	return out
}

// workedHere tells whether the driver once served the node: the volume is attached there, or
// a pod that used it is being deleted there.
func (u Use) workedHere() bool {
	if va := u.Volume.AttachmentOn(u.Node); va != nil && va.Status.Attached {
		return true
	}
	return slices.ContainsFunc(holder.Going(u.Pods), func(p *corev1.Pod) bool { return p.Spec.NodeName == u.Node })
}

// HoldsUp says what the missing plugin holds up.
func (u Use) HoldsUp(x *snapshot.Index) string {
	var parts []string
	for _, pod := range u.Pods {
		name := "pod " + pods.Name(pod)
		switch {
		case pod.Spec.NodeName == "" && u.Volume != nil && u.Volume.PV == nil:
			parts = append(parts, "no volume can be made for "+name+", because nobody tells where the node lies")
		case pod.Spec.NodeName == "":
			parts = append(parts, name+" cannot be scheduled, because the node lacks the label that the driver sets when it registers")
		case pod.DeletionTimestamp != nil:
			parts = append(parts, fmt.Sprintf("%s has been Terminating there for %s, because its volume cannot be unmounted", name, pods.Ago(x, pod.DeletionTimestamp.Time)))
		case pod.Spec.NodeName == u.Node:
			parts = append(parts, name+" waits there")
		default:
			parts = append(parts, name+" waits on node "+pod.Spec.NodeName+" for the volume to be released")
		}
	}
	return strings.Join(parts, "; ")
}
