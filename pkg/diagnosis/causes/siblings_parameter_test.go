package causes

import (
	"strings"
	"testing"
)

// TestRefusedForAParameter: what a controller or a node plugin refuses is resolved against what the volume itself
// carries; a cloud answers for all disks of a machine with the word about one of them.
func TestRefusedForAParameter(t *testing.T) {
	t.Parallel()
	with := func(w *world, attributes, text string) *world {
		w.Edit("fsType: ext4, volumeHandle", "fsType: ext4, volumeAttributes: {"+attributes+"}, volumeHandle")
		return va(w.Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: '"+strings.ReplaceAll(text, "'", "''")+"'}")
	}
	const front = "rpc error: code = Internal desc = Attach volume /subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/pvc-1 to instance n1 failed with Retriable: false, RetryAfter: 0s, HTTPStatusCode: 400, RawError: "
	ultra := func(text string) *world {
		return with(azure(), "cachingMode: ReadOnly, skuName: UltraSSD_LRS, csi.storage.k8s.io/pv/name: pv-data", front+text)
	}
	oci := func(text string) *world {
		return with(vol("blockvolume.csi.oraclecloud.com", "ocid1.volume.oc1.x", ""), "attachment-type: iscsii", "rpc error: code = InvalidArgument desc = "+text)
	}
	staged := func(attributes, text string) *world {
		return with(vol("csi.example.com", "vol-77", ""), attributes, "x").Edit("attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'x'}", "attached: true").FailedMount(stageFails(text)).
			Edit("code = Internal desc = "+text, "code = InvalidArgument desc = "+text)
	}
	const caching = `{"error":{"code":"InvalidParameter","message":"Caching type 'ReadOnly' is not supported for disk 'pvc-1' of type UltraSSD_LRS."}}`
	const none, class = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", "broken: likely storageclass-parameter-wrong StorageClass fast"
	const unstaged = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"a value in the cloud's words":   {ultra(caching), class},
		"of another disk of the machine": {ultra(strings.ReplaceAll(caching, "pvc-1", "pvc-9")), none},
		"of another volume, unquoted":    {ultra(`{"code":"InvalidParameter","message":"pv-other1: Caching type 'ReadOnly' is not supported"}`).Add("{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-other1}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: disk.csi.azure.com, volumeHandle: /x/disks/pv-other1}}}"), none},
		"made by hand":                   {ultra(caching).Edit(`annotations: {pv.kubernetes.io/provisioned-by: "disk.csi.azure.com"}, `, "").Edit(`provisioner: "disk.csi.azure.com"`, "provisioner: kubernetes.io/no-provisioner"), "broken: likely storageclass-parameter-wrong PersistentVolume pv-data"},
		"another value":                  {ultra(strings.ReplaceAll(caching, "ReadOnly", "ReadWrite")), none},
		"a key, spelled otherwise":       {oci("unsupported attachment type: iscsii"), class},
		"nothing of the volume is named": {oci("the request is not valid"), none},
		"a key at staging":               {staged("throughputMode: turbo", "volume attribute throughputMode has no such mode"), class},
		"a parameter of the class":       {staged("a: b", "parameter tier: gold is unknown").Edit("reclaimPolicy: Delete\nvolumeBinding", "parameters: {tier: gold}\nreclaimPolicy: Delete\nvolumeBinding"), class},
		"a class that was made since":    {staged("a: b", "parameter tier: gold is unknown").Edit("reclaimPolicy: Delete\nvolumeBinding", "parameters: {tier: gold}\nreclaimPolicy: Delete\nvolumeBinding").Edit("metadata: {name: fast,", "metadata: {creationTimestamp: '2026-01-01T00:00:00Z', name: fast,"), unstaged},
		"the name of the volume":         {staged("volumeID: vol-77", "volume 'vol-77' is not valid"), unstaged},
		"a value in the command's echo": {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs server=10.9.0.5:/export/data /var/lib/kubelet/x\nOutput: mount.nfs: a parameter is an invalid argument"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the whole request, repeated": {staged("clusterID: rook, tier: gold", "invalid staging path: volume_context:{key:'clusterID' value:'rook'} volume_context:{key:'tier' value:'gold'}"), unstaged},
		"a value beside other things": {staged("shared: \"true\", tier: gold", "the array answered {'ok':'false','retry':'true','msg':'LUN is in transition'}"), unstaged},
		"a mount option":              {staged("a: b", "mount option 'tlsx' is not one of those that are allowed").Edit("csi: {driver", "mountOptions: [noatime, tlsx]\n  csi: {driver"), class},
	})
}

// TestUsedByMachineOutside: who uses the disk is a word of its own in each cloud; merely attached there may be an old entry.
func TestUsedByMachineOutside(t *testing.T) {
	t.Parallel()
	refused := func(text string) *world {
		return va(vol("dobs.csi.digitalocean.com", "5c1f9a3e-0f7b-11f0-a5d1-0a58ac14c1d9", "").Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = "+text+"'}").
			Moved("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, providerID: 'digitalocean://400000001'}", "spec: {podCIDR: 10.42.12.0/24}", "spec: {podCIDR: 10.42.12.0/24, providerID: 'digitalocean://400000002'}", "spec: {podCIDR: 10.42.13.0/24}", "spec: {podCIDR: 10.42.13.0/24, providerID: 'digitalocean://400000003'}")
	}
	for text, want := range map[string]string{
		"volume is in use by droplet 401223344, which is still writing to it": "volume-mapped-outside-cluster",
		"volume is in use by linode 401223344":                                "volume-mapped-outside-cluster",
		"volume is already attached to droplet 401223344":                     "attachment-stale-in-backend",
	} {
		got, _ := refused(text).Verdict(t, Catalog(), "pvc shop/data")
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestAskedPodIsNearest: of several nodes that suffer alike, the one of the asked pod is named.
func TestAskedPodIsNearest(t *testing.T) {
	t.Parallel()
	for pod, want := range map[string]string{"web-0": "Node n1", "web-1": "Node n2"} {
		w := nfsMounted(nfsMounted(nfs().Runs(0).Runs(1), "n1", 0), "n2", 1)
		for _, n := range []string{"n1", "n2"} {
			w.Entries(n, "@dial/10.9.0.5:2049", "ECONNREFUSED")
		}
		if got, _ := w.Verdict(t, Catalog(), "pod shop/"+pod); !strings.Contains(got, "certain nfs-server-unreachable "+want) {
			t.Errorf("%s: got %s", pod, got)
		}
	}
}
