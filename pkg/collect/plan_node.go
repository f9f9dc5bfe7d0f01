package collect

import (
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// node asks for a node and everything that lives on it.
func (c *collector) node(x *snapshot.Index, name string) {
	c.nodeObjects(name)
	c.want(want{res: pods, fields: "spec.nodeName=" + name})
	for _, pod := range x.PodsOn(name) {
		if reachesHost(pod) {
			c.owners(x, pod)
		}
	}
}

// nodeObjects asks for what there is of a node itself.
func (c *collector) nodeObjects(name string) {
	c.byName(nodes, "", name)
	c.byName(csiNodes, "", name)
	c.byName(leases, corev1.NamespaceNodeLease, name)
	c.clusterEventsOf("Node", name)
}

// namedNodes are the nodes that some object names: a rule that looks one of them
// up must find it, or know that it does not exist.
func namedNodes(x *snapshot.Index, volumes []*snapshot.Volume) []string {
	seen := map[string]bool{"": true}
	var out []string
	add := func(names ...string) {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	for _, v := range volumes {
		for _, consumer := range v.Consumers {
			add(consumer.Node())
		}
	}
	for _, va := range x.Cluster.Attachments {
		add(va.Spec.NodeName)
	}
	l := &x.Cluster.Longhorn
	for _, v := range l.Volumes {
		add(v.NodeID, v.MigrationNodeID, v.Status.OwnerID, v.Status.CurrentNodeID, v.Status.PendingNodeID)
	}
	for _, e := range l.Engines {
		add(e.NodeID, e.OwnerID)
	}
	for _, f := range l.Frontends {
		add(f.NodeID, f.OwnerID)
	}
	for _, r := range l.Replicas {
		add(r.NodeID, r.OwnerID)
	}
	for _, a := range l.Attachments {
		for _, t := range a.Tickets {
			add(t.NodeID)
		}
	}
	for _, m := range l.ShareManagers {
		add(m.OwnerID)
	}
	sort.Strings(out)
	return out
}

// reachesHost tells whether a pod can hold a volume that is not its own.
func reachesHost(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].HostPath != nil {
			return true
		}
	}
	return pod.Spec.HostPID
}

// owners asks for the controllers of a pod, up to the first that has none.
func (c *collector) owners(x *snapshot.Index, pod *corev1.Pod) {
	ref := metav1.GetControllerOf(pod)
	for ref != nil {
		r := ownerResource(ref)
		if r == nil {
			return
		}
		c.byName(r, pod.Namespace, ref.Name)
		if !c.have[haveKey(r, pod.Namespace, ref.Name)] {
			return
		}
		ref = controllerOf(x, r, pod.Namespace, ref.Name)
	}
}

// ownerKinds are the controllers that own pods or each other.
var ownerKinds = map[schema.GroupKind]*resource{
	{Group: "apps", Kind: "ReplicaSet"}:  replicaSets,
	{Group: "apps", Kind: "Deployment"}:  deployments,
	{Group: "apps", Kind: "StatefulSet"}: statefulSets,
	{Group: "apps", Kind: "DaemonSet"}:   daemonSets,
	{Group: "batch", Kind: "Job"}:        jobs,
	{Group: "batch", Kind: "CronJob"}:    cronJobs,
	{Group: "kubevirt.io", Kind: "VirtualMachineInstance"}: {
		group: "kubevirt.io", versions: []string{"v1", "v1alpha3"}, kind: "VirtualMachineInstance", plural: "virtualmachineinstances"},
	{Group: "kubevirt.io", Kind: "VirtualMachine"}: {
		group: "kubevirt.io", versions: []string{"v1", "v1alpha3"}, kind: "VirtualMachine", plural: "virtualmachines"},
}

func ownerResource(ref *metav1.OwnerReference) *resource {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	return ownerKinds[schema.GroupKind{Group: gv.Group, Kind: ref.Kind}]
}

// controllerOf is the owner of a controller that was read.
func controllerOf(x *snapshot.Index, r *resource, namespace, name string) *metav1.OwnerReference {
	o := find(x, r, namespace, name)
	if o == nil {
		return nil
	}
	return metav1.GetControllerOf(o)
}

func find(x *snapshot.Index, r *resource, namespace, name string) metav1.Object {
	switch r {
	case replicaSets:
		return named(x.Cluster.ReplicaSets, namespace, name)
	case jobs:
		return named(x.Cluster.Jobs, namespace, name)
	case deployments, statefulSets, daemonSets, cronJobs:
		return nil // nobody owns them but operators
	}
	for _, u := range x.Cluster.Others {
		if u.GetKind() == r.kind && u.GetNamespace() == namespace && u.GetName() == name {
			return u
		}
	}
	return nil
}

