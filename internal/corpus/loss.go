package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Loss is one way in which a snapshot can be less than there was to see. Whatever is
// lost, no answer may become stronger and nothing may become well.
type Loss struct {
	Name string
	Take func() *snapshot.Snapshot
}

// Losses are all ways in which this snapshot can lose evidence: a node that was not
// probed, a resource that may not be read, rights in one namespace only, an unreadable
// mount namespace or table of descriptors, a probe that did not end, an answer that was
// cut off.
func Losses(s *snapshot.Snapshot, ask diagnosis.Question) []Loss {
	var out []Loss
	for _, node := range slices.Sorted(maps.Keys(s.Nodes)) {
		out = append(out, Loss{"node/" + node, func() *snapshot.Snapshot {
			l := copied(s)
			delete(l.Nodes, node)
			return gap(l, "node/"+node, snapshot.Timeout)
		}})
		out = append(out, lossesOf(s, node)...)
	}
	for _, need := range slices.Sorted(maps.Keys(resources)) {
		out = append(out, Loss{need, func() *snapshot.Snapshot {
			l := copied(s)
			resources[need](&l.Cluster, "")
			return gap(l, need, snapshot.Forbidden)
		}})
	}
	return append(out, narrow(s, ask)...)
}

// narrow are the rights of somebody who may read one namespace, and those of somebody
// whose lists were cut after their first half.
func narrow(s *snapshot.Snapshot, ask diagnosis.Question) []Loss {
	var out []Loss
	if ask.Namespace != "" {
		out = append(out, Loss{"rights in namespace " + ask.Namespace, func() *snapshot.Snapshot {
			l := copied(s)
			for need, keep := range resources {
				keep(&l.Cluster, ask.Namespace)
				gap(l, need, snapshot.Forbidden)
			}
			return l
		}})
	}
	for _, need := range []string{"api//pods", "api//persistentvolumes", "api/storage.k8s.io/volumeattachments", "api//events"} {
		out = append(out, Loss{need + " half", func() *snapshot.Snapshot {
			l := copied(s)
			c := &l.Cluster
			switch need {
			case "api//pods":
				c.Pods = half(c.Pods)
			case "api//persistentvolumes":
				c.PVs = half(c.PVs)
			case "api//events":
				c.Events = half(c.Events)
			default:
				c.Attachments = half(c.Attachments)
			}
			return gap(l, need, snapshot.Truncated)
		}})
	}
	return out
}

func half[T any](list []T) []T { return list[:len(list)/2] }

func gap(s *snapshot.Snapshot, need, reason string) *snapshot.Snapshot {
	s.Gaps = append(s.Gaps, snapshot.Gap{Need: need, Reason: reason, Detail: "lost by the test"})
	return s
}

// copied is a snapshot whose lists can be replaced without touching the first.
func copied(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := *s
	l.Gaps = slices.Clone(s.Gaps)
	l.Nodes = maps.Clone(s.Nodes)
	l.Logs = slices.Clone(s.Logs)
	return &l
}

