package csi

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Kind is a kind of nodes that no label cures: what runs there is decided by its maker.
type Kind struct {
	Name string // as a sentence says it: "an AWS Fargate node"
	keys []string
	Is   evidence.Answer
}

// computeTypes are the kinds of EKS (charts/aws-ebs-csi-driver/values.yaml).
var computeTypes = map[string]string{"fargate": "an AWS Fargate node", "hybrid": "an EKS hybrid node", "auto": "a node of EKS Auto Mode"}

const (
	computeType     = "eks.amazonaws.com/compute-type"
	virtualProvider = "virtual-kubelet.io/provider"
	// FargateScheduler is the scheduler of pods that belong to a Fargate profile.
	FargateScheduler = "fargate-scheduler"
)

// KindOf finds the kind of a node; ok is false for an ordinary one.
func KindOf(x *snapshot.Index, node string) (Kind, bool) {
	n := x.Node(node)
	if n == nil {
		return Kind{}, false
	}
	label := func(key string) evidence.Answer {
		return evidence.Yes(evidence.FromAPI("Node "+node, "metadata.labels["+key+"]", n.Labels[key]))
	}
	if name := computeTypes[n.Labels[computeType]]; name != "" {
		return Kind{name, []string{computeType}, label(computeType)}, true
	}
	if n.Labels["type"] == "virtual-kubelet" {
		return Kind{"a virtual node", []string{"label type", virtualProvider, "affinity type "}, label("type")}, true
	}
	for _, t := range n.Spec.Taints {
		if t.Key == virtualProvider {
			return Kind{"a virtual node", []string{"label type", virtualProvider, "affinity type "}, evidence.Yes(evidence.FromAPI("Node "+node, "spec.taints", t.Key))}, true
		}
	}
	if n.Labels[corev1.LabelOSStable] == "windows" {
		return Kind{"a Windows node", []string{corev1.LabelOSStable, "beta.kubernetes.io/os", "os="}, label(corev1.LabelOSStable)}, true
	}
	if arch := n.Labels[corev1.LabelArchStable]; arch != "" && arch != "amd64" {
		return Kind{"a node of architecture " + arch, []string{corev1.LabelArchStable, "beta.kubernetes.io/arch"}, label(corev1.LabelArchStable)}, true
	}
	return Kind{}, false
}

// Excluded asks whether every DaemonSet of a driver's plugin keeps off a kind of nodes,
// and by which term; not seen when no DaemonSet is known.
func (k Kind) Excluded(x *snapshot.Index, driver, node string) (term string, a evidence.Answer) {
	sets := x.DriverDaemonSets(driver)
	if len(sets) == 0 {
		return "", evidence.Unseen(evidence.Lack{Need: "the DaemonSet of driver " + driver, Node: node, Why: "not found"})
	}
	var facts []report.Evidence
	for _, ds := range sets {
		why, ok := x.WhyNotScheduled(ds, node)
		if !ok || !k.says(why) {
			return "", evidence.No()
		}
		term = cmp.Or(term, why)
		facts = append(facts, evidence.FromAPI("DaemonSet "+ds.Namespace+"/"+ds.Name, "compared with node "+node, why))
	}
	return term, evidence.Yes(facts...)
}

// says tells whether a reason is one of the kind's own label or taint.
func (k Kind) says(why string) bool {
	return slices.ContainsFunc(k.keys, func(key string) bool { return strings.Contains(why, key) })
}

// FargateRefused asks for the fresh words of the scheduler of Fargate about a pod that has
// no node.
func FargateRefused(pl *evidence.Place, pod *corev1.Pod) evidence.Answer {
	if pod.Spec.NodeName != "" {
		return evidence.No()
	}
	why, said := pods.Unscheduled(pod) // which the scheduler writes with each event
	return pl.Texts.Say(func(t evidence.Text) bool {
		return (!said || strings.HasPrefix(why, t.Raw) || strings.HasPrefix(t.Raw, why)) && t.Pod == pod.Namespace+"/"+pod.Name && t.Is(message.FargateRefuses) && (t.Fresh || t.Source == "api")
	})
}
