package causes

import "testing"

// TestOwnersInSpiteOfThePolicy: with OnRootMismatch the kubelet walks through all files once, when the top directory differs;
// only it can tell.
func TestOwnersInSpiteOfThePolicy(t *testing.T) {
	t.Parallel()
	waits := func(policy string) *world {
		return ebsMounted(ebs().Waits().Attached("n1"), "n1", 0).Answers("n1", ebs().Publish(0)).
			Edit("restartPolicy: Always, volumes: [{name: data", "securityContext: {fsGroup: 1000"+policy+"}, restartPolicy: Always, volumes: [{name: data")
	}
	says := func(w *world, at, uid string) *world {
		return w.Event("Pod", "web-0", sketchUID, "VolumePermissionChangeInProgress", "kubelet", "n1", at, "Setting volume ownership for "+uid+"/volumes/kubernetes.io~csi/pv-data/mount, processed 123456 files.")
	}
	const once, fresh, old = ", fsGroupChangePolicy: OnRootMismatch", "2026-01-02T11:59:00Z", "2026-01-02T11:40:00Z"
	const slow, open = "fsgroup-chown-slow Pod shop/web-0 waiting", "broken: unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"always, and it says so":                   {says(waits(""), fresh, sketchUID), "waiting: certain " + slow},
		"once, and it says so":                     {says(waits(once), fresh, sketchUID), "waiting: certain " + slow},
		"once, and it says nothing":                {waits(once), open},
		"once, and it said so twenty minutes ago":  {says(waits(once), old, sketchUID), "waiting: likely " + slow},
		"once, of a driver that keeps its group":   {says(waits(once), fresh, sketchUID).Edit("fsGroupPolicy: ReadWriteOnceWithFSType", "fsGroupPolicy: None"), open},
		"once, and nobody looked; it says so":      {says(waits(once), fresh, sketchUID).Unprobed("n1", "PodRejected"), "waiting: likely " + slow},
		"once, and nobody looked; it says nothing": {waits(once).Unprobed("n1", "PodRejected"), open},
	})
	sayEach(t, map[string]said{
		"always": {says(waits(""), fresh, sketchUID), []string{"at every start"}, []string{"top directory had"}},
		"once":   {says(waits(once), fresh, sketchUID), []string{"top directory had another group"}, []string{"set fsGroupChangePolicy", "at every start"}},
	})
}
