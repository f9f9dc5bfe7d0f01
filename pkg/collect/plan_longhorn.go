package collect

import (
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// longhornVolume asks for the parts of one Longhorn volume.
func (c *collector) longhornVolume(x *snapshot.Index, v *snapshot.Volume) {
	name := v.Handle
	if name == "" {
		name = v.Called()
	}
	if name == "" {
		return
	}
	c.want(want{res: lhVolumes, fields: "metadata.name=" + name})
	c.want(want{res: lhShareManagers, fields: "metadata.name=" + name})
	c.want(want{res: lhAttachments, fields: "metadata.name=" + name})
	c.want(want{res: lhEngines, labels: "longhornvolume=" + name})
	c.want(want{res: lhReplicas, labels: "longhornvolume=" + name})
	lh := v.LH()
	if lh == nil {
		return
	}
	ns := lh.Namespace
	c.eventsOf(ns, name)
	c.byName(pvs, "", lh.Status.Kubernetes.PVName)
	c.byName(lhBackingImages, ns, lh.BackingImage)
	for _, e := range v.Longhorn.Engines {
		c.eventsOf(ns, e.Name)
		c.instanceManager(ns, e.InstanceManager)
	}
	if lh.DataEngine == "v2" {
		c.want(want{res: lhFrontends, labels: "longhornvolume=" + name})
	}
	for _, f := range v.Longhorn.Frontends {
		c.eventsOf(ns, f.Name)
		c.instanceManager(ns, f.InstanceManager)
	}
	for _, r := range v.Longhorn.Replicas {
		c.eventsOf(ns, r.Name)
		c.instanceManager(ns, r.InstanceManager)
	}
	c.served(v.Longhorn.Attachment)
	c.restored(lh)
	c.orphans(x, v)
	if v.RegularRWX() || v.Longhorn.ShareManager != nil {
		pod := "share-manager-" + name
		c.byName(pods, ns, pod)
		c.eventsOf(ns, pod)
		c.byName(services, ns, name)
		c.byName(endpoints, ns, name)
		c.want(want{res: endpointSlices, namespace: ns, labels: "kubernetes.io/service-name=" + name})
		c.byName(configMaps, ns, snapshot.RecoveryBackend+name)
		c.byName(leases, ns, name)
	}
}

// restored asks for the backup that a volume still lacks data of, and for its target.
func (c *collector) restored(lh *snapshot.LHVolume) {
	if !lh.Status.RestoreRequired && !lh.Status.IsStandby {
		return
	}
	target := lh.BackupTarget
	if target == "" {
		target = "default"
	}
	c.byName(lhBackupTargets, lh.Namespace, target)
	if u, err := url.Parse(lh.FromBackup); err == nil {
		c.byName(lhBackups, lh.Namespace, u.Query().Get("backup"))
	}
}

// orphans asks for what Longhorn made of an engine that runs without its record.
func (c *collector) orphans(x *snapshot.Index, v *snapshot.Volume) {
	e := x.EngineActive(v)
	for _, im := range x.EngineRunsIn(v) {
		if e == nil || e.CurrentState != "running" || e.NodeID != im.NodeID {
			c.want(want{res: lhOrphans, labels: "longhorn.io/orphan-type=engine-instance"})
		}
	}
}

// served asks for the object that a ticket was made for: a ticket outlives it.
func (c *collector) served(a *snapshot.LHAttachment) {
	if a == nil {
		return
	}
	for _, t := range a.Tickets {
		name := strings.TrimPrefix(t.ID, t.Type+"-")
		switch t.Type {
		case "backup-controller":
			c.byName(lhBackups, a.Namespace, name)
		case "snapshot-controller":
			c.byName(lhSnapshots, a.Namespace, name)
		}
	}
}

// instanceManager asks for an instance manager, its pod and its disruption
// budget: all three have one name.
func (c *collector) instanceManager(namespace, name string) {
	if name == "" {
		return
	}
	c.byName(lhInstanceManagers, namespace, name)
	c.byName(pods, namespace, name)
	c.byName(budgets, namespace, name)
	c.eventsOf(namespace, name)
}

// longhornNodes are the nodes that Longhorn's objects of a volume name.
func longhornNodes(v *snapshot.Volume) []string {
	if v.Longhorn == nil {
		return nil
	}
	var out []string
	if lh := v.LH(); lh != nil {
		out = append(out, lh.NodeID, lh.MigrationNodeID, lh.Status.OwnerID, lh.Status.CurrentNodeID, lh.Status.CurrentMigrationNodeID, lh.Status.PendingNodeID, lh.EngineNodeID, lh.Status.CurrentEngineNodeID)
	}
	if sm := v.Longhorn.ShareManager; sm != nil {
		out = append(out, sm.OwnerID)
	}
	for _, e := range v.Longhorn.Engines {
		out = append(out, e.NodeID)
	}
	for _, f := range v.Longhorn.Frontends {
		out = append(out, f.NodeID)
	}
	for _, r := range v.Longhorn.Replicas {
		out = append(out, r.NodeID, r.HardNodeAffinity)
	}
	return out
}

// The objects of Longhorn that every one of its volumes depends on.
var (
	longhornServices   = []string{"longhorn-backend", "longhorn-admission-webhook", "longhorn-conversion-webhook", "longhorn-recovery-backend"}
	longhornSidecars   = []string{"csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter"}
	longhornWebhooks   = []string{"longhorn-admission-webhook", "longhorn-conversion-webhook", "longhorn-recovery-backend"}
	longhornNamespaces = []*resource{lhSettings, lhEngineImages, deployments, networkPolicies}
)

// longhornSystem asks for the parts of Longhorn that all volumes share: its
// settings, its control plane, and what it knows of the nodes in question.
func (c *collector) longhornSystem(x *snapshot.Index, volumes []*snapshot.Volume, near []string) {
	if !slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool { return v.Driver == snapshot.LonghornDriver }) && !c.longhornAsked(x) {
		return
	}
	if len(x.Cluster.DaemonSets) == 0 && len(x.Cluster.Longhorn.Volumes) == 0 {
		return // the namespace is not known yet
	}
	ns := x.LonghornNamespace()
	c.byName(namespaces, "", ns)
	for _, r := range longhornNamespaces {
		c.want(want{res: r, namespace: ns})
	}
	for _, s := range longhornServices {
		c.byName(services, ns, s)
		c.byName(endpoints, ns, s)
	}
	for _, app := range slices.Concat(longhornSidecars, longhornWebhooks) {
		c.want(want{res: pods, namespace: ns, labels: "app=" + app})
	}
	for _, n := range near {
		c.byName(lhNodes, ns, n)
		c.want(want{res: lhInstanceManagers, namespace: ns, labels: "longhorn.io/node=" + n})
	}
	for _, im := range x.Cluster.Longhorn.InstanceManagers {
		c.instanceManager(im.Namespace, im.Name)
	}
	for _, pod := range x.Cluster.Pods {
		if pod.Namespace == ns && slices.Contains(near, pod.Spec.NodeName) {
			c.eventsOf(ns, pod.Name)
			c.owners(x, pod)
		}
	}
}

// longhornAsked tells whether a question about a node meets Longhorn.
func (c *collector) longhornAsked(x *snapshot.Index) bool {
	if c.q.Kind != "node" {
		return false
	}
	return slices.ContainsFunc(x.PodsOn(c.q.Name), func(p *corev1.Pod) bool { return p.Labels["app"] == "longhorn-manager" })
}
