package vm

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// kind is a kind of volume: its driver, and what the driver's objects say.
type kind struct {
	Driver   string
	Class    string
	Attached bool // there are VolumeAttachments
	Here     bool // the volume is on the node's own disks
	Longhorn bool
	Secret   string
	FSType   string
	Options  string
	Pods     []pod
	// attributes of the volume, from what the guest wrote down
	attributes func(*Result) map[string]string
	// words of the driver and the kubelet around those of the program that really refused
	words func(*Result) string
}

// pod is one of the pods whose processes guest/node.sh starts.
type pod struct {
	Name, Namespace, Image, UID, Digit string
	Labels                             map[string]string
	HostRoot                           bool // has the node's root as a volume
}

var exporter = pod{
	Name: "node-exporter", Namespace: "monitoring", Image: "quay.io/prometheus/node-exporter:v1.8.2",
	UID: "9c3b6f52-0c1d-4f5b-a1b6-2f3dce0a7d03", Digit: "4", HostRoot: true,
}

// plugin is the pod that guest/node.sh starts for the driver.
func plugin(name, namespace, image string) pod {
	return pod{Name: name, Namespace: namespace, Image: image, UID: "5d0a1f1e-7f3c-4a58-9a1f-6be6b2c54f02", Digit: "2"}
}

var longhorn = kind{
	Driver: "driver.longhorn.io", Class: "longhorn", Attached: true, Longhorn: true, FSType: "ext4",
	Pods: []pod{
		{
			Name: "instance-manager", Namespace: "longhorn-system", Image: "longhornio/longhorn-instance-manager:v1.8.1",
			UID: "2b7f0b9e-51c7-4d3a-8f5e-0a4f4f6f1c01", Digit: "1",
			Labels: map[string]string{"longhorn.io/component": "instance-manager", "longhorn.io/node": "vm-node"},
		},
		plugin("longhorn-csi-plugin", "longhorn-system", "longhornio/longhorn-manager:v1.8.1"),
		{
			Name: "longhorn-manager", Namespace: "longhorn-system", Image: "longhornio/longhorn-manager:v1.8.1",
			UID: "5d0a1f1e-7f3c-4a58-9a1f-6be6b2c54f05", Digit: "5",
		},
	},
	attributes: func(*Result) map[string]string { return map[string]string{"numberOfReplicas": "1"} },
	words:      func(r *Result) string { return formatAndMount(r, "/dev/longhorn/"+r.Volume) },
}

// kinds are the others, by driver.
var kinds = []kind{
	{
		Driver: "smb.csi.k8s.io", Class: "smb", Secret: "smbcreds", Options: "[vers=3.0, dir_mode=0777, file_mode=0777]",
		Pods:       []pod{plugin("csi-smb-node", "kube-system", "registry.k8s.io/sig-storage/smbplugin:v1.16.0")},
		attributes: func(r *Result) map[string]string { return map[string]string{"source": r.Source} },
		words: func(r *Result) string {
			return deviceFailed(r, fmt.Sprintf("volume(%s) mount %q on %q failed with %s", r.Volume, r.Source, r.stage(),
				mountFailed("-t cifs -o vers=3.0,dir_mode=0777,file_mode=0777,<masked> "+r.Source+" "+r.stage(), r.Refused)))
		},
	},
	{
		Driver: "ru.yandex.s3.csi", Class: "s3",
		Pods: []pod{plugin("csi-s3", "kube-system", "cr.yandex/crp9ftr22d26age3hulg/csi-s3-driver:0.42.1")},
		attributes: func(r *Result) map[string]string {
			return map[string]string{"capacity": "67108864", "mounter": "geesefs"}
		},
	},
	{
		Driver: "local.csi.openebs.io", Class: "openebs-lvmpv", Here: true, FSType: "ext4",
		Pods: []pod{plugin("openebs-lvm-localpv-node", "openebs", "openebs/lvm-driver:1.6.2")},
		attributes: func(*Result) map[string]string {
			return map[string]string{"openebs.io/cas-type": "localpv-lvm", "openebs.io/volgroup": "lvmvg"}
		},
		words: func(r *Result) string {
			return fmt.Sprintf("MountVolume.SetUp failed for volume %q : rpc error: code = Internal desc = failed to format and mount the volume error: %s", r.Volume,
				mountFailed(fmt.Sprintf("-t ext4 -o defaults /dev/lvmvg/%s %s", r.Volume, r.publish()), r.Refused))
		},
	},
	{
		Driver: "csi.array.example", Class: "array", Attached: true, FSType: "ext4",
		Pods: []pod{plugin("array-csi-node", "array", "registry.example/array-csi:2.4.0")},
		attributes: func(r *Result) map[string]string {
			return map[string]string{"targetPortal": r.Server, "iqn": r.Target, "lun": "1", "wwid": r.WWID}
		},
		words: func(r *Result) string { return formatAndMount(r, "/dev/"+r.Disk) },
	},
}

func (r *Result) kind() kind {
	for _, k := range kinds {
		if k.Driver == r.Driver {
			return k
		}
	}
	return longhorn
}

// Attributes are those of the PV.
func (r *Result) Attributes() map[string]string { return r.kind().attributes(r) }

// Shared tells whether several nodes may use the volume.
func (r *Result) Shared() bool { return r.kind().Longhorn && r.Server != "" || r.Source != "" }

// stage and publish are the kubelet's directories; see guest/volume.sh.
func (r *Result) stage() string {
	return fmt.Sprintf("/var/lib/kubelet/plugins/kubernetes.io/csi/%s/%x/globalmount", r.Driver, sha256.Sum256([]byte(r.Volume)))
}

func (r *Result) publish() string {
	return fmt.Sprintf("/var/lib/kubelet/pods/%s/volumes/kubernetes.io~csi/%s/mount", r.PodUID, r.Volume)
}

// Finalizer is the attacher's, without its prefix.
func (k kind) Finalizer() string { return strings.ReplaceAll(k.Driver, ".", "-") }

func deviceFailed(r *Result, reason string) string {
	return fmt.Sprintf("MountVolume.MountDevice failed for volume %q : rpc error: code = Internal desc = %s", r.Volume, reason)
}

// mountFailed is how mount-utils words a mount(8) that failed.
func mountFailed(arguments, output string) string {
	return fmt.Sprintf("mount failed: exit status 32\nMounting command: mount\nMounting arguments: %s\nOutput: %s\n", arguments, output)
}

// formatAndMount are the words of mount-utils for a disk.
func formatAndMount(r *Result, device string) string {
	switch {
	case strings.HasPrefix(r.Refused, "'fsck'"):
		return deviceFailed(r, r.Refused)
	case strings.Contains(r.Refused, "mke2fs"):
		return deviceFailed(r, fmt.Sprintf("format of disk %q failed: type:(\"ext4\") target:(%q) options:(\"defaults\") errcode:(exit status 1) output:(%s\n) ",
			device, r.stage(), r.Refused))
	}
	return deviceFailed(r, mountFailed(fmt.Sprintf("-t ext4 -o defaults %s %s", device, r.stage()), r.Refused))
}
