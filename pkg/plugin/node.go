package plugin

import "github.com/spf13/cobra"

// newNode is the verb for whoever is about to drain or reboot a node.
func newNode(v verb) *cobra.Command {
	return newDiagnose(v, "node", "node NAME", "Look at every volume on a node, and at the node's hazards",
		`  # what is stuck on worker-2, and what will be
  kubectl mountdoctor node worker-2

  # the same from a snapshot, without a cluster
  kubectl mountdoctor node worker-2 --from snapshot.tar.gz`)
}
