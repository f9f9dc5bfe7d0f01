package plugin

import "github.com/spf13/cobra"

// newPod is the verb for pods.
func newPod(v verb) *cobra.Command {
	return newDiagnose(v, "pod", "pod NAME", "Look at every volume of a pod",
		`  # why does the pod db-0 wait for its volumes
  kubectl mountdoctor pod db-0 -n shop

  # the same from a snapshot, without a cluster
  kubectl mountdoctor pod db-0 -n shop --from snapshot.tar.gz`)
}
