package snapshot

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

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
	Volume     string // of a subPath: the PV or spec.volumes[].name; of in-tree staging: the directory
	Container  string
	Index      string
}

// VolumeMount is a mount in init's namespace whose path belongs to a volume.
type VolumeMount struct {
	Use
	Path VolumePath
}

// ParseVolumePath takes a path below a kubelet root apart. What lies deeper than
// the mount point itself (a CSI driver may append the handle to the staging
// path) is accepted for staging only.
func ParseVolumePath(root, p string) (VolumePath, bool) {
	root = strings.TrimSuffix(root, "/")
	rest, ok := strings.CutPrefix(strings.TrimSuffix(p, "//deleted"), root+"/")
	if !ok {
		return VolumePath{}, false
	}
	parts := strings.Split(rest, "/")
	switch {
	case len(parts) >= 4 && parts[0] == "pods":
		return parsePodPath(parts[1], parts[2:])
	case len(parts) >= 4 && parts[0] == "plugins":
		return parsePluginPath(parts[1]+"/"+parts[2], parts[3:])
	}
	return VolumePath{}, false
}

// parsePodPath reads what stands below pods/<uid>.
func parsePodPath(uid string, parts []string) (VolumePath, bool) {
	v := VolumePath{PodUID: uid}
	switch {
	case parts[0] == "volumes" && len(parts) == 3,
		parts[0] == "volumes" && len(parts) == 4 && parts[3] == "mount":
		v.Kind, v.Plugin, v.PV = Publish, parts[1], parts[2]
	case parts[0] == "volume-subpaths" && len(parts) == 4:
		v.Kind, v.Volume, v.Container, v.Index = SubPath, parts[1], parts[2], parts[3]
		v.PV = parts[1]
	case parts[0] == "volumeDevices" && len(parts) == 3:
		v.Kind, v.Plugin, v.PV = BlockPublish, parts[1], parts[2]
	default:
		return v, false
	}
	return v, true
}

// parsePluginPath reads what stands below plugins/<vendor>/<plugin>.
func parsePluginPath(plugin string, parts []string) (VolumePath, bool) {
	v := VolumePath{Plugin: plugin}
	if plugin != "kubernetes.io/csi" {
		// In-tree and FlexVolume: mounts/<id>; rbd also has rbd/<pool>-image-<image>.
		if len(parts) >= 2 && (parts[0] == "mounts" || (plugin == "kubernetes.io/rbd" && parts[0] == "rbd")) {
			v.Kind, v.Volume = Staging, strings.Join(parts[1:], "/")
			return v, true
		}
		if plugin == "kubernetes.io/fc" || plugin == "kubernetes.io/iscsi" || plugin == "kubernetes.io/local-volume" {
			v.Kind, v.Volume = Staging, strings.Join(parts, "/")
			return v, true
		}
		return v, false
	}
	if parts[0] == "volumeDevices" {
		return parseBlockPath(v, parts[1:])
	}
	if len(parts) < 3 || parts[2] != "globalmount" {
		return v, false
	}
	v.Kind = Staging
	if parts[0] == "pv" {
		v.PV = parts[1]
	} else {
		v.Driver, v.HandleHash = parts[0], parts[1]
	}
	return v, true
}

// parseBlockPath reads what stands below plugins/kubernetes.io/csi/volumeDevices.
func parseBlockPath(v VolumePath, parts []string) (VolumePath, bool) {
	switch {
	case len(parts) >= 2 && parts[0] == "staging":
		v.Kind, v.PV = BlockStaging, parts[1]
	case len(parts) == 3 && parts[0] == "publish":
		v.Kind, v.PV, v.PodUID = BlockPublish, parts[1], parts[2]
	case len(parts) == 3 && parts[1] == "dev":
		v.Kind, v.PV, v.PodUID = BlockDev, parts[0], parts[2]
	default:
		return v, false
	}
	return v, true
}

// indexPaths finds init's mounts that are volume paths. A root that is a link is
// seen by its real name in mountinfo, so both are tried.
func (n *NodeView) indexPaths() {
	if n.Init == nil {
		return
	}
	for _, m := range n.Init.Mounts {
		if p, ok := n.ParsePath(m.Point); ok {
			n.paths = append(n.paths, VolumeMount{Use: Use{NS: n.Init, Mount: m, Init: true}, Path: p})
		}
	}
}

// ParsePath takes a path below this node's kubelet root apart, under the name
// that is configured and under the real one.
func (n *NodeView) ParsePath(p string) (VolumePath, bool) {
	if n == nil {
		return VolumePath{}, false
	}
	v, ok := ParseVolumePath(n.root, p)
	if !ok && n.realRoot != "" && n.realRoot != n.root {
		v, ok = ParseVolumePath(n.realRoot, p)
	}
	return v, ok
}

