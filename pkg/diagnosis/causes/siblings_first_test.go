package causes

import "testing"

// TestWhoCameFirst: of two pods that were placed and do not run, the attachment tells who has the volume; what that one
// waits for is another matter.
func TestWhoCameFirst(t *testing.T) {
	t.Parallel()
	const claim, waits = "PersistentVolumeClaim shop/data", "; unexplained pod-waiting-for-volume"
	two := func(list, phase string) *world {
		return second(modes(ebs(), list).Waits().Attached("n2"), "other", "n2", "", phase, "")
	}
	showEach(t, map[string]shown{
		"one pod, and the first one runs":   {two("ReadWriteOncePod", "Running"), "broken: certain claim-in-use-rwop " + claim},
		"one pod, and the first one waits":  {two("ReadWriteOncePod", "Pending"), "broken: certain claim-in-use-rwop " + claim + waits},
		"one pod, attached to both":         {two("ReadWriteOncePod", "Pending").Attached("n1"), "broken: unexplained pod-waiting-for-volume"},
		"one node, and the first one runs":  {two("ReadWriteOnce", "Running"), "broken: certain rwo-shared-by-workloads " + claim},
		"one node, and the first one waits": {two("ReadWriteOnce", "Pending"), "broken: certain rwo-shared-by-workloads " + claim + waits},
	})
}
