package corpus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Complaint is what a component said in an event about a pod.
type Complaint struct{ Reason, Component, Text string }

// volumeWord stands for the volume in a complaint.
const volumeWord = "{volume}"

// Complaints are the warnings about pods of a snapshot, each wording once, with the
// volumes' names taken out.
func Complaints(s *snapshot.Snapshot) []Complaint {
	var out []Complaint
	for _, e := range s.Cluster.Events {
		if e.Type != corev1.EventTypeWarning || e.Kind != "Pod" || e.Message == "" {
			continue
		}
		text := e.Message
		for _, pv := range s.Cluster.PVs {
			text = strings.ReplaceAll(text, pv.Name, volumeWord)
		}
		if c := (Complaint{e.Reason, e.Component, text}); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// Forged is a snapshot in which a tenant, who may write events in namespaces of his own,
// complains there about every pod as kubelet and the attach controller would, now.
func Forged(s *snapshot.Snapshot, namespace string, complaints []Complaint) *snapshot.Snapshot {
	l := copied(s)
	c := &l.Cluster
	c.Events = slices.Clone(c.Events)
	for i, pod := range c.Pods {
		if pod.Namespace != namespace {
			continue
		}
		for j, said := range complaints {
			text := strings.ReplaceAll(said.Text, volumeWord, volumeOfPod(c, pod))
			id := fmt.Sprintf("forged-%d-%d", i, j)
			c.Events = append(c.Events, &snapshot.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: id, UID: types.UID(id)},
				Kind:       "Pod", ObjNamespace: namespace, ObjName: pod.Name, ObjUID: string(pod.UID),
				Type: corev1.EventTypeWarning, Reason: said.Reason, Message: text, Count: 5,
				Component: said.Component, Host: pod.Spec.NodeName,
				First: s.TakenAt.Add(-2 * time.Minute), Last: s.TakenAt.Add(-10 * time.Second),
			})
		}
	}
	return l
}

// volumeOfPod is the PV behind the first claim of a pod, or a name like one.
func volumeOfPod(c *snapshot.Cluster, pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		for _, claim := range c.Claims {
			if claim.Namespace == pod.Namespace && claim.Name == v.PersistentVolumeClaim.ClaimName && claim.Spec.VolumeName != "" {
				return claim.Spec.VolumeName
			}
		}
	}
	return "pvc-00000000-0000-4000-8000-000000000000"
}
