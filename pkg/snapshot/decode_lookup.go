package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// othersKind keeps objects of known groups that have no type of ours.
var othersKind = func() *kind {
	k := &kind{
		decode: func(raw []byte) (metav1.Object, error) {
			u := &unstructured.Unstructured{}
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, &u.Object); err != nil {
				return nil, err
			}
			// The accessors of unstructured hide a metadata of the wrong form.
			return u, checkMetadata(u)
		},
	}
	held(k, func(c *Cluster) *[]*unstructured.Unstructured { return &c.Others })
	return k
}()

// otherGroups are the groups whose objects rules may know beside those with a
// type: storage of Kubernetes and of its drivers, virtual machines.
var otherGroups = map[string]bool{
	"ceph.rook.io": true, "cdi.kubevirt.io": true, "csiaddons.openshift.io": true, "directpv.min.io": true, "groupsnapshot.storage.k8s.io": true,
	"harvesterhci.io": true, "hwameistor.io": true, "kubevirt.io": true, "longhorn.io": true,
	"piraeus.io": true, "snapshot.storage.k8s.io": true, "storage.k8s.io": true, "topolvm.io": true,
	"internal.linstor.linbit.com": true, "local.openebs.io": true, "zfs.openebs.io": true, "cstor.openebs.io": true,
}

// movedGroups are groups that served kinds of ours before their present group.
var movedGroups = map[string][]string{
	"extensions": {"apps", "networking.k8s.io"},
}

var (
	allKinds    = append(append(append(append([]*kind{}, kinds...), eventKinds...), longhornKinds...), othersKind)
	kindsByName = func() map[schema.GroupKind]*kind {
		byName := map[schema.GroupKind]*kind{}
		for _, k := range allKinds {
			byName[k.GroupKind()] = k
		}
		return byName
	}()
)

// kindOf finds a kind in any served version; nil: not a kind that rules know.
func kindOf(gvk schema.GroupVersionKind) *kind {
	groups := append([]string{gvk.Group}, movedGroups[gvk.Group]...)
	for _, group := range groups {
		if k := kindsByName[schema.GroupKind{Group: group, Kind: gvk.Kind}]; k != nil {
			return k
		}
	}
	if otherGroups[gvk.Group] {
		return othersKind
	}
	return nil
}

// resourceNeed is the need of a gap for the resource of a kind, or empty.
func resourceNeed(gvk schema.GroupVersionKind) string {
	k := kindOf(gvk)
	switch {
	case k == nil || gvk.Kind == "":
		return ""
	case k == othersKind:
		return "api/" + gvk.Group + "/" + plural(gvk.Kind)
	}
	return k.need()
}

// plural is the resource's name of a kind, as its authors would build it.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// RecoveryBackend is how the names of the ConfigMaps begin in which Longhorn's
// share managers keep the NFS clients; no other ConfigMap is read.
const RecoveryBackend = "recovery-backend-share-manager-"

// keep tells whether an object of a known kind belongs into a snapshot.
func keep(o metav1.Object) bool {
	m, ok := o.(*corev1.ConfigMap)
	return !ok || strings.HasPrefix(m.Name, RecoveryBackend)
}

// checkMetadata decodes metadata strictly once.
func checkMetadata(u *unstructured.Unstructured) error {
	var meta metav1.ObjectMeta
	return metadata(u, &meta)
}