func named[T metav1.Object](list []T, namespace, name string) metav1.Object {
	for _, o := range list {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	return nil
}

// isHostKey tells whether a topology label of a driver names single nodes.
func isHostKey(key string) bool {
	return strings.HasSuffix(key, "/node") || strings.HasSuffix(key, "/hostname") || strings.HasSuffix(key, "/nodename")
}

// candidates asks, by their computed names, for the VolumeAttachments that may
// exist: a list of them grows with the cluster. Where it is read nevertheless it has them.
func (c *collector) candidates(x *snapshot.Index, volumes []*snapshot.Volume, near []string) {
	if all := (want{res: attachments}); c.asked[all.key()] && c.q.Kind == "cluster" {
		return
	}
	for _, v := range volumes {
		driver, handle := v.CSIName(), v.CSIHandle()
		if driver == "" || handle == "" {
			continue
		}
		for _, n := range near {
			c.byName(attachments, "", snapshot.AttachmentName(handle, driver, n))
		}
		for _, t := range v.Tickets() {
			if strings.HasPrefix(t.ID, "csi-") { // the id of a ticket of the CSI plugin is the name of the object
				c.byName(attachments, "", t.ID)
			}
		}
	}
}

// csiVolume begins the name of a CSI volume in a node's status:
// kubernetes.io/csi/DRIVER^HANDLE.
const csiVolume = "kubernetes.io/csi/"

// nodeVolumes asks for the volumes of the node in question.
func (c *collector) nodeVolumes(x *snapshot.Index) {
	for _, pod := range x.PodsOn(c.q.Name) {
		c.podVolumes(x, pod)
	}
	// An attachment whose volume is gone is named by nothing but itself.
	c.want(want{res: attachments})
	for _, va := range x.Cluster.Attachments {
		if va.Spec.NodeName == c.q.Name && va.Spec.Source.PersistentVolumeName != nil {
			c.byName(pvs, "", *va.Spec.Source.PersistentVolumeName)
		}
	}
	c.want(want{res: lhEngines, labels: "longhornnode=" + c.q.Name})
	c.want(want{res: lhReplicas, labels: "longhornnode=" + c.q.Name})
	c.instances(x)
	for _, e := range x.Cluster.Longhorn.Engines {
		c.want(want{res: lhVolumes, fields: "metadata.name=" + e.VolumeName})
	}
	for _, r := range x.Cluster.Longhorn.Replicas {
		c.want(want{res: lhVolumes, fields: "metadata.name=" + r.VolumeName})
	}
	node := x.Node(c.q.Name)
	if node == nil {
		return
	}
	for _, name := range reported(node) {
		driver, handle, ok := strings.Cut(strings.TrimPrefix(name, csiVolume), "^")
		if !ok || !strings.HasPrefix(name, csiVolume) {
			continue
		}
		c.byName(attachments, "", snapshot.AttachmentName(handle, driver, c.q.Name))
		if driver == snapshot.LonghornDriver {
			c.want(want{res: lhVolumes, fields: "metadata.name=" + handle})
		}
	}
	if len(x.Cluster.Longhorn.Volumes) > 0 {
		c.want(want{res: lhAttachments}) // also of those that only have a replica here: one list for all
	}
	for _, lh := range x.Cluster.Longhorn.Volumes {
		c.byName(pvs, "", lh.Status.Kubernetes.PVName)
	}
}

// podVolumes asks for the volumes that a pod of the node uses, serves or makes.
func (c *collector) podVolumes(x *snapshot.Index, pod *corev1.Pod) {
	if c.claimsOf(pod); pod.Status.Phase == corev1.PodPending {
		c.pod(x, pod)
	}
	if volume, ok := strings.CutPrefix(pod.Name, "share-manager-"); ok {
		c.want(want{res: lhVolumes, fields: "metadata.name=" + volume})
	}
	if len(snapshot.HelperOf(pod)) > 0 { // the claim for which it works is named after nothing here
		c.want(want{res: claims, pages: 1})
	}
	for i := range pod.Spec.Volumes {
		if claim := claimName(pod, &pod.Spec.Volumes[i]); claim != "" {
			if v := x.VolumeOfClaim(pod.Namespace, claim); v != nil {
				c.byName(pvs, "", v.PVName())
			}
		}
	}
}

// instances asks for what the instance managers of the node list: their list outlives
// the engines and the frontends that it names.
func (c *collector) instances(x *snapshot.Index) {
	for _, im := range x.InstanceManagersOn(c.q.Name) {
		for _, e := range im.Engines {
			c.byName(lhEngines, im.Namespace, e.Name)
			if i := strings.LastIndex(e.Name, "-e-"); i > 0 {
				c.byName(lhVolumes, im.Namespace, e.Name[:i])
			}
		}
		for _, f := range im.Frontends {
			if i := strings.LastIndex(f.Name, "-ef-"); i > 0 {
				c.byName(lhVolumes, im.Namespace, f.Name[:i])
			}
		}
	}
}

// reported are the volumes that a node's status names.
func reported(node *corev1.Node) []string {
	var out []string
	for _, v := range node.Status.VolumesInUse {
		out = append(out, string(v))
	}
	for _, v := range node.Status.VolumesAttached {
		out = append(out, string(v.Name))
	}
	return out
}

func claimName(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}
