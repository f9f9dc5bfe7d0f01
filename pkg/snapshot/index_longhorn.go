package snapshot

import (
	"slices"
	"strings"
)

// LonghornDriver is the CSI driver of Longhorn.
const LonghornDriver = "driver.longhorn.io"

func (x *Index) indexLonghorn() {
	l := &x.Cluster.Longhorn
	x.longhornSpaces = x.findLonghornNamespaces()
	x.longhornNS = x.findLonghornNamespace()
	x.longhornVersion = x.findLonghornVersion()
	x.lhVolumes, x.lhNodes = map[string]*LHVolume{}, map[string]*LHNode{}
	x.lhEngines, x.lhReplicas = map[string][]*LHEngine{}, map[string][]*LHReplica{}
	x.lhShareManagers, x.lhAttachments = map[string]*LHShareManager{}, map[string]*LHAttachment{}
	for _, v := range l.Volumes {
		x.lhVolumes[v.Name] = v
	}
	for _, n := range l.Nodes {
		x.lhNodes[n.Name] = n
	}
	for _, e := range l.Engines {
		x.lhEngines[e.VolumeName] = append(x.lhEngines[e.VolumeName], e)
	}
	for _, r := range l.Replicas {
		x.lhReplicas[r.VolumeName] = append(x.lhReplicas[r.VolumeName], r)
	}
	x.lhFrontends = map[string][]*LHEngineFrontend{}
	for _, f := range l.Frontends {
		x.lhFrontends[f.VolumeName] = append(x.lhFrontends[f.VolumeName], f)
	}
	for _, list := range x.lhFrontends {
		slices.SortFunc(list, func(a, b *LHEngineFrontend) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, list := range x.lhEngines {
		slices.SortFunc(list, func(a, b *LHEngine) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, list := range x.lhReplicas {
		slices.SortFunc(list, func(a, b *LHReplica) int { return strings.Compare(a.Name, b.Name) })
	}
	x.lhRunning = map[string][]*LHInstanceManager{}
	for _, im := range l.InstanceManagers {
		for _, e := range im.Engines {
			if v := VolumeOfEngine(e.Name); e.State == "running" {
				x.lhRunning[v] = append(x.lhRunning[v], im)
			}
		}
	}
	for _, s := range l.ShareManagers {
		x.lhShareManagers[s.Name] = s
	}
	for _, a := range l.Attachments {
		x.lhAttachments[a.Name] = a
		if a.Volume != "" {
			x.lhAttachments[a.Volume] = a
		}
	}
}

// LHNode returns nodes.longhorn.io of a node, or nil.
func (x *Index) LHNode(name string) *LHNode { return x.lhNodes[name] }

// LHVolume returns volumes.longhorn.io by name, or nil.
func (x *Index) LHVolume(name string) *LHVolume { return x.lhVolumes[name] }

// Setting returns the value of a Longhorn setting.
func (x *Index) Setting(name string) (string, bool) {
	for _, s := range x.Cluster.Longhorn.Settings {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// LonghornNamespace is the namespace that Longhorn runs in.
func (x *Index) LonghornNamespace() string { return x.longhornNS }

// LonghornVersion is the version of Longhorn ("v1.7.2"), or empty: the setting
// current-longhorn-version, else the tag of the manager's image.
func (x *Index) LonghornVersion() string { return x.longhornVersion }

func (x *Index) findLonghornVersion() string {
	if v, ok := x.Setting("current-longhorn-version"); ok && v != "" {
		return v
	}
	for _, ds := range x.Cluster.DaemonSets {
		if ds != nil && ds.Namespace == x.longhornNS && (ds.Name == "longhorn-manager" || ds.Labels["app"] == "longhorn-manager") {
			for _, c := range ds.Spec.Template.Spec.Containers {
				if tag := imageTag(c.Image); tag != "" {
					return tag
				}
			}
		}
	}
	for _, p := range x.Cluster.Pods {
		if p == nil || p.Namespace != x.longhornNS || p.Labels["app"] != "longhorn-manager" {
			continue
		}
		for _, c := range p.Spec.Containers {
			if tag := imageTag(c.Image); tag != "" {
				return tag
			}
		}
	}
	return ""
}

// imageTag is the tag of an image reference: the colon after the last slash.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	base := image[strings.LastIndex(image, "/")+1:]
	_, tag, _ := strings.Cut(base, ":")
	return tag
}

// EngineActive returns the engine that serves a volume, or nil: the one marked
// active, else the running one, else the only one. During a live migration two
// engines exist and one is active.
func (x *Index) EngineActive(v *Volume) *LHEngine {
	if v == nil || v.Longhorn == nil {
		return nil
	}
	engines := v.Longhorn.Engines
	for _, e := range engines {
		if e.Active {
			return e
		}
	}
	for _, e := range engines {
		if e.CurrentState == "running" {
			return e
		}
	}
	if len(engines) == 1 {
		return engines[0]
	}
	return nil
}

// FrontendActive returns what makes the block device of a volume of data engine v2
// since Longhorn 1.12, or nil: the one marked active, else the only one. During a live
// migration two exist.
func (x *Index) FrontendActive(v *Volume) *LHEngineFrontend {
	if v == nil || v.Longhorn == nil {
		return nil
	}
	frontends := v.Longhorn.Frontends
	for _, f := range frontends {
		if f.Active {
			return f
		}
	}
	if len(frontends) == 1 {
		return frontends[0]
	}
	return nil
}

// BlockDeviceUp tells whether Longhorn says that it serves the block device of a
// volume. The endpoint is the engine's, but with data engine v2 since 1.12 it is the
// frontend's, and the engine has none.
func (x *Index) BlockDeviceUp(v *Volume) bool {
	e := x.EngineActive(v)
	if e == nil || e.CurrentState != "running" {
		return false
	}
	if f := x.FrontendActive(v); f != nil {
		return f.CurrentState == "running" && f.Endpoint != ""
	}
	return e.Endpoint != ""
}

// EngineRunsIn are the instance-managers that say that they run an engine of a volume.
func (x *Index) EngineRunsIn(v *Volume) []*LHInstanceManager { return x.lhRunning[v.Handle] }

// InstanceManagersOn returns the instance managers of a node.
func (x *Index) InstanceManagersOn(node string) []*LHInstanceManager {
	var out []*LHInstanceManager
	for _, im := range x.Cluster.Longhorn.InstanceManagers {
		if im.NodeID == node {
			out = append(out, im)
		}
	}
	return out
}

// VolumeOfEngine cuts the number off an engine's name: "<volume>-e-<suffix>".
func VolumeOfEngine(engine string) string {
	if i := strings.LastIndex(engine, "-e-"); i > 0 {
		return engine[:i]
	}
	return ""
}

// StoredOn are the Longhorn volumes that have a replica on a node.
func (x *Index) StoredOn(node string) []*Volume {
	var out []*Volume
	for _, v := range x.Volumes {
		if v.IsLonghorn() && slices.ContainsFunc(v.Longhorn.Replicas, func(r *LHReplica) bool { return r.NodeID == node }) {
			out = append(out, v)
		}
	}
	return out
}
