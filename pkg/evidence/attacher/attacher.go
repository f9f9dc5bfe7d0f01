// Package attacher answers questions about the external-attacher of a driver: does it run,
// may it write, and does it act on the attachments of a volume.
package attacher

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// slow is how long an attacher may take to act on an attachment.
const slow = 2 * time.Minute

// Attacher is the external-attacher of the driver of a volume on whose attachments nobody acts.
type Attacher struct {
	csi.Sidecar
	Driver string
	Silent []*storagev1.VolumeAttachment // of the volume, without result and error
	Slow   bool                          // they have been so for longer than an attacher may take
	Leader *corev1.Pod                   // a pod that serves, else any; nil: none
	pl     *evidence.Place
	object *storagev1.CSIDriver
}

// Of finds the attacher of a place's volume; ok is false when nobody has to act.
func Of(pl *evidence.Place) (Attacher, bool) {
	driver := pl.Volume.CSIName()
	a := Attacher{Driver: driver, pl: pl, object: pl.X.CSIDriver(driver), Silent: silent(pl, slow), Slow: true}
	if len(a.Silent) == 0 {
		a.Slow, a.Silent = false, silent(pl, 0)
	}
	if driver == "" || a.object != nil && a.object.Spec.AttachRequired != nil && !*a.object.Spec.AttachRequired {
		return a, false
	}
	a.Sidecar = csi.SidecarOf(pl.X, driver, "csi-attacher")
	if len(a.Silent) == 0 && len(a.Pods)+len(a.Workloads) > 0 && !slices.ContainsFunc(a.Pods, snapshot.PodServes) {
		a.Slow, a.Silent = true, forsaken(pl)
	}
	if len(a.Silent) == 0 {
		return a, false
	}
	if len(a.Pods) > 0 {
		a.Leader = a.Pods[0]
	}
	if i := slices.IndexFunc(a.Pods, snapshot.PodServes); i >= 0 {
		a.Leader = a.Pods[i]
	}
	return a, true
}

// silent are the attachments of a volume that nobody has acted on for a time, neither with
// success nor with an error.
func silent(pl *evidence.Place, least time.Duration) []*storagev1.VolumeAttachment {
	var out []*storagev1.VolumeAttachment
	for _, va := range pl.Volume.Attachments {
		mute := !va.Status.Attached && unsaid(va) && pl.X.Age(va.CreationTimestamp.Time) > least
		if d := va.DeletionTimestamp; d != nil {
			// A node that still lists the volume in use is what the detach may wait for; a kubelet lists what a
			// pod there waits for, too (kubernetes: GetVolumesInUse counts the desired state). Of a silent kubelet it
			// is an old list.
			used := !pl.X.NodeReady(va.Spec.NodeName).Unknown && pl.X.ReportedInUse(va.Spec.NodeName, pl.Volume) && len(holder.WaitersOn(pl.Volume, va.Spec.NodeName)) == 0
			mute = unsaid(va) && pl.X.Age(d.Time) > least && !used
		}
		if mute {
			out = append(out, va)
		}
	}
	return out
}

// unsaid tells whether no error of the storage stands on an attachment: what the Kubernetes API refuses the
// controller says nothing of the storage.
func unsaid(va *storagev1.VolumeAttachment) bool {
	e := failed(va)
	if e == nil {
		return true
	}
	_, refused := rbac.RefusedIn(e.Message)
	return refused
}

// failed is the last error of what an attachment wants: to be made, or to go; nil: there is none.
func failed(va *storagev1.VolumeAttachment) *storagev1.VolumeError {
	switch {
	case va.DeletionTimestamp != nil:
		return va.Status.DetachError
	case va.Status.Attached:
		return nil
	}
	return va.Status.AttachError
}

// forsaken are the attachments of a volume whose last error is older than the longest pause between two tries:
// an attacher that lives writes a new one (external-attacher: pkg/controller/csi_handler.go saveAttachError).
func forsaken(pl *evidence.Place) []*storagev1.VolumeAttachment {
	return evidence.Keep(pl.Volume.Attachments, func(va *storagev1.VolumeAttachment) bool {
		e := failed(va)
		return e != nil && pl.X.Age(e.Time.Time) > holder.DetachBackoff
	})
}

// Nothing quotes the attachments that nobody acts on, and the leader's lease.
func (a Attacher) Nothing() evidence.Answer {
	facts := evidence.Each(a.Silent, func(va *storagev1.VolumeAttachment) report.Evidence {
		said := "no result and no error"
		if e := failed(va); e != nil {
			said = "no result, and no error after that of " + e.Time.UTC().Format(time.RFC3339)
		}
		return evidence.FromAPI("VolumeAttachment "+va.Name, "status", said)
	})
	_, lease := a.lease()
	return evidence.Yes(append(facts, lease)...)
}

