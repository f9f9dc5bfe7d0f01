package collect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// widen reads lists that grow with the cluster, and only where what was read by
// name leaves a question open that no name answers.
func (c *collector) widen(x *snapshot.Index, volumes []*snapshot.Volume, near []string) {
	for _, v := range volumes {
		c.widenUnbound(v)
		c.widenIdle(v)
		c.widenHolder(x, v)
		c.widenLost(x, v)
		c.widenLonghorn(x, v)
		c.widenRights(v)
		c.widenRefused(x, v)
		c.widenAttacher(x, v)
		c.widenDriver(x, v.CSIName(), near)
		for _, w := range v.Waiting() { // of a node in question a pod may wait elsewhere
			c.widenDriver(x, v.CSIName(), []string{w.Node()})
		}
	}
	for _, driver := range c.inline(x) {
		c.widenDriver(x, driver, near)
	}
	if c.q.Kind == "node" {
		c.widenNode(x)
	}
	c.widenManagers(x)
	c.widenNames(x)
	c.widenMirrors(x)
	c.widenAwaited(x, volumes)
}

// widenUnbound: which PV would fit, and which nodes, only the lists tell.
func (c *collector) widenUnbound(v *snapshot.Volume) {
	unbound := v.Claim != nil && v.PV == nil
	unscheduled := slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return w.Node() == "" })
	if unbound {
		c.want(want{res: pvs})
		c.want(want{res: capacities})
	}
	if unbound || unscheduled {
		c.want(want{res: nodes})
		c.want(want{res: csiNodes})
	}
}

// widenIdle: of work that only kube-controller-manager begins, its lease tells whether somebody is
// there to begin it.
func (c *collector) widenIdle(v *snapshot.Volume) {
	unattached := slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return v.AttachmentOn(w.Node()) == nil })
	if unattached || v.Claim != nil && (v.Claim.Status.Phase != corev1.ClaimBound || v.Claim.DeletionTimestamp != nil) {
		c.byName(leases, metav1.NamespaceSystem, snapshot.ControllerManager)
	}
}

// widenHolder: no node is known to have the volume attached, and yet one may hold
// it up: the one that had it before, of which no pod and no ticket is left. Then
// only the list of attachments knows, or, without one, the status of that node. A disk
// whose modes allow two nodes has one node all the same where its backend refuses another.
func (c *collector) widenHolder(x *snapshot.Index, v *snapshot.Volume) {
	if v.PV == nil || !v.Exclusive() && len(v.Live()) > 0 && !refused(v) {
		return
	}
	if !attaches(x, v) {
		if v.CSIName() != "" && v.Exclusive() && len(v.Live()) == 0 { // attached before its CSIDriver said that it need not be: nobody takes that back
			c.want(want{res: attachments})
		}
		return
	}
	for _, va := range v.Attachments {
		if va.Status.Attached || len(v.WaitingOn(va.Spec.NodeName)) == 0 {
			return
		}
	}
	whole := want{res: attachments}
	if v.CSIName() != "" && !c.asked[whole.key()] {
		c.want(whole)
		return
	}
	if len(v.Waiting()) == 0 {
		c.want(want{res: nodes, pages: 1}) // nobody waits: a bounded look
		return
	}
	for _, n := range x.OtherNodes(v) {
		if len(v.WaitingOn(n)) == 0 {
			return
		}
	}
	c.want(want{res: nodes})
}

// widenDriver: a driver that is missing on a node may be missing everywhere.
func (c *collector) widenDriver(x *snapshot.Index, driver string, near []string) {
	for _, n := range near {
		registered, known := x.HasDriver(n, driver)
		if driver == "" || registered || !known || x.Node(n) == nil {
			continue
		}
		c.want(want{res: csiNodes})
		if ds := x.DriverDaemonSet(driver); ds != nil {
			c.want(want{res: pods, namespace: ds.Namespace})
		}
	}
}

// widenRefused: a storage backend refuses to attach a volume, or the scheduler finds
// a node's volumes too many. The machine that the backend names may be any
// node, by its provider's id, and a node's volumes are counted by their attachments.
func (c *collector) widenRefused(x *snapshot.Index, v *snapshot.Volume) {
	if v.IsLonghorn() || v.CSIName() == "" {
		return
	}
	if x.CSIDriver(v.Driver) == nil && x.Collected("storage.k8s.io/csidrivers") && len(v.Waiting()) > 0 {
		c.want(want{res: attachments}) // whether the driver ever attached anything
	}
	for _, w := range v.Waiting() {
		va := v.AttachmentOn(w.Node())
		refused := va != nil && va.Status.AttachError != nil && !va.Status.Attached
		for _, e := range x.Events("Pod", w.Pod.Namespace, w.Pod.Name) {
			refused = refused || e.Reason == "FailedAttachVolume" && (va == nil || !va.Status.Attached) || strings.Contains(e.Message, volumeCount)
		}
		for _, condition := range w.Pod.Status.Conditions {
			refused = refused || strings.Contains(condition.Message, volumeCount)
		}
		if refused {
			c.want(want{res: attachments})
			c.want(want{res: nodes})
			c.want(want{res: csiNodes})
		}
	}
}

