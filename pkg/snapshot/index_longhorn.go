package snapshot

// LHNode returns nodes.longhorn.io of a node, or nil.
func (x *Index) LHNode(name string) *LHNode { return nil }

// LHVolume returns volumes.longhorn.io by name, or nil.
func (x *Index) LHVolume(name string) *LHVolume { return nil }

// Setting returns the value of a Longhorn setting.
func (x *Index) Setting(name string) (string, bool) { return "", false }

// LonghornNamespace is the namespace that Longhorn runs in.
func (x *Index) LonghornNamespace() string { return "longhorn-system" }

// LonghornVersion is the version of Longhorn ("v1.7.2"), or empty.
func (x *Index) LonghornVersion() string { return "" }

// EngineActive returns the engine that serves a volume, or nil.
func (x *Index) EngineActive(v *Volume) *LHEngine { return nil }

// InstanceManagersOn returns the instance managers of a node.
func (x *Index) InstanceManagersOn(node string) []*LHInstanceManager { return nil }
