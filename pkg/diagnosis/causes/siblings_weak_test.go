package causes

import "testing"

// TestAttachmentUnderARunningPod: nobody waits and nothing fails, but the API has another
// picture of where the disk is than the pod that works with it.
func TestAttachmentUnderARunningPod(t *testing.T) {
	t.Parallel()
	runs := func() *world { return ebsMounted(ebs().Runs(0), "n1", 0).Answers("n1", ebs().Publish(0)) }
	const driver = "name: ebs.csi.aws.com, uid: '30000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}\nspec: {attachRequired: "
	for name, c := range map[string]struct {
		world *world
		want  string
	}{
		"attached":                     {runs().Attached("n1"), "healthy"},
		"no attachment at all":         {runs(), "degraded: certain attach-state-out-of-step Node n1"},
		"attached to another node":     {runs().Attached("n2"), "degraded: certain attach-state-out-of-step Node n1"},
		"not attached":                 {runs().Attached("n1").EditIn("kind: VolumeAttachment", "attached: true", "attached: false"), "degraded: certain attach-state-out-of-step Node n1"},
		"being deleted":                {runs().Attached("n1").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:50:00Z', finalizers:"), "degraded: certain attach-state-out-of-step Node n1"},
		"being deleted since a moment": {runs().Attached("n1").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:59:50Z', finalizers:"), "healthy"},
		"made anew a moment ago":       {runs().Attached("n1").EditIn("kind: VolumeAttachment", "attached: true", "attached: false").EditIn("kind: VolumeAttachment", "2025-12-31T12:00:02Z", "2026-01-02T11:59:10Z"), "healthy"},
		"attachments were not read":    {runs().Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), "unknown"},
		"the driver does not attach":   {runs().Edit(driver+"true", driver+"false"), "healthy"},
		"the node was not looked at":   {runs().Attached("n2").Unprobed("n1", "NoImage"), "degraded: likely attach-state-out-of-step Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "pvc shop/data", c.want)
		})
	}
}