// volumeCount is what the scheduler's filter NodeVolumeLimits says.
const volumeCount = "exceed max volume count"

// widenAttacher: a controller that was not found where its driver lives may live
// elsewhere; only all pods show that there is none.
func (c *collector) widenAttacher(x *snapshot.Index, v *snapshot.Volume) {
	driver := v.CSIName()
	if driver == "" || v.IsLonghorn() || !v.AttachRequired(x) || len(x.SidecarPods(driver, "csi-attacher")) > 0 || !unattached(v) {
		return
	}
	spaces := c.driverNamespaces(x, driver)
	asked := len(spaces) > 0
	for _, ns := range spaces {
		whole := want{res: pods, namespace: ns}
		asked = asked && c.asked[whole.key()]
		c.want(whole)
	}
	if asked || len(spaces) == 0 {
		c.want(want{res: pods})
	}
}

// unattached tells whether a pod waits on a node that does not have the volume attached.
func unattached(v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool {
		va := v.AttachmentOn(w.Node())
		return w.Node() != "" && (va == nil || !va.Status.Attached)
	})
}

// widenRights: an attachment that somebody waits for and that is not made may be
// one that the attacher has no right to update.
func (c *collector) widenRights(v *snapshot.Volume) {
	if grows(v) {
		c.want(want{res: roles})
		c.want(want{res: roleBindings})
	}
	for _, va := range v.Attachments {
		if !va.Status.Attached && len(v.WaitingOn(va.Spec.NodeName)) > 0 {
			c.want(want{res: roles})
			c.want(want{res: roleBindings})
		}
	}
}

// grows tells whether a claim asks for more than its volume has: then its resizer is at
// work, or may not be.
func grows(v *snapshot.Volume) bool {
	if v.Claim == nil || v.PV == nil {
		return false
	}
	asked, has := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage], v.PV.Spec.Capacity[corev1.ResourceStorage]
	return !has.IsZero() && asked.Cmp(has) > 0
}

// widenNode: a volume that the node's status names and no pod leads to.
func (c *collector) widenNode(x *snapshot.Index) {
	node := x.Node(c.q.Name)
	if node == nil {
		return
	}
	if node.Spec.Unschedulable && len(x.Cluster.Longhorn.InstanceManagers) > 0 {
		// Whether a copy on the node is the last one only all copies and their nodes tell.
		for _, r := range []*resource{lhReplicas, lhEngines, lhInstanceManagers, budgets} {
			c.want(want{res: r, namespace: x.LonghornNamespace()})
		}
		c.want(want{res: nodes})
	}
	for _, name := range reported(node) {
		driver, handle, ok := strings.Cut(strings.TrimPrefix(name, csiVolume), "^")
		if !ok || x.VolumeByHandle(driver, handle) == nil {
			c.want(want{res: pvs})
			return
		}
	}
}

// widenManagers: when no manager that was read is Ready, all of them matter.
func (c *collector) widenManagers(x *snapshot.Index) {
	ns, seen := x.LonghornNamespace(), false
	for _, pod := range x.Cluster.Pods {
		if pod.Namespace != ns || pod.Labels["app"] != "longhorn-manager" {
			continue
		}
		seen = true
		if snapshot.PodReady(pod) {
			return
		}
	}
	if !seen && len(x.Cluster.Longhorn.Volumes) == 0 {
		return
	}
	c.want(want{res: pods, namespace: ns, labels: "app=longhorn-manager"})
	for _, pod := range x.Cluster.Pods {
		if pod.Namespace == ns && pod.Labels["app"] == "longhorn-manager" {
			c.byName(nodes, "", pod.Spec.NodeName)
		}
	}
}

// widenNames: where names are not resolved, the cluster's DNS matters.
func (c *collector) widenNames(x *snapshot.Index) {
	if slices.ContainsFunc(x.Cluster.Events, func(e *snapshot.Event) bool { return strings.Contains(e.Message, "lookup ") }) {
		c.want(want{res: pods, labels: "k8s-app=kube-dns"})
	}
}

// widenMirrors: an RBD image that has watchers may be one that is mirrored; the daemons
// live where nobody else's volume leads. A pod without Rook's or the usual label is not
// found: then it cannot be ruled out, and the cause is never more than possible.
func (c *collector) widenMirrors(x *snapshot.Index) {
	if slices.ContainsFunc(x.Cluster.Events, func(e *snapshot.Event) bool {
		return strings.Contains(e.Message, "rbd image") && strings.Contains(e.Message, "is still being used")
	}) {
		c.want(want{res: pods, labels: "app in (rbd-mirror,rook-ceph-rbd-mirror)"})
	}
}
