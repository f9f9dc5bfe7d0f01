package causes

import "testing"

// TestTakenFromALostNode: a node that does not report last said that it uses a volume, and another one has
// it now. A pod that is to go there is kept by the node, not by the volume.
func TestTakenFromALostNode(t *testing.T) {
	t.Parallel()
	taken := func(w *world) *world {
		return ebsMounted(w.Runs(1), "n2", 1).Attached("n2").Answers("n2", ebs().Publish(1), ebs().Stage()).Unprobed("n1", "NodeNotReady").
			Edit("volumesInUse: [NAME-USED-n1]", "volumesInUse: ['kubernetes.io/csi/ebs.csi.aws.com^vol-0a1b2c3d4e5f60718']").
			EditIn("kind: Node\nmetadata: {name: n1", "status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z', lastHeartbeatTime: '2026-01-02T11:59:40Z'",
				"status: Unknown, reason: NodeStatusUnknown, lastTransitionTime: '2026-01-02T09:00:00Z', lastHeartbeatTime: '2026-01-02T08:59:00Z'")
	}
	const lost = "degraded: likely node-down Node n1"
	showEach(t, map[string]shown{
		"nothing is left there": {taken(ebs()), lost},
		"a pod is to go there":  {taken(ebs().Runs(0)).EditIn("name: web-0,", "name: web-0,", "name: web-0, deletionTimestamp: '2026-01-02T09:05:30Z', deletionGracePeriodSeconds: 30,"), lost},
	})
}
