package snapshot

import (
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// sourceOf names the driver and the volume of a PV. For an in-tree source the id
// is the one of GetVolumeName in the plugin (pkg/volume/<plugin> of Kubernetes).
func sourceOf(pv *corev1.PersistentVolume) (driver, handle string) {
	s := &pv.Spec
	if s.CSI != nil {
		return s.CSI.Driver, s.CSI.VolumeHandle
	}
	if driver, handle = cloudSource(s); driver != "" {
		return driver, handle
	}
	switch {
	case s.RBD != nil:
		return "kubernetes.io/rbd", rbdPool(s.RBD) + ":" + s.RBD.RBDImage
	case s.ISCSI != nil:
		return "kubernetes.io/iscsi", fmt.Sprintf("%v:%v:%v", s.ISCSI.TargetPortal, s.ISCSI.IQN, s.ISCSI.Lun)
	case s.FC != nil && len(s.FC.TargetWWNs) > 0 && s.FC.Lun != nil:
		return "kubernetes.io/fc", fmt.Sprintf("%v:%v", s.FC.TargetWWNs, *s.FC.Lun)
	case s.FC != nil:
		return "kubernetes.io/fc", fmt.Sprintf("%v", s.FC.WWIDs)
	case s.NFS != nil:
		return "kubernetes.io/nfs", fmt.Sprintf("%v/%v", s.NFS.Server, s.NFS.Path)
	case s.HostPath != nil:
		return "kubernetes.io/host-path", s.HostPath.Path
	case s.Local != nil:
		return "kubernetes.io/local-volume", pv.Name
	case s.CephFS != nil:
		return "kubernetes.io/cephfs", fmt.Sprintf("%v", s.CephFS.Monitors)
	case s.Glusterfs != nil:
		return "kubernetes.io/glusterfs", fmt.Sprintf("%v:%v", s.Glusterfs.EndpointsName, s.Glusterfs.Path)
	case s.FlexVolume != nil:
		return "flexvolume-" + s.FlexVolume.Driver, pv.Name
	}
	return "", ""
}

// rbdPool is the pool of an in-tree RBD image; the API's default is "rbd".
func rbdPool(s *corev1.RBDPersistentVolumeSource) string {
	if s.RBDPool == "" {
		return "rbd"
	}
	return s.RBDPool
}

func cloudSource(s *corev1.PersistentVolumeSpec) (driver, handle string) {
	switch {
	case s.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs", s.AWSElasticBlockStore.VolumeID
	case s.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd", s.GCEPersistentDisk.PDName
	case s.AzureDisk != nil:
		return "kubernetes.io/azure-disk", s.AzureDisk.DataDiskURI
	case s.AzureFile != nil:
		return "kubernetes.io/azure-file", s.AzureFile.ShareName
	case s.Cinder != nil:
		return "kubernetes.io/cinder", s.Cinder.VolumeID
	case s.VsphereVolume != nil:
		return "kubernetes.io/vsphere-volume", s.VsphereVolume.VolumePath
	case s.PortworxVolume != nil:
		return "kubernetes.io/portworx-volume", s.PortworxVolume.VolumeID
	}
	return "", ""
}

// UniqueName is the volume's name in the status of nodes.
func (v *Volume) UniqueName() string {
	if names := v.UniqueNames(); len(names) > 0 {
		return names[0]
	}
	return ""
}

// UniqueNames are all names that a node's status may use for the volume: under its CSI
// driver and under the plugin inside Kubernetes, in every form that a server wrote.
func (v *Volume) UniqueNames() []string {
	if v == nil || v.Handle == "" {
		return nil
	}
	if (v.PV != nil && v.PV.Spec.CSI != nil) || v.IsLonghorn() {
		return []string{"kubernetes.io/csi/" + v.Driver + "^" + v.Handle}
	}
	var names nodeList
	for _, id := range v.inTreeIDs() {
		names.add(v.Driver + "/" + id)
	}
	csi := migratedDrivers[v.Driver]
	if csi == "" {
		return names
	}
	migrated := "kubernetes.io/csi/" + csi + "^" + v.translatedHandle()
	if v.migratedTo != "" {
		return append([]string{migrated}, names...)
	}
	return append(names, migrated)
}

// Same tells whether two volumes are one in their backend: objects for one handle.
func (v *Volume) Same(o *Volume) bool {
	return v == o || slices.ContainsFunc(v.UniqueNames(), func(u string) bool { return slices.Contains(o.UniqueNames(), u) })
}

// inTreeIDs are the forms in which servers wrote the id of an in-tree volume: GetVolumeName
// of the plugins changed with the versions (azure-disk: the disk's name, later its URI;
// aws-ebs: with and without its zone).
func (v *Volume) inTreeIDs() []string {
	out := []string{v.Handle}
	switch v.Driver {
	case "kubernetes.io/azure-disk":
		if v.PV != nil && v.PV.Spec.AzureDisk != nil {
			out = append(out, v.PV.Spec.AzureDisk.DiskName)
		}
	case "kubernetes.io/aws-ebs":
		id := path.Base(v.Handle)
		out = append(out, id)
		if zone := zoneOf(v.PV); zone != "" {
			out = append(out, "aws://"+zone+"/"+id)
		}
	}
	return slices.DeleteFunc(out, func(id string) bool { return id == "" })
}
