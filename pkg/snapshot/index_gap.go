package snapshot

// Gap returns the gap of exactly this need ("node/worker-3").
func (x *Index) Gap(need string) (Gap, bool) { return Gap{}, false }

// Collected tells whether a resource ("storage.k8s.io/volumeattachments",
// "/pods", "longhorn.io/volumes") was read in full.
func (x *Index) Collected(resource string) bool { return true }

// GapFor returns the first gap that names a resource, in any namespace.
func (x *Index) GapFor(resource string) (Gap, bool) { return Gap{}, false }

// NodeGap tells why there is no view of a node; ok is false when there is one.
func (x *Index) NodeGap(node string) (Gap, bool) { return Gap{}, false }
