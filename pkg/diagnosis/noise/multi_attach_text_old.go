package noise

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// multiAttachTextOld: the controller's refusal is older than the attach that
// followed it. The event comes once and stays for an hour.
var multiAttachTextOld = &diagnosis.NoiseRule{Name: "multi-attach-text-old", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, c := range v.Consumers {
			for _, t := range p.PodTexts(c.Pod) {
				if t.Is(message.MultiAttachExclusive) || t.Is(message.MultiAttachPods) {
					if arrived(v, c) {
						old(p, v, c, t)
					}
					break
				}
			}
		}
	}
}}

func arrived(v *snapshot.Volume, c *snapshot.Consumer) bool {
	for _, va := range v.Attachments {
		if va.Spec.NodeName != c.Node() {
			return false
		}
	}
	here := v.AttachmentOn(c.Node())
	return c.Pod.Status.Phase == corev1.PodRunning || here != nil && here.Status.Attached
}

func old(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer, t diagnosis.Text) {
	p.AddNoise(diagnosis.PodSubject(c.Pod),
		fmt.Sprintf("An event of pod %s/%s says that the volume could not be attached: %s", c.Pod.Namespace, c.Pod.Name, t.Raw),
		fmt.Sprintf("volume %s is attached to node %s by now, and no other node has an attachment of it", v.PVName(), c.Node()))
}
