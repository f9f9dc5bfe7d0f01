package plugin

import "github.com/spf13/cobra"

// newCluster is the sweep; hazards that need several nodes to be seen appear only here.
func newCluster(v verb) *cobra.Command {
	return newDiagnose(v, "cluster", "cluster", "Sweep the cluster for everything that is stuck",
		`  # all that is stuck, for a program
  kubectl mountdoctor cluster -o json

  # the same from a snapshot, without a cluster
  kubectl mountdoctor cluster -o json --from snapshot.tar.gz`)
}
