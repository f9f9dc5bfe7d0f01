package corpus

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Tenant is the namespace of somebody who may create workloads there and nothing else.
const Tenant = tenant

// WithoutControllers is a snapshot without any workload or pod that runs a sidecar of a
// driver's controller, as where they were removed.
func WithoutControllers(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(s)
	runs := func(p *corev1.PodSpec) bool {
		return slices.ContainsFunc(p.Containers, func(c corev1.Container) bool {
			return slices.ContainsFunc([]string{"attacher", "provisioner", "resizer"}, func(w string) bool {
				return strings.Contains(c.Name, w) || strings.Contains(c.Image, w)
			})
		})
	}
	l.Cluster.Pods = slices.DeleteFunc(slices.Clone(s.Cluster.Pods), func(p *corev1.Pod) bool { return runs(&p.Spec) })
	l.Cluster.Deployments = slices.DeleteFunc(slices.Clone(s.Cluster.Deployments), func(d *appsv1.Deployment) bool { return runs(&d.Spec.Template.Spec) })
	l.Cluster.StatefulSets = slices.DeleteFunc(slices.Clone(s.Cluster.StatefulSets), func(d *appsv1.StatefulSet) bool { return runs(&d.Spec.Template.Spec) })
	return l
}

// Claimed is a snapshot in which a tenant's Deployment, StatefulSet and DaemonSet say, for
// every driver, that they are its controller and its node plugin. Their pods crash, and print whatever was said; they
// have nothing of a host, because nobody lets a tenant have that.
func Claimed(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(s)
	c := &l.Cluster
	c.Pods, c.Deployments = slices.Clone(c.Pods), slices.Clone(c.Deployments)
	c.StatefulSets, c.DaemonSets = slices.Clone(c.StatefulSets), slices.Clone(c.DaemonSets)
	node, words := "", overheard(s)
	if len(c.Nodes) > 0 {
		node = c.Nodes[0].Name
	}
	for i, driver := range driversOf(&s.Cluster) {
		for j, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
			p := imitation(driver, node, 1000+10*i+j, true)
			p.Spec.Volumes = nil
			meta := metav1.ObjectMeta{Namespace: tenant, Name: strings.TrimSuffix("csi-"+snapshot.DashedDriver(driver), "-") + "-" + strings.ToLower(kind),
				UID: types.UID("22222222" + string(p.UID[8:])), CreationTimestamp: p.CreationTimestamp}
			template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec}
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: meta.Name, UID: meta.UID, Controller: &yes}}
			switch kind {
			case "Deployment":
				c.Deployments = append(c.Deployments, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Template: template}})
			case "StatefulSet":
				c.StatefulSets = append(c.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template}})
			case "DaemonSet":
				c.DaemonSets = append(c.DaemonSets, &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Template: template}})
			}
			c.Pods = append(c.Pods, p)
			l.Logs = append(l.Logs, snapshot.Log{Namespace: p.Namespace, Pod: p.Name, Container: "csi-attacher", Lines: words})
		}
	}
	c.Sort()
	return l
}

// overheard is everything that is said in a snapshot, as lines of a log of now.
func overheard(s *snapshot.Snapshot) []string {
	var out []string
	for _, l := range s.Logs {
		out = append(out, l.Lines...)
	}
	now := s.TakenAt.Add(-time.Minute).UTC().Format(time.RFC3339Nano)
	for _, e := range s.Cluster.Events {
		out = append(out, now+" E GRPC error: "+strings.ReplaceAll(e.Message, "\n", " "))
	}
	return out
}
