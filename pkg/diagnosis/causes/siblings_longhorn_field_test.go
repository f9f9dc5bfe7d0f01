package causes

import "testing"

// lhStages is the volume attached to n1, where web-0 waits for its mount.
func lhStages(release string) *world { return lhAttached(lhWorld(release).Waits()) }

// without takes the volume's disk away from a node.
func lhNoDisk(w *world, node string) *world {
	for _, path := range []string{"sys/class/block/sdb", "dev/sdb", "@content/8:16", "dev/longhorn", "sys/class/iscsi"} {
		w.Without(node, path)
	}
	return w
}

// TestWhoChoseTheFrontend: what Longhorn's Volume has and its PersistentVolume does not carry, no class
// gave it; nor does one give what nobody provisioned. (longhorn/longhorn#1739)
func TestWhoChoseTheFrontend(t *testing.T) {
	t.Parallel()
	frontend := func(says string) *world {
		w := lhNoDisk(lhStages("v1.6.2"), "n1").EditIn(volDoc, "frontend: blockdev", "frontend: iscsi").EditIn(engDoc, "endpoint: '/dev/longhorn/"+lhVol+"'", "endpoint: 'iscsi://10.42.11.20:3260/"+lhIQN+"/1'")
		return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = " + says)
	}
	const (
		refused = "volume " + lhVol + " invalid frontend type iscsi"
		class   = "broken: certain storageclass-parameter-wrong StorageClass fast"
		own     = "broken: certain storageclass-parameter-wrong PersistentVolume pv-data"
		option  = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting arguments: -t ext4 -o nobarier,defaults /dev/sdb /g\nOutput: mount: /g: unrecognized mount option \"nobarier\" or missing value"
	)
	given := func() *world {
		return frontend(refused).Edit("numberOfReplicas: '2'}}", "numberOfReplicas: '2', frontend: iscsi}}")
	}
	mounts := func() *world {
		return lhStages("v1.6.2").Edit("volumeMode: Filesystem\n  csi: {", "volumeMode: Filesystem\n  mountOptions: [nobarier]\n  csi: {").FailedMount(option)
	}
	const made = "annotations: {pv.kubernetes.io/provisioned-by: \"driver.longhorn.io\"}"
	showEach(t, map[string]shown{
		"chosen in the UI":                 {frontend(refused), own},
		"the same, in older words":         {frontend("There is no block device frontend for volume " + lhVol), own},
		"chosen by the class":              {given(), class},
		"a class of a volume by hand":      {given().Edit(made, "annotations: {}"), class},
		"the same, there is no such class": {given().Edit(made, "annotations: {}").Drop("kind: StorageClass"), own},
		"an option that the class gave":    {mounts(), class},
		"an option that somebody wrote":    {mounts().Edit(made, "annotations: {}").Drop("kind: StorageClass"), own},
		"the words alone, of a block disk": {frontend(refused).EditIn(volDoc, "frontend: iscsi", "frontend: blockdev"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}
