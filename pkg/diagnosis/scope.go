package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// scope is the part of a snapshot that a question is about.
type scope struct {
	subject report.Subject
	volumes []*snapshot.Volume
	nodes   []string
	views   []*snapshot.NodeView // of nodes, as far as they were probed
	found   bool                 // the asked object is in the snapshot
	member  map[*snapshot.Volume]bool
	byKey   map[string]int // where in volumes
	// stored are the volumes of a node question of which the node has a replica
	// and nothing else: they count for what is wrong with that node. They are the
	// last ones of volumes.
	stored     map[string]bool // by key
	alsoStored int
}

func newScope(x *snapshot.Index, q Question) scope {
	s := scopeOf(x, q)
	s.member = make(map[*snapshot.Volume]bool, len(s.volumes))
	s.byKey = make(map[string]int, len(s.volumes))
	for i, v := range s.volumes {
		s.member[v] = !s.stored[v.Key()]
		s.byKey[v.Key()] = i
	}
	for _, n := range s.nodes {
		if view := x.View(n); view != nil {
			s.views = append(s.views, view)
		}
	}
	return s
}

func scopeOf(x *snapshot.Index, q Question) scope {
	s := scope{found: true}
	switch q.Kind {
	case "pvc":
		s.subject = report.Subject{Kind: "PersistentVolumeClaim", Namespace: q.Namespace, Name: q.Name}
		v := x.VolumeOfClaim(q.Namespace, q.Name)
		if v == nil {
			v = x.VolumeNaming(q.Namespace, q.Name)
		}
		s.addVolume(v)
	case "pod":
		s.subject = report.Subject{Kind: "Pod", Namespace: q.Namespace, Name: q.Name}
		if pod := x.Pod(q.Namespace, q.Name); pod != nil {
			s.volumes = x.VolumesOfPod(pod)
			s.addNode(pod.Spec.NodeName)
		} else {
			s.found = false
		}
	case "volume":
		s.subject = report.Subject{Kind: "PersistentVolume", Name: q.Name}
		v := x.VolumeOfPV(q.Name)
		if v == nil {
			if v = x.VolumeOfLonghorn(q.Name); v == nil {
				v = claimedOnly(x, q.Name)
			} else {
				s.subject.Kind = "Volume"
			}
		}
		s.addVolume(v)
	case "node":
		s.subject = NodeSubject(q.Name)
		s.volumes = x.VolumesOn(q.Name)
		s.nodes = []string{q.Name}
		s.addStored(x, q.Name)
		s.found = x.Node(q.Name) != nil || x.View(q.Name) != nil
		return s
	case "cluster":
		s.subject = report.Subject{Kind: "Cluster", Namespace: q.Namespace, Name: "cluster"}
		s.addCluster(x, q.Namespace)
		return s
	}
	s.addSiblings(x)
	for _, v := range s.volumes {
		s.addNodesOf(x, v)
	}
	return s
}

// claimedOnly is the volume of a claim that is bound to a PersistentVolume of a name that is no more.
func claimedOnly(x *snapshot.Index, name string) *snapshot.Volume {
	for _, v := range x.Volumes {
		if v.PV == nil && v.Claim != nil && v.Claim.Spec.VolumeName == name && x.Collected("/persistentvolumes") {
			return v
		}
	}
	return nil
}

// addCluster adds everything, or what belongs to a namespace.
func (s *scope) addCluster(x *snapshot.Index, namespace string) {
	if namespace != "" {
		s.addNamespace(x, namespace)
		return
	}
	s.volumes, s.nodes = x.Volumes, x.VolumeNodes()
	for n := range x.NodeViews {
		s.nodes = append(s.nodes, n)
	}
	slices.Sort(s.nodes)
	s.nodes = slices.Compact(s.nodes)
}

// addNamespace adds the volumes that are claimed or used in a namespace, and their nodes.
func (s *scope) addNamespace(x *snapshot.Index, namespace string) {
	s.volumes = x.VolumesIn(namespace)
	for _, v := range s.volumes {
		s.addNodesOf(x, v)
	}
	s.found = len(s.volumes) > 0 || len(x.PodsIn(namespace)) > 0
}

func (s *scope) addVolume(v *snapshot.Volume) {
	if v == nil {
		s.found = false
		return
	}
	s.volumes = append(s.volumes, v)
}

// addNodesOf adds the nodes that matter to a volume, those nearest to the fault first.
func (s *scope) addNodesOf(x *snapshot.Index, v *snapshot.Volume) {
	for _, n := range x.DeviceNodes(v) {
		s.addNode(n)
	}
	for _, c := range v.Consumers {
		s.addNode(c.Pod.Spec.NodeName)
	}
	for _, n := range x.OtherNodes(v) {
		s.addNode(n)
	}
}

func (s *scope) addNode(n string) {
	if n != "" && !slices.Contains(s.nodes, n) {
		s.nodes = append(s.nodes, n)
	}
}

// addSiblings adds the other volumes of pods that wait: what blocks one of them
// keeps the asked claim's pod waiting, too.
func (s *scope) addSiblings(x *snapshot.Index) {
	for _, v := range slices.Clone(s.volumes) {
		for _, w := range v.Waiting() {
			s.volumes = evidence.Once(s.volumes, x.VolumesOfPod(w.Pod)...)
		}
	}
}

// addStored adds the Longhorn volumes that only have a replica on a node: its disks
// can be the reason why they fail.
func (s *scope) addStored(x *snapshot.Index, node string) {
	s.stored = map[string]bool{}
	for _, v := range x.StoredOn(node) {
		if !slices.Contains(s.volumes, v) {
			s.volumes = append(s.volumes, v)
			s.stored[v.Key()] = true
			s.alsoStored++
		}
	}
}
