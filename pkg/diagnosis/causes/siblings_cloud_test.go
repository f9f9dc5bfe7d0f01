package causes

import (
	"strings"
	"testing"
)

const denied = `MountVolume.SetUp failed for volume "pv-data" : rpc error: code = Internal desc = could not mount "b" at "/x": Forbidden: Access Denied`

// tokens is a world whose driver asks for the tokens of pods.
func tokens(w *world) *world {
	return w.Waits().Edit("spec: {attachRequired: false,", "spec: {tokenRequests: [{audience: sts.example.com}], attachRequired: false,").
		Edit("volumes: [{name: data, persistentVolumeClaim", "serviceAccountName: reader, volumes: [{name: data, persistentVolumeClaim")
}

// TestSiblingsOfClouds: what backends say in words of their own, and what lists that were not
// read leave open.
func TestSiblingsOfClouds(t *testing.T) {
	t.Parallel()
	refused := func(driver, handle, text string) *world {
		w := vol(driver, handle, "").Waits()
		return attachFailed(va(w, "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: '"+text+"'}"), "AttachVolume.Attach failed for volume \"pv-data\" : "+text)
	}
	attaches := func(driver, handle, text string) *world {
		return refused(driver, handle, text).Edit("attachRequired: false", "attachRequired: true")
	}
	hetzner := func(text string) *world {
		return attaches("csi.hetzner.cloud", "12345678", "rpc error: code = Internal desc = failed to publish volume: "+text)
	}
	ec2 := func(text string) *world {
		return refused("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "rpc error: code = Internal desc = Could not attach volume \"vol-0a1b2c3d4e5f60718\" to node \"i-0aa\": operation error EC2: AttachVolume, "+text)
	}
	putOff := func() *world {
		return refused("pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-1", "rpc error: code = Unavailable desc = ControllerPublish not permitted on node \"projects/p/zones/z/instances/n1\" due to backoff condition")
	}
	slowed := func(at string) string {
		return "\napiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-b, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {attacher: pd.csi.storage.gke.io, nodeName: n2, source: {persistentVolumeName: pv-b}}\nstatus: {attached: false, attachError: {time: '" + at + "', message: 'googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded'}}"
	}
	const claim = "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data"
	grows := pvcEvent(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).EditIn(claim, "requests: {storage: 10Gi}", "requests: {storage: 20Gi}"), "Warning", "VolumeResizeFailed", "external-resizer ebs.csi.aws.com",
		"resize volume \"pv-data\" by resizer \"ebs.csi.aws.com\" failed: rpc error: code = Internal desc = Could not resize volume \"vol-0a1b2c3d4e5f60718\": operation error EC2: ModifyVolume, https response error StatusCode: 400, RequestID: 8ce, api error VolumeModificationRateExceeded: You've reached the maximum modification rate per volume limit. Wait at least 6 hours between modifications per EBS volume.")
	optimizes := pvcEvent(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).EditIn(claim, "requests: {storage: 10Gi}", "requests: {storage: 20Gi}"), "Warning", "VolumeResizeFailed", "external-resizer ebs.csi.aws.com",
		"resize volume \"pv-data\" by resizer \"ebs.csi.aws.com\" failed: rpc error: code = Internal desc = Could not resize volume \"vol-0a1b2c3d4e5f60718\": volume \"vol-0a1b2c3d4e5f60718\" in OPTIMIZING state, cannot currently modify")
	const used = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = rbd image kube/csi-vol-bbbb is still being used by watcher=192.168.77.5:0/1234567890 client.4567 cookie=1"
	for _, r := range []row{
		{"a machine by another noun", "broken: certain backend-node-unknown Node n1", attaches("dobs.csi.digitalocean.com", "5a1b2c3d-1111-4222-8333-123456789012", "rpc error: code = NotFound desc = droplet \"453128899\" not found").Edit("nodeID: n1,", "nodeID: '453128899',")},
		{"a machine of which a part is not found", "broken: certain backend-node-unknown Node n1", attaches("csi-powermax.dellemc.com", "csi-ABS-pmax-1-000120000549-0067A", "rpc error: code = NotFound desc = Failed to fetch host id from array for node: csi-node-n1").Edit("nodeID: n1,", "nodeID: csi-node-n1,")},
		{"a machine by an initiator in its id", "broken: certain backend-node-unknown Node n1", attaches("block.csi.ibm.com", "SVC:153;60050763808120A550000000000000B5", "rpc error: code = NotFound desc = Host for node: nvme_nqn: , fc_wwns : [\"\"], iscsi_iqn : iqn.1994-05.com.redhat:ca8c232fba  was not found, ensure all host ports are configured on storage").Edit("nodeID: n1,", "nodeID: 'n1;;;iqn.1994-05.com.redhat:ca8c232fba',").Unprobed("n1", "Forbidden")},
		{"the volume, and the machine is named", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", attaches("block.csi.ibm.com", "SVC:153;60050763808120A550000000000000B5", "rpc error: code = NotFound desc = SVC:153;60050763808120A550000000000000B5 for n1: object not there")},
		{"the volume by its noun", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", hetzner("volume with ID 12345678 not found (not_found)")},
		{"work in progress", "waiting: likely backend-throttled PersistentVolumeClaim shop/data waiting", pvcEvent(pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")), "Warning", "ProvisioningFailed", "rbd.csi.ceph.com_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = Aborted desc = flatten in progress: flatten is in progress for image csi-vol-1234").Waits()},
		{"work that is to begin", "waiting: likely backend-throttled PersistentVolumeClaim shop/data waiting", pvcEvent(pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")), "Warning", "ProvisioningFailed", "rbd.csi.ceph.com_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = Aborted desc = pending").Waits()},
		{"work that is to begin, in full", "waiting: likely backend-throttled PersistentVolumeClaim shop/data waiting", pvcEvent(pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")), "Warning", "ProvisioningFailed", "rbd.csi.ceph.com_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = Aborted desc = clone from snapshot is pending").Waits()},
		{"a source that is pending", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", pvcEvent(pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")), "Warning", "ProvisioningFailed", "rbd.csi.ceph.com_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = FailedPrecondition desc = cannot clone claim shop/src, which is pending").Waits()},
		{"a rate in words", "waiting: certain backend-throttled VolumeAttachment csi-a waiting", hetzner("limit of 3600 requests per hour reached (rate_limit_exceeded)")},
		{"a rate, and the attacher was started anew since", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", hetzner("limit of 3600 requests per hour reached (rate_limit_exceeded)").EditIn("name: controller-0", "2025-11-07T13:25:00Z", "2026-01-02T11:59:30Z")},
		{"a rate, and the attacher was started anew long since", "broken: likely backend-throttled VolumeAttachment csi-a", hetzner("limit of 3600 requests per hour reached (rate_limit_exceeded)").EditIn("name: controller-0", "2025-11-07T13:25:00Z", "2026-01-02T11:49:59Z").EditIn("kind: VolumeAttachment", "time: '2026-01-02T11:5", "time: '2026-01-02T11:4")},
		{"a rate, and the attacher ends each time", "waiting: certain backend-throttled VolumeAttachment csi-a waiting", hetzner("limit of 3600 requests per hour reached (rate_limit_exceeded)").EditIn("name: controller-0", "2025-11-07T13:25:00Z", "2026-01-02T11:59:30Z").EditIn("name: controller-0", "restartCount: 0", "restartCount: 9")},
		{"the driver waits by itself, and nothing is slowed", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", putOff()},
		{"the driver waits by itself, others are slowed", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", putOff().Add(slowed("2026-01-02T11:57:00Z"))},
		{"the driver waits by itself, others were slowed", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", putOff().Add(slowed("2026-01-02T11:07:00Z"))},
		{"a rate of the client's own", "waiting: certain backend-throttled VolumeAttachment csi-a waiting", ec2("failed to get rate limit token, retry quota exceeded, 0 available, 5 requested")},
		{"something was not found, and the node is only named", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", refused("csi.vsphere.vmware.com", "7d03bad9-eaae-4bbc-b794-9049223cf609", "rpc error: code = Internal desc = failed to attach disk: \"7d03bad9-eaae-4bbc-b794-9049223cf609\" with node: \"n1\" err ServerFaultCode: The object or item referred to could not be found.")},
		{"a disk that is still filled", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", refused("pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-1", "rpc error: code = Internal desc = unknown Attach error: failed cloud service attach disk call: googleapi: Error 400: The resource ''projects/p/zones/z/disks/pvc-1'' is not ready, resourceNotReady")},
		{"a machine that has a task", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", refused("cinder.csi.openstack.org", "5a1b2c3d-1111-4222-8333-123456789012", "rpc error: code = Internal desc = [ControllerPublishVolume] Attach Volume failed: failed to attach volume: Expected HTTP response code [200] when accessing [POST https://nova/v2.1/servers/b2f7/os-volume_attachments], but got 409 instead {\"conflictingRequest\": {\"message\": \"Cannot ''attach_volume'' instance b2f7 while it is in task_state resize_finish\", \"code\": 409}}")},
		{"a call that the driver has not ended", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", refused("csi-powerstore.dellemc.com", "csivol-1", "rpc error: code = Aborted desc = pending")},
		{"a machine that is locked", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", hetzner("server is locked (locked)")},
		{"a machine with work of its own", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", attaches("dobs.csi.digitalocean.com", "5a1b2c3d-1111-4222-8333-123456789012", "rpc error: code = Aborted desc = 422 Droplet already has a pending event.")},
		{"a limit in a cloud's own words", "broken: likely attach-limit-exceeded Node n1", attaches("dobs.csi.digitalocean.com", "5a1b2c3d-1111-4222-8333-123456789012", "rpc error: code = ResourceExhausted desc = volume limit (7) has been reached")},
		{"a disk that is still made", "waiting: likely backend-throttled VolumeAttachment csi-a waiting", refused("cinder.csi.openstack.org", "51f6ac5c-69e0-487a-bce7-f050f11a170c", "rpc error: code = Internal desc = Bad request: Invalid volume: Volume status must be available to reserve, but the status is creating. (HTTP 400)")},
		{"a disk that is let go of", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", refused("cinder.csi.openstack.org", "51f6ac5c-69e0-487a-bce7-f050f11a170c", "rpc error: code = Internal desc = Bad request: Invalid volume: Volume status must be available to reserve, but the status is detaching. (HTTP 400)")},
		{"attached, and nobody says where", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", hetzner("volume is attached")},
		{"a bucket that denies its mount", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", vol("s3.csi.aws.com", "bucket", "").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount \"b\" at \"/x\": Mount failed: Failed to start service output: Error: Failed to create S3 client  Caused by: 0: initial ListObjectsV2 failed for bucket b in region us-east-1 1: Client error 2: Forbidden: Access Denied")},
		{"a bucket, and nothing to sign with", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", vol("s3.csi.aws.com", "bucket", "").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount \"b\" at \"/x\": Mount failed: Failed to start service output: Error: Failed to create S3 client  Caused by: 0: initial ListObjectsV2 failed for bucket b in region us-east-1 1: Client error 2: No signing credentials available, see CRT debug logs Error: Failed to create mount process")},
		{"a bucket, and no identity of the machine", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", vol("gcs.csi.ofek.dev", "bucket", "").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = getConn: DefaultTokenSource: google: could not find default credentials. See https://developers.google.com/accounts/docs/application-default-credentials for more information.")},
		{"a store of secrets that asks as the pod", "broken: likely csi-credentials-wrong ServiceAccount shop/reader", tokens(vol("secrets-store.csi.k8s.io", "x", "")).Edit("tokenRequests: [{audience: sts.example.com}], ", "").FailedMount(denied)},
		{"a bucket that the pod's own account may not read", "broken: likely csi-credentials-wrong ServiceAccount shop/reader", tokens(vol("gcsfuse.csi.storage.gke.io", "bucket", "")).FailedMount(denied)},
		{"a bucket that denies the driver's own account", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", tokens(vol("s3.csi.aws.com", "bucket", "")).FailedMount(denied)},
		{"a bucket whose volume chooses the pod's account", "broken: likely csi-credentials-wrong ServiceAccount shop/reader", tokens(vol("s3.csi.aws.com", "bucket", "").Edit("volumeHandle: 'bucket'", "volumeHandle: bucket, volumeAttributes: {authenticationSource: pod}")).FailedMount(denied)},
		{"a rate of changes", "waiting: certain backend-throttled PersistentVolumeClaim shop/data waiting", grows},
		{"changes that go on", "waiting: likely backend-throttled PersistentVolumeClaim shop/data waiting", optimizes},
		{"a number, and nothing is attached", "broken: likely attach-limit-exceeded Node n1", ec2("https response error StatusCode: 400, api error AttachmentLimitExceeded: You may attach up to 27 devices for this instance type.")},
		{"no identity at all", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", ec2("get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, canceled, context deadline exceeded")},
		{"an identity in words", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", hetzner("unable to authenticate (unauthorized)")},
		{"a host that is not named", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", attaches("csi-unity.dellemc.com", "vol-31a62a3fff", "rpc error: code = Aborted desc =  runid=608 Volume has been published to a different host already.")},
		{"an id in a form that no node has", "broken: likely attachment-stale-in-backend PersistentVolume pv-data", attaches("blockvolume.csi.oraclecloud.com", "ocid1.volume.oc1.fra.a", "rpc error: code = Internal desc = volume ocid1.volume.oc1.fra.a is already attached to instance ocid1.instance.oc1.fra.zzzz")},
		{"a watcher, and nobody knows the nodes", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", rbd().Waits().Attached("n1").Drop("apiVersion: v1\nkind: Node\n").Gap("api//nodes", "Forbidden").FailedMount(used)},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// TestStorageSaysWhere: a disk that is gone, or in another zone, is no machine that is unknown.
func TestStorageSaysWhere(t *testing.T) {
	t.Parallel()
	const azure, os = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/disk-1", "5a1b2c3d-1111-4222-8333-123456789012"
	for name, c := range map[string]struct{ driver, handle, text, want string }{
		"EC2, the zone":     {"ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "rpc error: code = Internal desc = Could not attach volume \"vol-0a1b2c3d4e5f60718\" to node \"i-0aa\": InvalidVolume.ZoneMismatch: The volume 'vol-0a1b2c3d4e5f60718' is not in the same availability zone as instance 'i-0aa'", "in another zone than node n1"},
		"Azure, the zone":   {"disk.csi.azure.com", azure, "rpc error: code = Unknown desc = Attach volume " + azure + " to instance n1 failed with Retriable: false, HTTPStatusCode: 400, RawError: Disk " + azure + " cannot be attached to the VM because it is not in the same zone as the VM. VM zone: '1'. Disk zone: '2'.", "in another zone than node n1"},
		"Nova, the zone":    {"cinder.csi.openstack.org", os, "rpc error: code = Internal desc = Attach Volume failed: Invalid volume: Instance 186 and volume " + os + " are not in the same availability_zone. Instance is in AZ1. Volume is in AZ3", "in another zone than node n1"},
		"EC2, the volume":   {"ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "rpc error: code = NotFound desc = Volume \"vol-0a1b2c3d4e5f60718\" not found", "has no volume vol-0a1b2c3d4e5f60718"},
		"GCE, the volume":   {"pd.csi.storage.gke.io", "projects/p/zones/z/disks/disk-1", "rpc error: code = NotFound desc = Could not find disk Key{\"disk-1\", zone: \"z\"}: googleapi: Error 404: The resource 'projects/p/zones/z/disks/disk-1' was not found, notFound", "has no volume disk-1"},
		"Azure, the volume": {"disk.csi.azure.com", azure, "rpc error: code = NotFound desc = Volume not found, failed with error: RESPONSE 404: 404 Not Found ERROR CODE: ResourceNotFound The Resource 'Microsoft.Compute/disks/disk-1' under resource group 'rg' was not found.", "has no volume disk-1"},
		"something else":    {"pd.csi.storage.gke.io", "projects/p/zones/z/disks/disk-1", "rpc error: code = NotFound desc = Could not attach disk-1: the network 'default' was not found", "refuses to attach"},
	} {
		w := vol(c.driver, c.handle, "").Waits()
		w = attachFailed(va(w, "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: '"+strings.ReplaceAll(c.text, "'", "''")+"'}"), "AttachVolume.Attach failed for volume \"pv-data\" : "+c.text).Moved("attachRequired: false", "attachRequired: true")
		sayEach(t, map[string]said{name: {w, []string{"unexplained · attach-failed", c.want}, nil}})
	}
}
