package snapshot

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// addInline makes volumes of what pods name in their own templates: a target, a share,
// an image, a disk. The same source in several pods is one volume, and when a PV has it,
// too, it is that PV's.
func (x *Index) addInline() {
	bySource := map[inlineKey]*Volume{}
	for _, v := range x.Volumes {
		if k := keyOfSource(v); v.PV != nil && v.Handle != "" && bySource[k] == nil {
			bySource[k] = v
		}
	}
	x.inlineOf = map[podVolume]*Volume{}
	for _, pod := range x.Cluster.Pods {
		if pod == nil {
			continue
		}
		for i := range pod.Spec.Volumes {
			source := &pod.Spec.Volumes[i]
			pv := inlinePV(pod.Namespace, source)
			if pv == nil || pv.Spec.HostPath != nil && !holdsData(pod, pv.Spec.HostPath.Path) {
				continue
			}
			if pv.Spec.CSI != nil {
				pv.Spec.CSI.VolumeHandle = inlineHandle(pod, source.Name)
			}
			v := &Volume{PV: pv, Inline: true}
			v.Driver, v.Handle = sourceOf(pv)
			if pv.Spec.HostPath != nil { // each node has its own
				v.Handle = pod.Spec.NodeName + ":" + v.Handle
			}
			if v.Handle == "" { // a plugin of the user's, of which only its script knows what it mounts
				v.Handle = pod.Namespace + "/" + pod.Name + "/" + source.Name
			}
			if k := keyOfSource(v); bySource[k] != nil {
				v = bySource[k]
			} else {
				bySource[k] = v
				v.migratedTo = x.migration(v)
				x.Volumes = append(x.Volumes, v)
			}
			c := newConsumer(pod, source.Name)
			c.Inline = true
			v.Consumers = append(v.Consumers, c)
			x.inlineOf[podVolume{pod, source.Name}] = v
		}
	}
}

// inlineKey is what makes two sources one: the handle names CephFS by its monitors alone, and a share of
// Azure without its account.
type inlineKey struct{ driver, handle, path string }

func keyOfSource(v *Volume) inlineKey {
	k := inlineKey{driver: v.Driver, handle: v.Handle}
	switch {
	case v.PV == nil:
	case v.PV.Spec.CephFS != nil:
		k.path = v.PV.Spec.CephFS.Path
	case v.PV.Spec.AzureFile != nil:
		k.path = v.PV.Spec.AzureFile.SecretName
	}
	return k
}

// podVolume is an entry of a pod's spec.volumes.
type podVolume struct {
	pod  *corev1.Pod
	name string
}

