package remedy

import corev1 "k8s.io/api/core/v1"

// ChooseAgain lets the scheduler choose a node for a claim whose node is gone.
func ChooseAgain(c *corev1.PersistentVolumeClaim) []Step {
	return []Step{
		Check("See for which node the claim's volume shall be made, and which nodes there are.",
			Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.metadata.annotations}"), Kubectl("get", "nodes")),
		Words("Take the annotation off (" + Inline("kubectl", "-n", c.Namespace, "annotate", "pvc", c.Name, "volume.kubernetes.io/selected-node-") +
			"): the claim has no volume yet, so nothing is lost, and the scheduler chooses a node that exists. To delete the pod alone does not help. Newer provisioners take it off by themselves."),
	}
}
