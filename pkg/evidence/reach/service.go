package reach

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Service is the Service behind a server's address, and how many of its endpoints are
// ready; -1 when that is not known.
type Service struct {
	*corev1.Service
	Ready int
}

// ServiceOf finds it by an address or by a name of the cluster's DNS.
func ServiceOf(x *snapshot.Index, hosts ...string) Service {
	if s := x.ServiceAt(hosts...); s != nil {
		n, known := x.ReadyEndpoints(s.Namespace, s.Name)
		if known || x.Collected("/endpoints") && len(x.Cluster.Endpoints) > 0 { // those of others were read
			return Service{s, n}
		}
		return Service{s, -1}
	}
	return Service{nil, -1}
}

// Words say what stands behind the server's address; empty: no Service.
func (s Service) Words() string {
	switch {
	case s.Service == nil:
		return ""
	case s.Ready == 0:
		return fmt.Sprintf("The address is Service %s/%s, which has no ready endpoint.", s.Namespace, s.Name)
	case s.Ready > 0:
		return fmt.Sprintf("The address is Service %s/%s with %d ready endpoints.", s.Namespace, s.Name, s.Ready)
	}
	return fmt.Sprintf("The address is Service %s/%s.", s.Namespace, s.Name)
}

// Selects tells whether a pod is behind the Service.
func (s Service) Selects(pod *corev1.Pod) bool { return snapshot.ServiceSelects(s.Service, pod) }

// Pods are those behind the Service, and those with one of the addresses.
func (s Service) Pods(x *snapshot.Index, hosts ...string) []*corev1.Pod {
	return evidence.Keep(x.Cluster.Pods, func(pod *corev1.Pod) bool {
		return s.Selects(pod) || pod.Status.PodIP != "" && slices.Contains(hosts, pod.Status.PodIP)
	})
}