// resources are the lists that a right can be missing for. With a namespace the objects
// of that one stay.
var resources = map[string]func(c *snapshot.Cluster, stay string){
	"api//pods":                   func(c *snapshot.Cluster, ns string) { c.Pods = within(c.Pods, ns) },
	"api//nodes":                  func(c *snapshot.Cluster, ns string) { c.Nodes = within(c.Nodes, ns) },
	"api//persistentvolumes":      func(c *snapshot.Cluster, ns string) { c.PVs = within(c.PVs, ns) },
	"api//persistentvolumeclaims": func(c *snapshot.Cluster, ns string) { c.Claims = within(c.Claims, ns) },
	"api//events": func(c *snapshot.Cluster, ns string) {
		c.Events = slices.DeleteFunc(slices.Clone(c.Events), func(e *snapshot.Event) bool { return e == nil || ns == "" || e.Namespace != ns })
	},
	"api//services":                              func(c *snapshot.Cluster, ns string) { c.Services = within(c.Services, ns) },
	"api//endpoints":                             func(c *snapshot.Cluster, ns string) { c.Endpoints = within(c.Endpoints, ns) },
	"api/apps/daemonsets":                        func(c *snapshot.Cluster, ns string) { c.DaemonSets = within(c.DaemonSets, ns) },
	"api/apps/deployments":                       func(c *snapshot.Cluster, ns string) { c.Deployments = within(c.Deployments, ns) },
	"api/apps/replicasets":                       func(c *snapshot.Cluster, ns string) { c.ReplicaSets = within(c.ReplicaSets, ns) },
	"api/apps/statefulsets":                      func(c *snapshot.Cluster, ns string) { c.StatefulSets = within(c.StatefulSets, ns) },
	"api/coordination.k8s.io/leases":             func(c *snapshot.Cluster, ns string) { c.Leases = within(c.Leases, ns) },
	"api/storage.k8s.io/storageclasses":          func(c *snapshot.Cluster, ns string) { c.StorageClasses = within(c.StorageClasses, ns) },
	"api/storage.k8s.io/csidrivers":              func(c *snapshot.Cluster, ns string) { c.CSIDrivers = within(c.CSIDrivers, ns) },
	"api/storage.k8s.io/csinodes":                func(c *snapshot.Cluster, ns string) { c.CSINodes = within(c.CSINodes, ns) },
	"api/storage.k8s.io/volumeattachments":       func(c *snapshot.Cluster, ns string) { c.Attachments = within(c.Attachments, ns) },
	"api/storage.k8s.io/csistoragecapacities":    func(c *snapshot.Cluster, ns string) { c.Capacities = within(c.Capacities, ns) },
	"api/storage.k8s.io/volumeattributesclasses": func(c *snapshot.Cluster, ns string) { c.AttributesClasses = within(c.AttributesClasses, ns) },
	"api/longhorn.io/volumes":                    func(c *snapshot.Cluster, ns string) { c.Longhorn.Volumes = none(c.Longhorn.Volumes, ns) },
	"api/longhorn.io/engines":                    func(c *snapshot.Cluster, ns string) { c.Longhorn.Engines = none(c.Longhorn.Engines, ns) },
	"api/longhorn.io/replicas":                   func(c *snapshot.Cluster, ns string) { c.Longhorn.Replicas = none(c.Longhorn.Replicas, ns) },
	"api/longhorn.io/nodes":                      func(c *snapshot.Cluster, ns string) { c.Longhorn.Nodes = none(c.Longhorn.Nodes, ns) },
	"api/longhorn.io/settings":                   func(c *snapshot.Cluster, ns string) { c.Longhorn.Settings = none(c.Longhorn.Settings, ns) },
	"api/longhorn.io/orphans":                    func(c *snapshot.Cluster, ns string) { c.Longhorn.Orphans = none(c.Longhorn.Orphans, ns) },
	"api/longhorn.io/sharemanagers":              func(c *snapshot.Cluster, ns string) { c.Longhorn.ShareManagers = none(c.Longhorn.ShareManagers, ns) },
	"api/longhorn.io/instancemanagers": func(c *snapshot.Cluster, ns string) {
		c.Longhorn.InstanceManagers = none(c.Longhorn.InstanceManagers, ns)
	},
	"api/longhorn.io/volumeattachments": func(c *snapshot.Cluster, ns string) { c.Longhorn.Attachments = none(c.Longhorn.Attachments, ns) },
	"api/longhorn.io/engineimages":      func(c *snapshot.Cluster, ns string) { c.Longhorn.EngineImages = none(c.Longhorn.EngineImages, ns) },
	"api/longhorn.io/backingimages":     func(c *snapshot.Cluster, ns string) { c.Longhorn.BackingImages = none(c.Longhorn.BackingImages, ns) },
}

type namespaced interface {
	comparable
	GetNamespace() string
}

// within keeps the objects of one namespace; without one, none.
func within[T namespaced](list []T, namespace string) []T {
	var zero T
	return slices.DeleteFunc(slices.Clone(list), func(o T) bool { return o == zero || namespace == "" || o.GetNamespace() != namespace })
}

// none is what a tenant sees of Longhorn's objects: they live in its own namespace.
func none[T any](list []T, namespace string) []T {
	if strings.Contains(namespace, "longhorn") {
		return list
	}
	return nil
}
