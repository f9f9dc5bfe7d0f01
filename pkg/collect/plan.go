package collect

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// plan looks at what was read so far and asks for what it refers to. It runs
// before each round; what was asked before is not asked again.
func (c *collector) plan() {
	if c.q.Kind == "cluster" && c.q.Namespace == "" {
		c.sweep()
		return
	}
	x := snapshot.NewIndex(c.snap)
	if c.q.Kind == "preflight" {
		c.preflight(x)
		return
	}
	c.start(x)
	c.constants()
	volumes := c.volumes(x)
	for _, v := range volumes {
		c.volume(x, v)
	}
	near := c.near(x, volumes)
	named := namedNodes(x, volumes)
	c.candidates(x, volumes, slices.Concat(near, named))
	for _, n := range near {
		c.node(x, n)
	}
	for _, n := range named {
		c.nodeObjects(n)
	}
	c.drivers(x, volumes, near)
	c.longhornSystem(x, volumes, near)
	c.mounted(x)
	if len(c.pending) == 0 {
		c.widen(x, volumes, near)
	}
	if len(c.pending) == 0 {
		c.permissions()
	}
}

// permissions tries what no object led to: without a gap a rule would take the
// resource for read and empty, although it may not be read at all.
func (c *collector) permissions() {
	for _, r := range []*resource{pvs, nodes, attachments, csiNodes} {
		if !c.touched[r] {
			c.want(want{res: r, try: true})
		}
	}
}

// madeByKubelet are the plugins whose volumes no PersistentVolume stands for: every pod has
// some of them.
var madeByKubelet = []string{"kubernetes.io~projected", "kubernetes.io~secret", "kubernetes.io~configmap", "kubernetes.io~downward-api", "kubernetes.io~empty-dir"}

// mounted asks for the volumes that probed nodes have mounted: whose a device is
// that is not the asked volume's only its PV tells.
func (c *collector) mounted(x *snapshot.Index) {
	for _, n := range slices.Sorted(maps.Keys(x.NodeViews)) {
		for _, m := range x.NodeViews[n].VolumePaths() {
			if slices.Contains(madeByKubelet, m.Path.Plugin) {
				continue
			}
			c.byName(pvs, "", m.Path.PV)
			if v := x.VolumeOfPV(m.Path.PV); v != nil {
				ns, claim := v.ClaimRef()
				c.byName(claims, ns, claim)
			}
		}
	}
}

// start asks for what the question names.
func (c *collector) start(x *snapshot.Index) {
	switch c.q.Kind {
	case "pvc":
		c.byName(claims, c.q.Namespace, c.q.Name)
		if x.Claim(c.q.Namespace, c.q.Name) == nil && c.wasAsked(claims, c.q.Namespace, c.q.Name) && c.later() {
			c.want(want{res: claims, namespace: c.q.Namespace, pages: 1})
			c.want(want{res: claims, fields: "metadata.name=" + c.q.Name})
			c.want(want{res: pvs, pages: 1})
			c.eventsIn(c.q.Namespace, notMade)
		}
	case "pod":
		c.byName(pods, c.q.Namespace, c.q.Name)
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			c.pod(x, pod)
			c.siblings(x, pod)
		} else if c.wasAsked(pods, c.q.Namespace, c.q.Name) && c.later() {
			c.want(want{res: pods, namespace: c.q.Namespace, pages: 1})
			c.want(want{res: pods, fields: "metadata.name=" + c.q.Name})
			c.eventsIn(c.q.Namespace, notMade)
		}
	case "volume":
		c.byName(pvs, "", c.q.Name)
		c.want(want{res: lhVolumes, fields: "metadata.name=" + c.q.Name})
		if v := x.VolumeOfPV(c.q.Name); v != nil && v.PV.Spec.ClaimRef == nil {
			c.want(want{res: claims, pages: 1}) // one may name it and not get it
		}
	case "node":
		c.byName(nodes, "", c.q.Name)
		if x.Node(c.q.Name) == nil && c.wasAsked(nodes, "", c.q.Name) && c.later() {
			c.want(want{res: nodes, pages: 1})
		}
		c.nodeVolumes(x)
	case "cluster":
		c.namespace(x)
	}
}

// notMade selects what controllers say of a pod or claim that they were not allowed to make.
const notMade = "reason=FailedCreate"

// maxSiblings is how many pods of one owner are compared.
const maxSiblings = 20

// siblings asks for the pods of the same owner: whether they suffer alike tells a
// fault of the manifest from one of a node.
func (c *collector) siblings(x *snapshot.Index, pod *corev1.Pod) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return
	}
	c.want(want{res: pods, namespace: pod.Namespace})
	n := 0
	for _, o := range x.Cluster.Pods {
		if ref := metav1.GetControllerOf(o); ref != nil && ref.UID == owner.UID && o.Status.Phase == corev1.PodPending && n < maxSiblings {
			n++
			c.eventsOf(o.Namespace, o.Name)
		}
	}
}

// later tells whether the first round is over: then what is not there is absent.
func (c *collector) later() bool { return len(c.have) > 0 || c.rounds > 0 }

