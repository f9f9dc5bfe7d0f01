package plugin

import "github.com/spf13/cobra"

// newPVC is the verb for claims, the question that people ask most.
func newPVC(v verb) *cobra.Command {
	return newDiagnose(v, "pvc", "pvc NAME", "Say why a claim cannot be attached, mounted, used or released",
		`  # why does the claim data-db-0 not mount
  kubectl mountdoctor pvc data-db-0 -n shop

  # the same from a snapshot, without a cluster
  kubectl mountdoctor pvc data-db-0 -n shop --from snapshot.tar.gz`)
}
