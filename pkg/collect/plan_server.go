package collect

import (
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// server asks for what stands behind the network address that a volume is
// mounted from, when that is in the cluster: a Service with its endpoints and
// pods, or a pod.
func (c *collector) server(x *snapshot.Index, v *snapshot.Volume) {
	host := serverOf(v)
	if host == "" {
		return
	}
	if _, err := netip.ParseAddr(host); err == nil {
		c.want(want{res: services, fields: "spec.clusterIP=" + host})
		c.want(want{res: pods, fields: "status.podIP=" + host})
	} else if name, rest, ok := strings.Cut(host, "."); ok {
		namespace, _, _ := strings.Cut(rest, ".")
		c.byName(services, namespace, name)
	}
	for _, s := range x.Cluster.Services {
		if answersTo(s, host) {
			c.backends(s)
		}
	}
}

// serverOf is the host that a volume names, or empty.
func serverOf(v *snapshot.Volume) string {
	if v.PV == nil {
		return ""
	}
	switch s := &v.PV.Spec; {
	case s.NFS != nil:
		return s.NFS.Server
	case s.ISCSI != nil:
		host, _, _ := strings.Cut(s.ISCSI.TargetPortal, ":")
		return host
	case s.CSI != nil && s.CSI.VolumeAttributes["server"] != "":
		return s.CSI.VolumeAttributes["server"]
	case s.CSI != nil:
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(v.Attribute("source"), `\`, "/"), "//"), "/")
		return host
	}
	return ""
}

func answersTo(s *corev1.Service, host string) bool {
	name := s.Name + "." + s.Namespace
	return s.Spec.ClusterIP == host || host == name || strings.HasPrefix(host, name+".")
}

// backends asks for the endpoints and pods of a Service.
func (c *collector) backends(s *corev1.Service) {
	c.byName(endpoints, s.Namespace, s.Name)
	c.want(want{res: endpointSlices, namespace: s.Namespace, labels: "kubernetes.io/service-name=" + s.Name})
	c.want(want{res: networkPolicies, namespace: s.Namespace})
	c.eventsOf(s.Namespace, s.Name)
	if len(s.Spec.Selector) > 0 {
		c.want(want{res: pods, namespace: s.Namespace, labels: metav1.FormatLabelSelector(metav1.SetAsLabelSelector(labels.Set(s.Spec.Selector)))})
	}
}
