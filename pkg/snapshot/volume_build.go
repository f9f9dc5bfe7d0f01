package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// buildVolumes joins claims, PVs and Longhorn volumes; every object becomes part
// of exactly one Volume.
func (x *Index) buildVolumes() {
	x.volumesByPV, x.volumesByLonghorn = map[string]*Volume{}, map[string]*Volume{}
	x.volumesByClaim, x.volumesOfHandle = map[key]*Volume{}, map[key][]*Volume{}
	for _, pv := range x.Cluster.PVs {
		if pv != nil && x.volumesByPV[pv.Name] == nil {
			x.addPV(pv)
		}
	}
	for _, claim := range x.Cluster.Claims {
		if claim != nil && x.volumesByClaim[key{claim.Namespace, claim.Name}] == nil {
			x.addClaim(claim)
		}
	}
	for _, lh := range x.Cluster.Longhorn.Volumes {
		if x.volumesByLonghorn[lh.Name] == nil {
			v := &Volume{Driver: LonghornDriver, Handle: lh.Name}
			x.Volumes = append(x.Volumes, v)
			x.volumesByLonghorn[lh.Name] = v
		}
	}
	for _, v := range x.Volumes {
		x.complete(v)
	}
	x.addInline()
	x.joinAttachments()
	for _, v := range x.Volumes {
		v.key, v.stagedHash = v.Key(), hashHex(v.stagedHandle())
	}
	slices.SortStableFunc(x.Volumes, func(a, b *Volume) int {
		if c := strings.Compare(a.Key(), b.Key()); c != 0 {
			return c
		}
		return strings.Compare(a.PVName(), b.PVName())
	})
	for _, v := range x.Volumes {
		if k := (key{v.Driver, v.Handle}); v.Handle != "" {
			x.volumesOfHandle[k] = append(x.volumesOfHandle[k], v)
		}
	}
}

func (x *Index) addPV(pv *corev1.PersistentVolume) {
	v := &Volume{PV: pv}
	v.Driver, v.Handle = sourceOf(pv)
	x.Volumes = append(x.Volumes, v)
	x.volumesByPV[pv.Name] = v
	if v.Driver == LonghornDriver && x.volumesByLonghorn[v.Handle] == nil {
		x.volumesByLonghorn[v.Handle] = v
	}
	if claim := x.claimOfPV(pv); claim != nil {
		v.Claim = claim
		x.volumesByClaim[key{claim.Namespace, claim.Name}] = v
	}
}

// claimOfPV is the claim that a PV belongs to: the one of its claimRef, unless
// that claim has another volume, or another UID and no volume. A claim that
// still names the PV stays joined although it was made anew: that is what must
// be seen of a stale claimRef.
func (x *Index) claimOfPV(pv *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return x.claimsByVolume[pv.Name]
	}
	claim := x.Claim(ref.Namespace, ref.Name)
	if claim == nil {
		return nil
	}
	switch claim.Spec.VolumeName {
	case pv.Name:
		return claim
	case "":
		if ref.UID == "" || claim.UID == "" || ref.UID == claim.UID {
			return claim
		}
	}
	return nil
}

// addClaim adds a claim whose PV does not exist, was not read, or belongs to
// another claim. Longhorn may know the volume all the same.
func (x *Index) addClaim(claim *corev1.PersistentVolumeClaim) {
	v := &Volume{Claim: claim}
	x.Volumes = append(x.Volumes, v)
	x.volumesByClaim[key{claim.Namespace, claim.Name}] = v
	name := v.Called()
	if name == "" || x.PV(name) != nil {
		return
	}
	for _, lh := range x.Cluster.Longhorn.Volumes {
		if (lh.Status.Kubernetes.PVName == name || lh.Name == name) && x.volumesByLonghorn[lh.Name] == nil {
			v.Driver, v.Handle = LonghornDriver, lh.Name
			x.volumesByLonghorn[lh.Name] = v
			return
		}
	}
}

// complete adds class, consumers and Longhorn's parts.
func (x *Index) complete(v *Volume) {
	v.Class = x.classOf(v)
	if v.Claim != nil {
		v.Consumers = consumersOf(x.PodsOfClaim(v.Claim.Namespace, v.Claim.Name), v.Claim.Name)
	}
	if v.Driver != LonghornDriver {
		if v.Driver == "" && v.PV == nil {
			v.Driver = v.Provisioner()
		}
		v.migratedTo = x.migration(v)
		return
	}
	v.Longhorn = &LonghornVolume{
		Volume:       x.lhVolumes[v.Handle],
		Engines:      x.lhEngines[v.Handle],
		Frontends:    x.lhFrontends[v.Handle],
		Replicas:     x.lhReplicas[v.Handle],
		ShareManager: x.lhShareManagers[v.Handle],
		Attachment:   x.lhAttachments[v.Handle],
	}
}

func (x *Index) classOf(v *Volume) *storagev1.StorageClass {
	name := ""
	if v.PV != nil {
		name = v.PV.Spec.StorageClassName
	}
	if name == "" && v.Claim != nil {
		if v.Claim.Spec.StorageClassName != nil {
			name = *v.Claim.Spec.StorageClassName
		} else {
			name = v.Claim.Annotations[corev1.BetaStorageClassAnnotation]
		}
	}
	if name == "" {
		return nil
	}
	return x.Class(name)
}

// joinAttachments gives every VolumeAttachment to its volume: by the PV that it
// names, by the source that it carries for a pod's own entry, or, for a volume of
// Longhorn without a PV, by the computed name.
func (x *Index) joinAttachments() {
	byPV, bySource := map[string]*Volume{}, map[key]*Volume{}
	for _, v := range x.Volumes {
		if v.migratedTo != "" {
			bySource[key{v.migratedTo, v.CSIHandle()}] = v
		}
		if name := v.PVName(); name != "" && (byPV[name] == nil || v.PV != nil) {
			byPV[name] = v
		}
		if lh := v.LH(); lh != nil && v.PV == nil && lh.Status.Kubernetes.PVName != "" && byPV[lh.Status.Kubernetes.PVName] == nil {
			byPV[lh.Status.Kubernetes.PVName] = v
		}
	}
	for _, va := range x.Cluster.Attachments {
		if va == nil {
			continue
		}
		if name := va.Spec.Source.PersistentVolumeName; name != nil && byPV[*name] != nil {
			byPV[*name].Attachments = append(byPV[*name].Attachments, va)
			continue
		}
		if in := va.Spec.Source.InlineVolumeSpec; in != nil && in.CSI != nil {
			if v := bySource[key{in.CSI.Driver, in.CSI.VolumeHandle}]; v != nil {
				v.Attachments = append(v.Attachments, va)
			}
			continue
		}
		for _, v := range x.Volumes {
			if v.Longhorn != nil && va.Spec.Attacher == LonghornDriver && va.Name == AttachmentName(v.Handle, v.Driver, va.Spec.NodeName) {
				v.Attachments = append(v.Attachments, va)
				break
			}
		}
	}
	for _, v := range x.Volumes {
		slices.SortStableFunc(v.Attachments, func(a, b *storagev1.VolumeAttachment) int {
			return strings.Compare(a.Spec.NodeName+"\x00"+a.Name, b.Spec.NodeName+"\x00"+b.Name)
		})
	}
}
