package plugin

import "github.com/spf13/cobra"

// newVolume is the verb for people who have only the name that a driver or a log shows.
func newVolume(v verb) *cobra.Command {
	return newDiagnose(v, "volume", "volume NAME", "Look at a PersistentVolume or a Longhorn volume by name",
		`  # the same by the name of the PV
  kubectl mountdoctor volume pvc-5f1d8a2e-9c1b-4d7f-8f0e-2b6a7c9d0e1f

  # the same from a snapshot, without a cluster
  kubectl mountdoctor volume pvc-5f1d8a2e-9c1b-4d7f-8f0e-2b6a7c9d0e1f --from snapshot.tar.gz

  # from a Longhorn support bundle, a must-gather, or objects on the standard input
  kubectl mountdoctor volume pvc-5f1d8a2e-9c1b-4d7f-8f0e-2b6a7c9d0e1f --from supportbundle.zip
  kubectl get pv,pvc,pods,events,volumeattachments -A -o yaml | kubectl mountdoctor pvc data-db-0 -n shop --from -`)
}
