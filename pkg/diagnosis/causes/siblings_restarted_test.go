package causes

import "testing"

// TestNodesThatStartedAnew: a restart takes away what was mounted, and the kubelet mounts it again before it starts a
// container anew; the phase of the pod stays Running meanwhile.
func TestNodesThatStartedAnew(t *testing.T) {
	t.Parallel()
	const summary = "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition"
	const pod = "kind: Pod\nmetadata: {namespace: shop, name: web-0"
	since := func(w *world, ready, ended, state string) *world {
		return w.Without("n1", "proc/5000/").EditIn("kind: Node\nmetadata: {name: n1", "2025-12-23T12:00:00Z", ready).EditIn(pod, "ready: true, restartCount: 0", "ready: false, restartCount: 0").
			EditIn(pod, "state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {"+state+": {exitCode: 255, reason: Unknown, finishedAt: '"+ended+"', startedAt: '2025-12-31T12:00:10Z'}}")
	}
	const ten, moment = "2026-01-02T11:50:00Z", "2026-01-02T11:59:10Z"
	share := func() *world { return nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms") }
	disk := func() *world { return ebsDisk(ebs().Runs(0), "n1").Attached("n1") }
	const open = "broken: unexplained pod-waiting-for-volume"
	loops := since(share(), ten, ten, "terminated").EditIn(pod, "state: {terminated: {exitCode: 255", "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1").EditIn(pod, "reason: Unknown", "reason: Error")
	showEach(t, map[string]shown{
		"a share, since ten minutes":               {since(share(), ten, ten, "terminated"), open},
		"a disk, since ten minutes":                {since(disk(), ten, ten, "terminated"), open},
		"a disk, and the kubelet says it":          {since(disk(), ten, ten, "terminated").FailedMount(summary), open},
		"a disk, since a moment":                   {since(disk(), moment, moment, "terminated"), "waiting"},
		"a disk, the node is ready since a moment": {since(disk(), moment, ten, "terminated"), "waiting"},
		"it is mounted, and the container is late": {since(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)), ten, ten, "terminated"), "healthy"},
		"it crashes": {loops, "healthy"},
		"it ended a moment ago, and was refused before": {since(share(), ten, moment, "terminated").Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", "2026-01-02T11:52:00Z", summary).Unprobed("n1", "PodRejected"), "unknown"},
		"the node is silent":                            {notReady(share(), "n1", "2026-01-02T11:56:00Z").EditIn(pod, "ready: true, restartCount: 0", "ready: false, restartCount: 0").EditIn(pod, "state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {terminated: {exitCode: 255, reason: Unknown, finishedAt: '"+ten+"', startedAt: '2025-12-31T12:00:10Z'}}").Unprobed("n1", "NodeNotReady"), "unknown"},
		"it ran to its end":                             {since(share(), ten, ten, "terminated").EditIn(pod, "restartPolicy: Always", "restartPolicy: OnFailure").EditIn(pod, "exitCode: 255", "exitCode: 0"), "healthy"},
		"nobody looked at the node":                     {since(share(), ten, ten, "terminated").Unprobed("n1", "PodRejected"), "unknown"},
		"nobody looked, and the kubelet says it":        {since(disk(), ten, ten, "terminated").Unprobed("n1", "PodRejected").FailedMount(summary), open},
	})
}
