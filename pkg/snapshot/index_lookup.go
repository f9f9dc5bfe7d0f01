package snapshot

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// key is a namespace and a name; cluster-scoped objects have no namespace.
type key struct{ namespace, name string }

// eventKey is what an event speaks of.
type eventKey struct{ kind, namespace, name string }

// lookups are the maps behind Index, filled once by NewIndex.
type lookups struct {
	pods             map[key]*corev1.Pod
	podsByUID        map[string]*corev1.Pod
	podsByNode       map[string][]*corev1.Pod
	podsIn           map[string][]*corev1.Pod // by namespace
	podsByClaim      map[key][]*corev1.Pod
	podsBySet        map[key][]*corev1.Pod // by the DaemonSet that controls them
	nodes            map[key]*corev1.Node
	claims           map[key]*corev1.PersistentVolumeClaim
	claimsByVolume   map[string]*corev1.PersistentVolumeClaim // by spec.volumeName; the first of several
	pvs              map[key]*corev1.PersistentVolume
	pvsFor           map[key][]*corev1.PersistentVolume    // by the claim that they name
	pvsFree          map[string][]*corev1.PersistentVolume // by class; they name no claim
	classes          map[key]*storagev1.StorageClass
	attributes       map[key]*storagev1.VolumeAttributesClass
	drivers          map[key]*storagev1.CSIDriver
	csiNodes         map[key]*storagev1.CSINode
	attachments      map[key]*storagev1.VolumeAttachment
	attachmentsTo    map[string][]*storagev1.VolumeAttachment // by node
	gaps             map[string]Gap
	apiGaps          []Gap // of objects
	leases           map[key]*coordinationv1.Lease
	daemonSets       map[key]*appsv1.DaemonSet
	events           map[eventKey][]*Event
	killed           map[key]time.Time // the last event Killing by namespace and host
	nodesOfVolume    memo[*Volume, volumeNodes]
	volumeOfPath     memo[string, *Volume] // by node and path
	workloadOfDriver memo[string, *driverWorkload]
	provenOfDriver   memo[string, []string]
	sidecarsOfDriver memo[string, sidecars]
	setOfDriver      memo[string, *appsv1.DaemonSet]
	disksByIdentity  memo[struct{}, map[string][]VolumeDevice]
	inUse            map[string][]string // unique volume name → nodes that list it, sorted
	attachedOn       map[string][]string

	longhornNS      string
	longhornSpaces  []string
	longhornVersion string
	lhVolumes       map[string]*LHVolume
	lhNodes         map[string]*LHNode
	lhEngines       map[string][]*LHEngine
	lhFrontends     map[string][]*LHEngineFrontend
	lhRunning       map[string][]*LHInstanceManager // by volume: where an engine of it runs
	lhReplicas      map[string][]*LHReplica
	lhShareManagers map[string]*LHShareManager
	lhAttachments   map[string]*LHAttachment

	volumesByPV       map[string]*Volume
	volumesByClaim    map[key]*Volume
	volumesByLonghorn map[string]*Volume
	volumesOfHandle   map[key][]*Volume // driver, handle
	driverSets        map[string][]*appsv1.DaemonSet
	nodesOfDriver     map[string][]string
	speakers          map[string][]string // driver → names of pods
	devices           deviceCache
	onNode            volumesOnNode
	aliases           aliasOwners
	inlineOf          map[podVolume]*Volume
	helpers           helperIndex
}

// NewIndex computes the index of a snapshot, which must not change afterwards.
func NewIndex(s *Snapshot) *Index {
	if s == nil {
		s = &Snapshot{}
	}
	x := &Index{Snapshot: s, NodeViews: map[string]*NodeView{}, lookups: new(lookups), asked: new(memo[string, any])}
	x.indexGaps()
	x.indexCluster()
	x.indexNodeLists()
	x.indexEvents()
	x.indexSpeakers()
	x.indexLonghorn()
	for name, record := range s.Nodes {
		if record != nil && record.Facts != nil {
			x.NodeViews[name] = newNodeView(name, record.Facts)
		}
	}
	x.buildVolumes()
	x.indexDriverNodes()
	x.indexDrivers()
	return x
}

// byName maps objects by namespace and name; the first of a name wins.
func byName[T metav1.Object](list []T, isNil func(T) bool) map[key]T {
	m := make(map[key]T, len(list))
	for _, o := range list {
		if isNil(o) {
			continue
		}
		k := key{o.GetNamespace(), o.GetName()}
		if _, ok := m[k]; !ok {
			m[k] = o
		}
	}
	return m
}