// inlinePV is the PV that would say the same as an inline source, nil for sources that
// are no storage. It has no name: there is no such object.
func inlinePV(namespace string, v *corev1.Volume) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{}}
	to := &pv.Spec.PersistentVolumeSource
	secret := func(r *corev1.LocalObjectReference) *corev1.SecretReference {
		if r == nil {
			return nil
		}
		return &corev1.SecretReference{Namespace: namespace, Name: r.Name}
	}
	switch s := &v.VolumeSource; {
	case s.ISCSI != nil:
		to.ISCSI = &corev1.ISCSIPersistentVolumeSource{TargetPortal: s.ISCSI.TargetPortal, IQN: s.ISCSI.IQN, Lun: s.ISCSI.Lun, ISCSIInterface: s.ISCSI.ISCSIInterface,
			FSType: s.ISCSI.FSType, ReadOnly: s.ISCSI.ReadOnly, Portals: s.ISCSI.Portals, InitiatorName: s.ISCSI.InitiatorName, SecretRef: secret(s.ISCSI.SecretRef)}
	case s.RBD != nil:
		to.RBD = &corev1.RBDPersistentVolumeSource{CephMonitors: s.RBD.CephMonitors, RBDImage: s.RBD.RBDImage, RBDPool: s.RBD.RBDPool, FSType: s.RBD.FSType,
			RadosUser: s.RBD.RadosUser, ReadOnly: s.RBD.ReadOnly, SecretRef: secret(s.RBD.SecretRef)}
	case s.CephFS != nil:
		to.CephFS = &corev1.CephFSPersistentVolumeSource{Monitors: s.CephFS.Monitors, Path: s.CephFS.Path, User: s.CephFS.User, ReadOnly: s.CephFS.ReadOnly, SecretRef: secret(s.CephFS.SecretRef)}
	case s.CSI != nil:
		to.CSI = inlineCSI(s.CSI, secret(s.CSI.NodePublishSecretRef))
	case s.FlexVolume != nil:
		to.FlexVolume = &corev1.FlexPersistentVolumeSource{Driver: s.FlexVolume.Driver, FSType: s.FlexVolume.FSType, ReadOnly: s.FlexVolume.ReadOnly, Options: s.FlexVolume.Options}
	case s.NFS != nil:
		to.NFS = s.NFS
	case s.HostPath != nil && (s.HostPath.Type == nil || slices.Contains(directories, *s.HostPath.Type)):
		to.HostPath = s.HostPath
	case s.FC != nil:
		to.FC = s.FC
	case s.AWSElasticBlockStore != nil:
		to.AWSElasticBlockStore = s.AWSElasticBlockStore
	case s.GCEPersistentDisk != nil:
		to.GCEPersistentDisk = s.GCEPersistentDisk
	case s.AzureDisk != nil:
		to.AzureDisk = s.AzureDisk
	case s.VsphereVolume != nil:
		to.VsphereVolume = s.VsphereVolume
	case s.PortworxVolume != nil:
		to.PortworxVolume = s.PortworxVolume
	case s.Cinder != nil:
		to.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: s.Cinder.VolumeID, FSType: s.Cinder.FSType, ReadOnly: s.Cinder.ReadOnly, SecretRef: secret(s.Cinder.SecretRef)}
	case s.Glusterfs != nil:
		to.Glusterfs = &corev1.GlusterfsPersistentVolumeSource{EndpointsName: s.Glusterfs.EndpointsName, EndpointsNamespace: &namespace, Path: s.Glusterfs.Path, ReadOnly: s.Glusterfs.ReadOnly}
	case s.AzureFile != nil:
		to.AzureFile = &corev1.AzureFilePersistentVolumeSource{SecretName: s.AzureFile.SecretName, SecretNamespace: &namespace, ShareName: s.AzureFile.ShareName, ReadOnly: s.AzureFile.ReadOnly}
	default:
		return nil
	}
	pv.Spec.AccessModes = inlineModes(&v.VolumeSource)
	return pv
}

// directories are the types of a hostPath that can be storage.
var directories = []corev1.HostPathType{corev1.HostPathUnset, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate}

// ofMachine are directories that belong to the machine and to what runs containers on it.
var ofMachine = []string{"bin", "boot", "dev", "etc", "lib", "lib64", "opt/cni", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var/log", "var/run",
	"var/lib/cni", "var/lib/containerd", "var/lib/containers", "var/lib/docker", "var/lib/kubelet", "var/lib/rancher"}

// holdsData tells whether a directory of the host is storage of a pod that has not finished:
// neither the machine's own, nor that of a service which looks after machines: one runs on each, or is privileged.
func holdsData(pod *corev1.Pod, p string) bool {
	p = strings.TrimPrefix(path.Clean(p), "/")
	if pod.Spec.HostPID || slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), privileged) {
		return false
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || p == "" || p == "." || pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
		return false
	}
	return !slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" }) &&
		!slices.ContainsFunc(ofMachine, func(dir string) bool { return probes.Within(p, dir) })
}

func privileged(c corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
}