// VolumePaths returns every mount of init's namespace that is a volume path.
func (n *NodeView) VolumePaths() []VolumeMount {
	if n == nil {
		return nil
	}
	return n.paths
}

// VolumeMounts returns the mounts of a volume on a node by their paths.
func (x *Index) VolumeMounts(v *Volume, node string) []VolumeMount {
	view := x.View(node)
	if view == nil || v == nil {
		return nil
	}
	var out []VolumeMount
	for _, m := range view.paths {
		if pathIsOf(view, m, v) {
			out = append(out, m)
		}
	}
	return out
}

func pathIsOf(view *NodeView, m VolumeMount, v *Volume) bool {
	p := m.Path
	switch {
	case p.HandleHash != "":
		return v.Handle != "" && p.HandleHash == v.stagedHash && (p.Driver == v.Driver || p.Driver == v.CSIName())
	case v.Named(p):
		return true
	case p.Kind == Staging && p.Volume != "":
		return stagedInTree(v, p)
	case p.Kind == Publish && p.Plugin == "kubernetes.io~csi":
		return volDataNames(view, path.Dir(m.Mount.Point), v)
	case p.Kind == SubPath:
		return subPathOf(v, p)
	}
	return false
}

// subPathOf matches a subPath directory that is named like the pod's volume.
func subPathOf(v *Volume, p VolumePath) bool {
	return slices.ContainsFunc(v.Consumers, func(c *Consumer) bool {
		return c.Volume == p.Volume && SameUID(string(c.Pod.UID), p.PodUID)
	})
}

// volDataNames tells whether the vol_data.json in a directory names the volume.
func volDataNames(view *NodeView, dir string, v *Volume) bool {
	if v.Handle == "" {
		return false
	}
	for i := range view.Facts.Kubelet.VolData {
		d := &view.Facts.Kubelet.VolData[i]
		if path.Dir("/"+strings.TrimPrefix(d.Path, "/")) == dir {
			return d.Values["volumeHandle"] == v.stagedHandle() && d.Values["driverName"] == v.CSIName()
		}
	}
	return false
}

// stagedInTree matches the directory that an in-tree plugin makes for a PV:
// makePDNameInternal of each plugin.
func stagedInTree(v *Volume, p VolumePath) bool {
	if v.PV == nil || !strings.HasPrefix(v.Driver, p.Plugin) && v.Driver != "flexvolume-"+p.Plugin {
		return false
	}
	s := &v.PV.Spec
	switch {
	case s.RBD != nil:
		return p.Volume == s.RBD.RBDPool+"-image-"+s.RBD.RBDImage
	case s.ISCSI != nil:
		return strings.Contains(p.Volume, s.ISCSI.IQN+"-lun-") && strings.HasSuffix(p.Volume, "-lun-"+decimal(s.ISCSI.Lun))
	case s.FC != nil && s.FC.Lun != nil:
		return slices.ContainsFunc(s.FC.TargetWWNs, func(w string) bool { return strings.Contains(p.Volume, w) }) &&
			strings.HasSuffix(p.Volume, "-lun-"+decimal(*s.FC.Lun))
	}
	id := v.Handle
	if s.AWSElasticBlockStore != nil {
		// "aws://zone/vol-…" becomes "aws/zone/vol-…".
		id = strings.Replace(id, "://", "/", 1)
	}
	return id != "" && (p.Volume == id || path.Base(p.Volume) == path.Base(id))
}

// VolumeOfPath returns the volume that a mount point on a node belongs to, or nil.
func (x *Index) VolumeOfPath(node, point string) *Volume {
	return x.volumeOfPath.get(node+"\x00"+point, func(string) *Volume { return x.findVolumeOfPath(node, point) })
}

func (x *Index) findVolumeOfPath(node, point string) *Volume {
	view := x.View(node)
	p, ok := view.ParsePath(point)
	if !ok {
		return nil
	}
	if v := x.volumesByPV[p.PV]; p.PV != "" && v != nil {
		return v
	}
	m := VolumeMount{Use: Use{Mount: probes.Mount{Point: point}}, Path: p}
	if i := slices.IndexFunc(x.Volumes, func(v *Volume) bool { return pathIsOf(view, m, v) }); i >= 0 {
		return x.Volumes[i]
	}
	return nil
}

// StagedElsewhere tells whether a text names the staging directory of another volume:
// plugins/kubernetes.io/csi/DRIVER/SHA256/globalmount (makeDeviceMountPath, pkg/volume/csi/csi_attacher.go).
func (v *Volume) StagedElsewhere(text string) bool {
	before, _, found := strings.Cut(text, "/globalmount")
	hash := path.Base(before)
	return found && len(hash) == 64 && v.stagedHash != "" && hash != v.stagedHash
}
