package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// ServiceAt finds a Service by an address or by a name of the cluster's DNS.
func (x *Index) ServiceAt(hosts ...string) *corev1.Service {
	for _, s := range x.Cluster.Services {
		for _, h := range hosts {
			if serves(s, h) {
				return s
			}
		}
	}
	return nil
}

func serves(s *corev1.Service, host string) bool {
	if host == "" {
		return false
	}
	for _, ip := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if ip == host && ip != corev1.ClusterIPNone {
			return true
		}
	}
	name := s.Name + "." + s.Namespace
	return host == name || strings.HasPrefix(host, name+".svc")
}

// ReadyEndpoints counts the addresses behind a Service that are ready: of its EndpointSlices, or of its
// Endpoints, which a cluster need not have any more (KEP-4974). Not known: it has neither.
func (x *Index) ReadyEndpoints(namespace, service string) (n int, known bool) {
	for _, e := range x.Cluster.EndpointSlices {
		if e.Namespace != namespace || e.Labels[discoveryv1.LabelServiceName] != service {
			continue
		}
		known = true
		for _, p := range e.Endpoints {
			if p.Conditions.Ready == nil || *p.Conditions.Ready {
				n += len(p.Addresses)
			}
		}
	}
	for _, e := range x.Cluster.Endpoints {
		if e.Namespace != namespace || e.Name != service || known {
			continue
		}
		known = true
		for _, p := range e.Subsets {
			n += len(p.Addresses)
		}
	}
	return n, known
}

// ServiceSelects tells whether a pod is behind a Service.
func ServiceSelects(s *corev1.Service, pod *corev1.Pod) bool {
	if s == nil || len(s.Spec.Selector) == 0 || s.Namespace != pod.Namespace {
		return false
	}
	for k, v := range s.Spec.Selector {
		if pod.Labels[k] != v {
			return false
		}
	}
	return true
}