// inlineCSI is the source of a PV with what an ephemeral volume of a CSI driver has.
func inlineCSI(s *corev1.CSIVolumeSource, secret *corev1.SecretReference) *corev1.CSIPersistentVolumeSource {
	out := &corev1.CSIPersistentVolumeSource{Driver: s.Driver, VolumeAttributes: s.VolumeAttributes, NodePublishSecretRef: secret, ReadOnly: s.ReadOnly != nil && *s.ReadOnly}
	if s.FSType != nil {
		out.FSType = *s.FSType
	}
	return out
}

// inlineHandle is what the kubelet calls an ephemeral volume of a CSI driver
// (makeVolumeHandle in pkg/volume/csi/csi_mounter.go).
func inlineHandle(pod *corev1.Pod, name string) string {
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte(string(pod.UID)+name)))
}

// inlineModes are the access modes that a source has by nature: a disk with a filesystem
// that may be written is for one node, whatever the API lets two pods ask for.
func inlineModes(s *corev1.VolumeSource) []corev1.PersistentVolumeAccessMode {
	readOnly := false
	switch {
	case s.ISCSI != nil:
		readOnly = s.ISCSI.ReadOnly
	case s.RBD != nil:
		readOnly = s.RBD.ReadOnly
	case s.FC != nil:
		readOnly = s.FC.ReadOnly
	case s.AWSElasticBlockStore != nil:
		readOnly = s.AWSElasticBlockStore.ReadOnly
	case s.GCEPersistentDisk != nil:
		readOnly = s.GCEPersistentDisk.ReadOnly
	case s.AzureDisk != nil:
		readOnly = s.AzureDisk.ReadOnly != nil && *s.AzureDisk.ReadOnly
	case s.Cinder != nil:
		readOnly = s.Cinder.ReadOnly
	case s.NFS != nil, s.CephFS != nil, s.AzureFile != nil, s.Glusterfs != nil:
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	case s.FlexVolume != nil, s.CSI != nil, s.HostPath != nil:
		return nil // what it is only its script, driver or node knows
	}
	if readOnly {
		return []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
	}
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
}

// Spoken is how a sentence calls a volume that has no name of its own: "jobs of pod
// cad/plotter", or the handle.
func (v *Volume) Spoken() string {
	if !v.Inline || len(v.Consumers) == 0 {
		return v.Handle
	}
	c := v.Consumers[0]
	return c.Volume + " of pod " + c.Pod.Namespace + "/" + c.Pod.Name
}

// SpecName is what the kubelet calls the volume of one of its pods, in its directories and
// events: like the PV, like the entry in the pod's template, or, where a CSI driver took the
// entry's plugin over, as the translation calls it (TranslateInTreeInlineVolumeToCSI in
// k8s.io/csi-translation-lib/plugins).
func (v *Volume) SpecName(c *Consumer) string {
	if !c.Inline {
		return v.PVName()
	}
	if v.migratedTo == "" {
		return c.Volume
	}
	id := v.Handle
	switch s := &v.PV.Spec; {
	case s.AWSElasticBlockStore != nil:
		id = path.Base(id)
	case s.AzureDisk != nil:
		id = s.AzureDisk.DiskName
	case s.AzureFile != nil:
		return v.azureFileHandle(c.Volume)
	}
	return v.migratedTo + "-" + id
}

// Named tells whether a directory of the kubelet carries its name for the volume: the PV's, or that of a pod which
// names the volume in its own template.
func (v *Volume) Named(p VolumePath) bool {
	return p.PV != "" && p.PV == v.PVName() || v.pathOfInline(p)
}

// pathOfInline tells whether a path is that of a consumer that names the volume in its own
// template: it carries the kubelet's name for it, with "~" for a slash.
func (v *Volume) pathOfInline(p VolumePath) bool {
	if p.PV == "" {
		return false
	}
	for _, c := range v.Consumers {
		ofPod := SameUID(p.PodUID, string(c.Pod.UID))
		if c.Inline && strings.ReplaceAll(v.SpecName(c), "/", "~") == p.PV && (ofPod || p.PodUID == "" && v.migratedTo != "") {
			return true
		}
	}
	return false
}
