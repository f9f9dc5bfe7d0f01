package snapshot

// The kinds of paths below the kubelet's root that belong to a volume.
const (
	Staging      = "staging"      // globalmount
	Publish      = "publish"      // below pods/<uid>/volumes
	SubPath      = "subpath"      // below pods/<uid>/volume-subpaths
	BlockStaging = "blockstaging" // volumeDevices/staging/<pv>
	BlockPublish = "blockpublish" // volumeDevices/publish/<pv>/<uid>
	BlockDev     = "blockdev"     // volumeDevices/<pv>/dev/<uid>
)

// VolumePath is a path below the kubelet's root, taken apart.
type VolumePath struct {
	Kind       string
	PodUID     string
	PV         string // PV name or specName
	Plugin     string // kubernetes.io~csi, kubernetes.io/csi …
	Driver     string
	HandleHash string // hex sha256 of the volume handle
	Volume     string // of a subPath: spec.volumes[].name of the pod, or the PV
	Container  string
	Index      string
}

// ParseVolumePath takes a path below a kubelet root apart.
func ParseVolumePath(root, path string) (VolumePath, bool) { return VolumePath{}, false }

// VolumeMount is a mount in init's namespace whose path belongs to a volume.
type VolumeMount struct {
	Use
	Path VolumePath
}

// VolumeMounts returns the mounts of a volume on a node by their paths.
func (x *Index) VolumeMounts(v *Volume, node string) []VolumeMount { return nil }

// VolumeOfPath returns the volume that a path on a node belongs to, or nil.
func (x *Index) VolumeOfPath(node, path string) *Volume { return nil }
