package snapshot

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// migratedDrivers is the CSI driver that took over an in-tree plugin
// (k8s.io/csi-translation-lib).
var migratedDrivers = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/azure-file":      "file.csi.azure.com",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
}

// Twins are a CSI driver and the plugin inside Kubernetes that it took over, given either
// of the two; one that has no twin stands alone.
func Twins(driver string) (csi, plugin string) {
	if d := migratedDrivers[driver]; d != "" {
		return d, driver
	}
	for p, d := range migratedDrivers {
		if d == driver {
			return driver, p
		}
	}
	return driver, ""
}

// CSIName is the CSI driver that serves the volume, also for an in-tree source that
// was migrated to one; empty when none does.
func (v *Volume) CSIName() string {
	if v == nil {
		return ""
	}
	if (v.PV != nil && v.PV.Spec.CSI != nil) || v.IsLonghorn() {
		return v.Driver
	}
	return v.migratedTo
}

// CSIHandle is the volume's handle as its CSI driver knows it.
func (v *Volume) CSIHandle() string {
	if v != nil && v.migratedTo != "" {
		return v.translatedHandle()
	}
	if v.CSIName() == "" {
		return ""
	}
	return v.Handle
}

// stagedHandle is the handle of the volume's staging directory.
func (v *Volume) stagedHandle() string {
	if v.migratedTo != "" {
		return v.translatedHandle()
	}
	return v.Handle
}

// annotationMigratedTo is written on a PV when its plugin was migrated
// (pkg/controller/volume/persistentvolume of Kubernetes).
const annotationMigratedTo = "pv.kubernetes.io/migrated-to"

// migration tells which CSI driver took an in-tree volume over. On an old cluster
// none did: the driver must be seen to be there, or the PV says so.
func (x *Index) migration(v *Volume) string {
	driver := migratedDrivers[v.Driver]
	if driver == "" {
		return ""
	}
	if v.PV != nil && v.PV.Annotations[annotationMigratedTo] == driver || v.PV == nil && claimMigrated(v.Claim, driver) || x.CSIDriver(driver) != nil || x.inTreeGone() {
		return driver
	}
	for _, n := range x.Cluster.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if d.Name == driver {
				return driver
			}
		}
	}
	return ""
}

// AttachedByCSI tells whether VolumeAttachments alone give the volume to a node: its PV is one of
// CSI, or its plugin is gone for sure. A driver that is there may stand beside a plugin that still
// attaches by itself.
func (v *Volume) AttachedByCSI(x *Index) bool {
	return v.PV != nil && v.AttachRequired(x) && (v.PV.Spec.CSI != nil || v.migratedTo != "" && (v.PV.Annotations[annotationMigratedTo] == v.migratedTo || x.inTreeGone()))
}

// claimMigrated tells whether the PV controller hands a claim to a driver.
func claimMigrated(c *corev1.PersistentVolumeClaim, driver string) bool {
	if c == nil {
		return false
	}
	for _, k := range []string{annotationMigratedTo, ProvisionerNow, ProvisionerBeta} {
		if c.Annotations[k] == driver {
			return true
		}
	}
	return false
}

// inTreeGone tells whether the server is so new that migration can no longer be
// switched off: locked for the last of these plugins but Portworx in 1.27.
func (x *Index) inTreeGone() bool {
	for _, version := range append(x.kubeletVersions(), x.Server) {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
		minor, _, _ := strings.Cut(rest, ".")
		if n, err := strconv.Atoi(strings.TrimRight(minor, "+")); ok && err == nil && n >= 27 {
			return true
		}
	}
	return false
}

// kubeletVersions are those of the nodes: none is newer than the API server (version skew policy).
func (x *Index) kubeletVersions() []string {
	var out []string
	for _, n := range x.Cluster.Nodes {
		if n == nil {
			continue
		}
		if v := n.Status.NodeInfo.KubeletVersion; !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// translatedHandle is the handle that the translation makes of the plugin's id
// (k8s.io/csi-translation-lib/plugins).
func (v *Volume) translatedHandle() string {
	switch v.Driver {
	case "kubernetes.io/aws-ebs": // aws://zone/vol-0abc
		return path.Base(v.Handle)
	case "kubernetes.io/gce-pd":
		return "projects/UNSPECIFIED/zones/" + cmp.Or(zoneOf(v.PV), "UNSPECIFIED") + "/disks/" + v.Handle
	case "kubernetes.io/azure-file":
		name := v.PVName()
		if v.Inline && len(v.Consumers) > 0 {
			name = v.Consumers[0].Volume
		}
		return v.azureFileHandle(name)
	}
	return v.Handle
}

// annotationAzureGroup names the resource group of a share's account.
const annotationAzureGroup = "kubernetes.io/azure-file-resource-group"

// azureFileHandle is group#account#share#name#namespace: the account is told by the name of the secret, the
// name is that of the PV, or of the entry in a pod's volumes (k8s.io/csi-translation-lib/plugins/azure_file.go).
func (v *Volume) azureFileHandle(name string) string {
	if v.PV == nil || v.PV.Spec.AzureFile == nil {
		return v.Handle
	}
	s, namespace := v.PV.Spec.AzureFile, ""
	switch {
	case s.SecretNamespace != nil:
		namespace = *s.SecretNamespace
	case v.PV.Spec.ClaimRef != nil:
		namespace = v.PV.Spec.ClaimRef.Namespace
	}
	account := s.SecretName
	if _, rest, ok := strings.Cut(account, "azure-storage-account-"); ok {
		if i := strings.LastIndex(rest, "-secret"); i > 0 {
			account = rest[:i]
		}
	}
	return strings.Join([]string{v.PV.Annotations[annotationAzureGroup], account, s.ShareName, name, namespace}, "#")
}

// zoneOf is the zone of a PV's labels, or that of its node affinity.
func zoneOf(pv *corev1.PersistentVolume) string {
	if pv == nil {
		return ""
	}
	keys := []string{corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone}
	for _, k := range keys {
		if z := pv.Labels[k]; z != "" && !strings.Contains(z, "__") {
			return z
		}
	}
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return ""
	}
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if (e.Key == keys[0] || e.Key == keys[1]) && len(e.Values) == 1 {
				return e.Values[0]
			}
		}
	}
	return ""
}