func (x *Index) indexCluster() {
	c := &x.Cluster
	x.pods = byName(c.Pods, func(o *corev1.Pod) bool { return o == nil })
	x.nodes = byName(c.Nodes, func(o *corev1.Node) bool { return o == nil })
	x.claims = byName(c.Claims, func(o *corev1.PersistentVolumeClaim) bool { return o == nil })
	x.claimsByVolume = map[string]*corev1.PersistentVolumeClaim{}
	for _, o := range c.Claims {
		if o != nil && o.Spec.VolumeName != "" && x.claimsByVolume[o.Spec.VolumeName] == nil {
			x.claimsByVolume[o.Spec.VolumeName] = o
		}
	}
	x.pvs = byName(c.PVs, func(o *corev1.PersistentVolume) bool { return o == nil })
	x.pvsFor, x.pvsFree = map[key][]*corev1.PersistentVolume{}, map[string][]*corev1.PersistentVolume{}
	for _, pv := range c.PVs {
		switch {
		case pv == nil:
		case pv.Spec.ClaimRef == nil:
			if pv.Status.Phase == corev1.VolumeAvailable {
				x.pvsFree[pv.Spec.StorageClassName] = append(x.pvsFree[pv.Spec.StorageClassName], pv)
			}
		default:
			k := key{pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name}
			x.pvsFor[k] = append(x.pvsFor[k], pv)
		}
	}
	x.classes = byName(c.StorageClasses, func(o *storagev1.StorageClass) bool { return o == nil })
	x.attributes = byName(c.AttributesClasses, func(o *storagev1.VolumeAttributesClass) bool { return o == nil })
	x.drivers = byName(c.CSIDrivers, func(o *storagev1.CSIDriver) bool { return o == nil })
	x.csiNodes = byName(c.CSINodes, func(o *storagev1.CSINode) bool { return o == nil })
	x.attachments = byName(c.Attachments, func(o *storagev1.VolumeAttachment) bool { return o == nil })
	x.attachmentsTo = map[string][]*storagev1.VolumeAttachment{}
	for _, va := range c.Attachments {
		if va != nil {
			x.attachmentsTo[va.Spec.NodeName] = append(x.attachmentsTo[va.Spec.NodeName], va)
		}
	}
	x.leases = byName(c.Leases, func(o *coordinationv1.Lease) bool { return o == nil })
	x.daemonSets = byName(c.DaemonSets, func(o *appsv1.DaemonSet) bool { return o == nil })
	x.podsByUID = map[string]*corev1.Pod{}
	x.podsByNode, x.podsIn = map[string][]*corev1.Pod{}, map[string][]*corev1.Pod{}
	x.podsByClaim = map[key][]*corev1.Pod{}
	x.podsBySet = map[key][]*corev1.Pod{}
	for _, p := range c.Pods {
		if p != nil {
			x.indexPod(p)
		}
	}
}

// The annotations that a static pod's mirror carries: the UID in its cgroups is
// the hash of its file, not the UID of the mirror (pkg/kubelet/types/pod_update.go).
const (
	annotationConfigHash   = "kubernetes.io/config.hash"
	annotationConfigMirror = "kubernetes.io/config.mirror"
)

func (x *Index) indexPod(p *corev1.Pod) {
	x.podsIn[p.Namespace] = append(x.podsIn[p.Namespace], p)
	for _, uid := range []string{string(p.UID), p.Annotations[annotationConfigHash], p.Annotations[annotationConfigMirror]} {
		if u := plainUID(uid); u != "" && x.podsByUID[u] == nil {
			x.podsByUID[u] = p
		}
	}
	if p.Spec.NodeName != "" {
		x.podsByNode[p.Spec.NodeName] = append(x.podsByNode[p.Spec.NodeName], p)
	}
	if ref := metav1.GetControllerOf(p); ref != nil && ref.Kind == "DaemonSet" {
		k := key{p.Namespace, ref.Name}
		x.podsBySet[k] = append(x.podsBySet[k], p)
	}
	seen := map[string]bool{}
	for i := range p.Spec.Volumes {
		if claim := claimOfVolume(p, &p.Spec.Volumes[i]); claim != "" && !seen[claim] {
			seen[claim] = true
			k := key{p.Namespace, claim}
			x.podsByClaim[k] = append(x.podsByClaim[k], p)
		}
	}
}

// claimOfVolume is the claim that a pod's volume names; a generic ephemeral
// volume gets a claim named "<pod>-<volume>" (KEP-1698).
func claimOfVolume(p *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return p.Name + "-" + v.Name
	}
	return ""
}

// plainUID drops what separates the groups of a UID: systemd writes "_".
func plainUID(uid string) string {
	return strings.ToLower(uidSeparators.Replace(uid))
}

// SameUID tells whether two texts are one UID.
func SameUID(a, b string) bool { return a != "" && plainUID(a) == plainUID(b) }

var uidSeparators = strings.NewReplacer("-", "", "_", "")
