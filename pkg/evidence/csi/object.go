package csi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NoObject asks whether no CSIDriver has a driver's name.
func NoObject(x *snapshot.Index, driver string) evidence.Answer {
	if x.CSIDriver(driver) != nil {
		return evidence.No()
	}
	return evidence.Resource(x, "storage.k8s.io/csidrivers").Nothing(evidence.FromAPI("CSIDrivers", "", "collected; none is named "+driver))
}

// NoAttacher asks whether no pod and no workload runs a csi-attacher for a driver.
func NoAttacher(x *snapshot.Index, driver string) evidence.Answer {
	if s := SidecarOf(x, driver, "csi-attacher"); len(s.Pods)+len(s.Workloads) > 0 {
		return evidence.No()
	}
	return evidence.Resource(x, "/pods").And(Undisputed(x, driver, "csi-attacher")).Nothing(evidence.FromAPI("Pods", "", "none that was read runs a csi-attacher for "+driver))
}

// NeverAttached asks whether no attachment of a driver was ever made.
func NeverAttached(x *snapshot.Index, driver string) evidence.Answer {
	return x.Memo("csi.NeverAttached "+driver, func() any {
		for _, va := range x.Cluster.Attachments {
			if va.Spec.Attacher == driver && va.Status.Attached {
				return evidence.Unseen(evidence.Lack{Need: "that no attachment of driver " + driver + " was ever made", Node: va.Spec.NodeName, Why: "VolumeAttachment " + va.Name + " is attached"})
			}
		}
		return evidence.Resource(x, "storage.k8s.io/volumeattachments").Nothing()
	}).(evidence.Answer)
}

// Pending asks whether an attachment has waited for longer than a time without a result
// and without an error.
func Pending(x *snapshot.Index, va *storagev1.VolumeAttachment, least time.Duration) evidence.Answer {
	return evidence.When(!va.Status.Attached && va.Status.AttachError == nil && va.DeletionTimestamp == nil && x.Age(va.CreationTimestamp.Time) > least,
		evidence.FromAPI(vaObject(va), "spec.nodeName "+va.Spec.NodeName+" status.attached", "false"))
}

// InlineUse is a CSI volume of a pod that the kubelet does not make because of its driver's CSIDriver.
type InlineUse struct {
	Driver, Volume string
	Says           string // "absent": no CSIDriver; "modes": it does not list Ephemeral; "persistent": nor Persistent; "empty": nothing, as the kubelet sees it
	Modes, Wants   string // what it lists, and what the kubelet wants there
	Refused        evidence.Answer
}

// Inline are those of the place's pod. The kubelet makes what a pod writes into itself only for drivers whose CSIDriver
// lists Ephemeral, and what is bound to a claim unless it lists that alone (pkg/volume/csi/csi_plugin.go:
// supportsVolumeLifecycleMode).
func Inline(pl *evidence.Place) []InlineUse {
	var out []InlineUse
	if pl.Pod.Status.Phase != corev1.PodPending || pl.Pod.Spec.NodeName == "" {
		return nil
	}
	for _, v := range pl.Pod.Spec.Volumes {
		if v.CSI == nil {
			continue
		}
		u := InlineUse{Driver: v.CSI.Driver, Volume: v.Name, Says: "absent", Wants: string(storagev1.VolumeLifecycleEphemeral), Refused: NoObject(pl.X, v.CSI.Driver)}
		if pl.X.CSIDriver(u.Driver) != nil {
			u.Says = "modes"
			u.listed(pl.X)
		}
		if !u.Refused.No() && !reached(pl, u.Volume) {
			out = append(out, u)
		}
	}
	for _, v := range pl.X.VolumesOfPod(pl.Pod) {
		if v.Inline || v.PV == nil || v.PV.Spec.CSI == nil || pl.X.CSIDriver(v.Driver) == nil {
			continue
		}
		u := InlineUse{Driver: v.Driver, Volume: v.PVName(), Says: "persistent", Wants: string(storagev1.VolumeLifecyclePersistent)}
		if u.listed(pl.X); u.Refused.No() && len(pl.X.CSIDriver(u.Driver).Spec.VolumeLifecycleModes) == 0 {
			u.Says, u.Modes, u.Refused = "empty", "", saysNone(pl, u)
		}
		if u.Refused.Yes() && !reached(pl, u.Volume) {
			out = append(out, u)
		}
	}
	return out
}

// saysNone asks whether the kubelet freshly reads no mode at all in a CSIDriver: an API server that is older than it does not
// know the field, and what the kubelet asks for has no default. (kubernetes-sigs/aws-ebs-csi-driver issue 419)
func saysNone(pl *evidence.Place, u InlineUse) evidence.Answer {
	for _, t := range pl.Texts {
		if t.Fresh && t.Mounts() && t.Spec == u.Volume && strings.Contains(t.Raw, "volume mode \""+u.Wants+"\" not supported by driver "+u.Driver+" (only supports [])") {
			return evidence.Yes(t.Evidence(), evidence.FromAPI("CSIDriver "+u.Driver, "spec.volumeLifecycleModes", "none"))
		}
	}
	return evidence.No()
}

// reached tells whether the driver itself has answered for a volume of the pod lately: the kubelet compares the modes
// before it calls anybody (NewMounter in pkg/volume/csi/csi_plugin.go), so the object says enough, or was not recorded whole.
func reached(pl *evidence.Place, volume string) bool {
	return slices.ContainsFunc(pl.Texts, func(t evidence.Text) bool { return t.Fresh && t.Code != "" && t.Mounts() && t.Spec == volume })
}

// listed compares what the CSIDriver lists with what is wanted.
func (u *InlineUse) listed(x *snapshot.Index) {
	for _, m := range x.CSIDriver(u.Driver).Spec.VolumeLifecycleModes {
		u.Modes = strings.TrimSpace(u.Modes + " " + string(m))
	}
	u.Modes = cmp.Or(u.Modes, string(storagev1.VolumeLifecyclePersistent)) // the default
	u.Refused = evidence.When(!slices.Contains(strings.Fields(u.Modes), u.Wants), evidence.FromAPI("CSIDriver "+u.Driver, "spec.volumeLifecycleModes", u.Modes))
}