// Known asks whether a CSIDriver object exists and asks for attachments.
func (a Attacher) Known() evidence.Answer {
	if a.object != nil {
		return evidence.Yes(evidence.FromAPI("CSIDriver "+a.Driver, "spec.attachRequired", "true"))
	}
	return evidence.Unseen(evidence.Lack{Need: "the CSIDriver object of " + a.Driver, Why: "it was not found"})
}

// Whole asks whether all pods were read that may be the attacher, and it is clear which are.
func (a Attacher) Whole() evidence.Answer {
	return evidence.Resource(a.pl.X, "/pods").And(csi.Undisputed(a.pl.X, a.Driver, "csi-attacher")).Nothing()
}

// lease reads the leader's lease; see DashedDriver for its name.
func (a Attacher) lease() (stale bool, fact report.Evidence) {
	l, proven := a.pl.X.LeaderLease(a.Driver, "external-attacher-leader-"+snapshot.DashedDriver(a.Driver))
	if !proven {
		return false, report.Evidence{}
	}
	by := ""
	if l.Spec.HolderIdentity != nil {
		by = *l.Spec.HolderIdentity
	}
	return csi.Abandoned(a.pl.X, l, a.Pods), evidence.FromAPI("Lease "+l.Namespace+"/"+l.Name, "spec", fmt.Sprintf("holder %s, renewed %s ago", by, evidence.Duration(a.pl.X.LeaseAge(l))))
}

// Down asks whether no pod of the attacher is Ready, or its leader does not renew its lease;
// and says which.
func (a Attacher) Down() (why string, is evidence.Answer) {
	if a.Leader == nil {
		return "", evidence.No()
	}
	stale, lease := a.lease()
	switch serves := snapshot.PodServes(a.Leader); {
	case !serves:
		switch on := a.pl.X.NodeReady(a.Leader.Spec.NodeName); {
		case on.Unknown:
			return "its pod is not Ready, as its node " + a.Leader.Spec.NodeName + " does not report", evidence.Yes(pods.State(a.Leader))
		case on.Known && !on.Ready:
			return "its pod is not Ready, as its node " + a.Leader.Spec.NodeName + " is not", evidence.Yes(pods.State(a.Leader))
		}
		return "its pod is not Ready", evidence.Yes(pods.State(a.Leader))
	case a.Slow && a.Unconnected().Yes():
		return "it still tries to connect to a socket at which nobody listens", a.Unconnected()
	case stale && a.Slow:
		return "its leader has stopped renewing the lease", evidence.Yes(lease, pods.State(a.Leader))
	}
	return "", evidence.No()
}

// Together asks whether the attacher is down with Longhorn's managers: then they share a
// reason (longhorn-control-plane-down), and it is not the attacher.
func (a Attacher) Together() evidence.Answer {
	if a.Driver != snapshot.LonghornDriver || a.Leader == nil {
		return evidence.No()
	}
	var besides *corev1.Pod // another part that fails, for a reason of its own or for the same
	for _, o := range a.pl.X.PodsIn(a.Leader.Namespace) {
		manager := o.Labels["app"] == "longhorn-manager" || strings.HasPrefix(o.Name, "longhorn-manager-")
		plugin := o.Labels["app"] == "longhorn-csi-plugin"
		switch {
		case !manager && !plugin && !slices.Contains(a.Pods, o), pods.Finished(o).Yes(), snapshot.PodServes(o):
		case manager || a.missesBackend(o):
			return evidence.Yes(pods.State(o))
		case plugin:
			besides = o
		}
	}
	if besides != nil {
		return evidence.Unseen(evidence.Lack{Need: "logs/" + besides.Namespace + "/" + besides.Name, Why: "why pod " + besides.Name + " fails, too, was not read"})
	}
	return evidence.Not(evidence.ResourceIn(a.pl.X, "/pods", a.Leader.Namespace).Nothing())
}

// missesBackend tells whether the log of a pod speaks of the managers' service.
func (a Attacher) missesBackend(pod *corev1.Pod) bool {
	return slices.ContainsFunc(a.pl.X.LogsOf(pod.Namespace, pod.Name), func(l snapshot.Log) bool {
		return slices.ContainsFunc(l.Lines, func(line string) bool {
			return strings.Contains(line, "longhorn-backend") && !strings.Contains(line, "level=info")
		})
	})
}

// Waits says for which reason a container of a pod waits.
func Waits(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			return fmt.Sprintf("container %s: %s", s.Name, w.Reason)
		}
	}
	return ""
}
