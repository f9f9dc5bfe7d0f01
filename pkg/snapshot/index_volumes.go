package snapshot

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// VolumeOfPV returns the volume of a PV, or nil.
func (x *Index) VolumeOfPV(name string) *Volume { return x.volumesByPV[name] }

// VolumeOfClaim returns the volume of a claim, or nil.
func (x *Index) VolumeOfClaim(namespace, name string) *Volume {
	return x.volumesByClaim[key{namespace, name}]
}

// VolumeNaming returns the volume whose PV, or whose Longhorn volume, names a claim that
// was not read itself; nil when the claims were read, for then it does not exist.
func (x *Index) VolumeNaming(namespace, name string) *Volume {
	if _, unread := x.GapIn("/persistentvolumeclaims", namespace); !unread {
		return nil
	}
	for _, v := range x.Volumes {
		if ns, n := v.ClaimRef(); ns == namespace && n == name {
			return v
		}
	}
	return nil
}

// VolumeOfLonghorn returns the volume of a Longhorn volume, or nil.
func (x *Index) VolumeOfLonghorn(name string) *Volume { return x.volumesByLonghorn[name] }

// VolumeByHandle returns the volume of a driver and its handle, or nil. Of
// several PVs with one handle it is the first by name.
func (x *Index) VolumeByHandle(driver, handle string) *Volume {
	if of := x.VolumesOfHandle(driver, handle); len(of) > 0 {
		return of[0]
	}
	return nil
}

// VolumesOfHandle returns all volumes of a driver with one handle: PVs that the kubelet takes
// for one volume.
func (x *Index) VolumesOfHandle(driver, handle string) []*Volume {
	return x.volumesOfHandle[key{driver, handle}]
}

// Others are the other objects of a volume's backend volume, in the order of Volumes: PVs of
// one handle, and those that name it as another plugin or server does.
func (x *Index) Others(v *Volume) []*Volume {
	named := x.Memo("snapshot.Others", func() any {
		out := map[string][]*Volume{}
		for _, o := range x.Volumes {
			for _, u := range o.UniqueNames() {
				out[u] = append(out[u], o)
			}
		}
		return out
	}).(map[string][]*Volume)
	out := slices.Clone(x.VolumesOfHandle(v.Driver, v.Handle))
	for _, u := range v.UniqueNames() {
		for _, o := range named[u] {
			if !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	out = slices.DeleteFunc(out, func(o *Volume) bool { return o == v })
	slices.SortStableFunc(out, func(a, b *Volume) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// VolumesOfPod returns the volumes of a pod that are storage, in the pod's order.
func (x *Index) VolumesOfPod(pod *corev1.Pod) []*Volume {
	if pod == nil {
		return nil
	}
	var out []*Volume
	for i := range pod.Spec.Volumes {
		v := x.inlineOf[podVolume{pod, pod.Spec.Volumes[i].Name}]
		if v == nil {
			v = x.VolumeOfClaim(pod.Namespace, claimOfVolume(pod, &pod.Spec.Volumes[i]))
		}
		if v != nil && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// VolumesIn are the volumes that are claimed or used in a namespace, in the order of Volumes.
func (x *Index) VolumesIn(namespace string) []*Volume {
	var out []*Volume
	for _, v := range x.Volumes {
		ns, _ := v.ClaimRef()
		if ns == namespace || slices.ContainsFunc(v.Consumers, func(c *Consumer) bool { return c.Pod.Namespace == namespace }) {
			out = append(out, v)
		}
	}
	return out
}

// VolumesOn returns the volumes that are attached to a node, in use, mounted or
// consumed there, in the order of Volumes.
func (x *Index) VolumesOn(node string) []*Volume {
	x.onNode.once.Do(func() {
		x.onNode.volumes = map[string][]*Volume{}
		views := slices.Sorted(maps.Keys(x.NodeViews))
		for _, v := range x.Volumes {
			for _, n := range x.nodesWith(v, views) {
				x.onNode.volumes[n] = append(x.onNode.volumes[n], v)
			}
		}
	})
	return x.onNode.volumes[node]
}

// ShareManagerPod is the pod that serves a Longhorn RWX volume over NFS, or nil.
func (x *Index) ShareManagerPod(v *Volume) *corev1.Pod {
	if !v.IsLonghorn() {
		return nil
	}
	return x.Pod(x.longhornNS, "share-manager-"+v.Handle)
}

// ReportedInUse tells whether the kubelet of a node lists the volume in
// status.volumesInUse.
func (x *Index) ReportedInUse(node string, v *Volume) bool {
	return slices.ContainsFunc(v.UniqueNames(), func(u string) bool { return slices.Contains(x.inUse[u], node) })
}

// indexNodeLists turns volumesInUse and volumesAttached of all nodes around.
func (x *Index) indexNodeLists() {
	x.inUse, x.attachedOn = map[string][]string{}, map[string][]string{}
	for _, n := range x.Cluster.Nodes {
		if n == nil {
			continue
		}
		for _, u := range n.Status.VolumesInUse {
			x.inUse[string(u)] = append(x.inUse[string(u)], n.Name)
		}
		for _, a := range n.Status.VolumesAttached {
			x.attachedOn[string(a.Name)] = append(x.attachedOn[string(a.Name)], n.Name)
		}
	}
}

// ReportedAttached tells whether the attach-detach controller lists the volume
// in the node's status.volumesAttached.
func (x *Index) ReportedAttached(node string, v *Volume) bool {
	return slices.ContainsFunc(v.UniqueNames(), func(u string) bool { return slices.Contains(x.attachedOn[u], node) })
}

// AttachedNodes are the nodes whose status.volumesAttached lists the volume, sorted.
func (x *Index) AttachedNodes(v *Volume) []string {
	var nodes nodeList
	for _, u := range v.UniqueNames() {
		for _, n := range x.attachedOn[u] {
			nodes.add(n)
		}
	}
	slices.Sort(nodes)
	return nodes
}