// constants are lists whose length does not grow with the cluster.
func (c *collector) constants() {
	for _, r := range []*resource{classes, csiDrivers, daemonSets} {
		c.want(want{res: r})
	}
	// A few objects that prove where Longhorn lives, whatever the question: probe
	// pods run there.
	c.want(want{res: lhEngineImages, quiet: true})
}

// volumes are those of the question, and those that a waiting pod waits for, too.
func (c *collector) volumes(x *snapshot.Index) []*snapshot.Volume {
	var out []*snapshot.Volume
	add := func(v *snapshot.Volume) {
		if v != nil && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	switch c.q.Kind {
	case "pvc":
		add(x.VolumeOfClaim(c.q.Namespace, c.q.Name))
	case "pod":
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			for _, v := range x.VolumesOfPod(pod) {
				add(v)
			}
		}
	case "volume":
		add(x.VolumeOfPV(c.q.Name))
		add(x.VolumeOfLonghorn(c.q.Name))
	case "node":
		for _, v := range slices.Concat(x.VolumesOn(c.q.Name), few(unwell(x.StoredOn(c.q.Name)))) {
			add(v)
		}
	case "cluster":
		for _, v := range x.VolumesIn(c.q.Namespace) {
			add(v)
		}
	}
	for _, v := range slices.Clone(out) {
		for _, w := range v.Waiting() {
			c.claimsOf(w.Pod)
			for _, sibling := range x.VolumesOfPod(w.Pod) {
				add(sibling)
			}
		}
	}
	return out
}

// storageObjects asks for what the operators of some storages say of it, for their volumes.
func (c *collector) storageObjects(v *snapshot.Volume) {
	name := v.CSIName()
	switch {
	case v.PV != nil && (v.PV.Spec.RBD != nil || v.PV.Spec.CephFS != nil), v.CephCSI() != "":
		c.want(want{res: cephClusters})
		c.want(want{res: networkFences})
	case name == "zfs.csi.openebs.io":
		c.want(want{res: zfsNodes})
	case name == "local.csi.openebs.io":
		c.want(want{res: lvmNodes})
	}
}

// volume asks for what a volume's own objects refer to.
func (c *collector) volume(x *snapshot.Index, v *snapshot.Volume) {
	if ns, claim := v.ClaimRef(); claim != "" {
		c.byName(claims, ns, claim)
		c.attributesOf(v.Claim)
		c.byName(namespaces, "", ns)
		c.want(want{res: pods, namespace: ns})
		c.eventsOf(ns, claim)
		// Of a pod that is gone only this event tells that it went just now.
		c.eventsIn(ns, "reason=Killing")
		c.want(want{res: migrations, namespace: ns})
		c.want(want{res: networkPolicies, namespace: ns})
	}
	if pv := v.PVName(); pv != "" {
		c.byName(pvs, "", pv)
		c.clusterEventsOf("PersistentVolume", pv)
		if o := x.PV(pv); o != nil && o.Spec.ClaimRef != nil { // it may name another claim
			c.byName(claims, o.Spec.ClaimRef.Namespace, o.Spec.ClaimRef.Name)
		}
	}
	c.storageObjects(v)
	for _, consumer := range v.Consumers {
		c.pod(x, consumer.Pod)
	}
	for _, va := range v.Attachments {
		c.clusterEventsOf("VolumeAttachment", va.Name)
	}
	if v.Driver == snapshot.LonghornDriver {
		c.longhornVolume(x, v)
	} else {
		c.server(x, v)
	}
	for _, n := range affinityNodes(v.PV) {
		c.byName(nodes, "", n)
	}
}

// attributesOf asks for the classes of attributes that the driver can give to a volume that is
// there, when a claim wants one.
func (c *collector) attributesOf(claim *corev1.PersistentVolumeClaim) {
	if claim != nil && claim.Spec.VolumeAttributesClassName != nil && *claim.Spec.VolumeAttributesClassName != "" {
		c.want(want{res: attributes})
	}
}

// pod asks for a pod's claims, events and owners.
func (c *collector) pod(x *snapshot.Index, pod *corev1.Pod) {
	c.claimsOf(pod)
	c.eventsOf(pod.Namespace, pod.Name)
	c.owners(x, pod)
}

func (c *collector) claimsOf(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			c.byName(claims, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			c.byName(claims, pod.Namespace, pod.Name+"-"+v.Name)
		}
	}
}

// eventsOf asks for the events about an object of a namespace, whatever its kind.
func (c *collector) eventsOf(namespace, name string) {
	c.eventsIn(namespace, "involvedObject.name="+name)
}

// eventsIn asks for some events of a namespace, unless all of them are read.
func (c *collector) eventsIn(namespace, fields string) {
	if all := (want{res: events, namespace: namespace}); !c.asked[all.key()] {
		c.want(want{res: events, namespace: namespace, fields: fields})
	}
}

// clusterEventsOf asks for the events about an object without a namespace: they
// lie in "default", or where the one who wrote them lives. A sweep takes those about all
// objects of the kind at once.
func (c *collector) clusterEventsOf(kind, name string) {
	fields := "involvedObject.kind=" + kind
	if c.q.Kind != "cluster" {
		fields += ",involvedObject.name=" + name
	}
	c.want(want{res: events, fields: fields})
}
