package snapshot

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Index knows what belongs to what. It is computed once from a frozen snapshot
// and is the only place of shared inference: rules ask, they do not join.
type Index struct {
	*Snapshot

	Volumes   []*Volume            // every persistent volume, sorted by key
	NodeViews map[string]*NodeView // probed nodes only
	*lookups
	asked   *memo[string, any] // see Memo
	patient bool               // see Patient
}

// Patient is the same index, for which the last word stands (Standing) as if it were fresh.
func (x *Index) Patient() *Index {
	return &Index{Snapshot: x.Snapshot, Volumes: x.Volumes, NodeViews: x.NodeViews, lookups: x.lookups, asked: new(memo[string, any]), patient: true}
}

// IsPatient tells whether the last word stands.
func (x *Index) IsPatient() bool { return x.patient }

// Volume is one persistent volume with everything that belongs to it. A claim
// without a PV is a Volume, too (PV nil); so is a PV without a claim, and a
// Longhorn volume without a PV.
type Volume struct {
	Claim       *corev1.PersistentVolumeClaim
	PV          *corev1.PersistentVolume
	Class       *storagev1.StorageClass
	Driver      string // CSI driver, or "kubernetes.io/<plugin>" for an in-tree source
	Handle      string // volumeHandle; in-tree: the plugin's id of the volume
	Consumers   []*Consumer
	Attachments []*storagev1.VolumeAttachment // all of this PV, sorted by node
	Longhorn    *LonghornVolume               // nil for other drivers
	Inline      bool                          // of pods' own templates: PV holds the source and is no object
	migratedTo  string                        // CSI driver that took over the in-tree source
	key         string                        // what Key says, once the volume is whole
	stagedHash  string                        // hex sha256 of the handle of its staging directory, once it is whole
}

// Consumer is a pod that names the claim.
type Consumer struct {
	Pod     *corev1.Pod
	Volume  string // spec.volumes[].name
	Block   bool   // used as volumeDevices
	SubPath bool
	Inline  bool // the pod names the source itself, not a claim
}

// LonghornVolume is a Longhorn volume with its parts.
type LonghornVolume struct {
	Volume       *LHVolume // nil when only the PV exists
	Engines      []*LHEngine
	Frontends    []*LHEngineFrontend // of data engine v2, since 1.12
	Replicas     []*LHReplica
	ShareManager *LHShareManager
	Attachment   *LHAttachment
}

// Key identifies a volume for joins: "volume/<driver>^<handle>", or
// "volume/claim/<ns>/<name>" while it has no PV.
func (v *Volume) Key() string {
	switch {
	case v.key != "":
		return v.key
	case v.Handle != "":
		return "volume/" + v.Driver + "^" + v.Handle
	case v.Claim != nil:
		return "volume/claim/" + v.Claim.Namespace + "/" + v.Claim.Name
	case v.PV != nil:
		return "volume/pv/" + v.PV.Name
	}
	return "volume/longhorn/" + v.Longhorn.Volume.Name
}

// VolumeDevice is a block device of a volume on one node.
type VolumeDevice struct {
	Node     string
	View     *NodeView
	Dev      probes.Dev
	Block    *probes.BlockDevice // nil: the number is in no sysfs entry (device gone)
	How      string              // how it was identified: "iSCSI session session3 of iqn…", "dev/longhorn/pvc-…", "rbd device 3", "serial vol0abc", "mount of …/globalmount"
	Locator  string              // where that was read
	Proven   bool                // by identity (IQN, serial, wwid, rbd image, NQN), not by name or by a mount only
	Mapper   *probes.BlockDevice // dm-crypt of the volume (or Longhorn v2 linear) on top, when there is one
	Unlike   string              // what says that it is another disk, mounted at the volume's own paths; a half sentence
	NodePath string              // "/dev/longhorn/<vol>" when such a node exists

	Paths []*probes.BlockDevice // of a SAN volume: every disk that is a path to it, D included; empty with one path
	Stack []*probes.BlockDevice // every device above D that belongs there: Mapper, Longhorn's linear map, the SAN's multipath map, kubelet's loops
}

// Use is one mount line of a device in one namespace.
type Use struct {
	NS    *probes.MountNamespace
	Mount probes.Mount
	Init  bool // in the namespace of process 1
}

// NodeView is a probed node with lookups.
type NodeView struct {
	Name  string
	Facts *probes.Facts
	Init  *probes.MountNamespace // nil when it was not read
	nodeLookups
}

// Contained tells whether process 1 of the node runs in a container itself, as in kind and k3d.
func (v *NodeView) Contained() bool {
	return v.Facts != nil && slices.ContainsFunc([]string{"docker", "containerd", "lxc", "libpod", "kubepods"}, func(w string) bool {
		return strings.Contains(v.Facts.Identity.InitCgroup, w)
	})
}

// Age is the time between t and the snapshot, never negative.
func (x *Index) Age(t time.Time) time.Duration {
	if t.IsZero() || t.After(x.TakenAt) {
		return 0
	}
	return x.TakenAt.Sub(t)
}
