package causes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// pendingClaim turns the world's claim into one that nobody has provisioned yet.
func pendingClaim(w *world, binding string, annotations string) *world {
	w.Drop("kind: PersistentVolume\n")
	w.Edit("metadata: {namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z', finalizers: [kubernetes.io/pvc-protection]}",
		"metadata: {namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:30:00Z', finalizers: [kubernetes.io/pvc-protection], annotations: {"+annotations+"}}")
	w.Edit("volumeName: pv-data, ", "")
	w.Edit("status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Pending}")
	return w.Edit("volumeBindingMode: Immediate", "volumeBindingMode: "+binding)
}

func unscheduled(w *world, message string) *world {
	w.Waits().Edit("nodeName: n1, restartPolicy", "restartPolicy").
		Edit("conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, {type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:30:00Z'}], containerStatuses: [{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}]",
			fmt.Sprintf("conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: %q, lastTransitionTime: '2026-01-02T11:30:00Z'}]", message)).
		Edit("status: {phase: Pending, startTime: '2026-01-02T11:30:00Z', cond", "status: {phase: Pending, cond")
	return w.Event("Pod", "web-0", sketch.UID+"00", "FailedScheduling", "default-scheduler", "", "2026-01-02T11:58:00Z", message)
}

const tooLittle = "0/3 nodes are available: 3 node(s) did not have enough free storage."

// offering has the scheduler miss a resource of the driver where each node says what it offers.
func offering(what string) *world {
	return unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 3 Insufficient topolvm.io/capacity.").
		Edit("  volumesInUse:", "  allocatable: {cpu: '4', "+what+"}\n  volumesInUse:")
}

// fullNodes has one volume on each node of a driver that can attach one.
func fullNodes() *world {
	w := unscheduled(pendingClaim(vol("ebs.csi.aws.com", "x", ""), "WaitForFirstConsumer", ""), "0/3 nodes are available: 3 node(s) exceed max volume count.").
		Edit("topologyKeys: null}", "allocatable: {count: 1}, topologyKeys: null}")
	for _, n := range []string{"1", "2", "3"} {
		w.Add("\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-"+n+"}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: ebs.csi.aws.com, volumeHandle: vol-"+n+"}}\nstatus: {phase: Bound}\n",
			"\napiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-"+n+"}\nspec: {attacher: ebs.csi.aws.com, nodeName: n"+n+", source: {persistentVolumeName: pv-"+n+"}}\nstatus: {attached: true}\n")
	}
	return w
}

// roomOn publishes room for the claim on n3 alone, which the scheduler keeps the pod off.
func roomOn(more string) *world {
	w := unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 1 node(s) had untolerated taint {gpu: }, 2 node(s) did not have enough free storage. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	for i, room := range []string{"1Gi", "2Gi", "90Gi"} {
		w.Add(fmt.Sprintf("apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {namespace: kube-system, name: csisc-%[1]d}\nstorageClassName: fast\ncapacity: %[2]s\nmaximumVolumeSize: %[2]s\nnodeTopology: {matchLabels: {kubernetes.io/hostname: n%[1]d}}\n", i+1, room))
	}
	return w.EditIn("name: n3,", "podCIDR: 10.42.13.0/24", "podCIDR: 10.42.13.0/24"+more)
}

func pvcEvent(w *world, typ, reason, source, message string) *world {
	w.Event("PersistentVolumeClaim", "data", "c0000000-0000-4000-8000-000000000001", reason, source, "", "2026-01-02T11:59:00Z", message)
	if typ == "Normal" {
		w.Edit("type: Warning\nreason: "+reason, "type: Normal\nreason: "+reason)
	}
	return w
}

const provs = "volume.kubernetes.io/storage-provisioner: %[1]s, volume.beta.kubernetes.io/storage-provisioner: %[1]s"

func anno(driver string) string { return fmt.Sprintf(provs, driver) }
func on(n string) string        { return ", volume.kubernetes.io/selected-node: " + n }

func vol(driver, handle, more string) *world {
	spec := "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: " + driver + ", fsType: ext4, volumeHandle: '" + handle + "'}"
	return sketch.NewWorld(driver, handle, spec+more)
}
func zonePV(key, zone string) string {
	return "\nnodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " + key + ", operator: In, values: [" + zone + "]}]}]}}"
}
func zones(w *world, key string, z ...string) *world {
	for i, zone := range z {
		if zone != "" {
			n := fmt.Sprintf("n%d", i+1)
			w.Edit("kubernetes.io/hostname: "+n+",", "kubernetes.io/hostname: "+n+", "+key+": "+zone+",")
		}
	}
	return w
}

func controllerCrashes(w *world, container, why string) *world {
	return w.Edit("status: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-provisioner, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: csi-attacher, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}",
		"status: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T08:00:00Z'}], containerStatuses: [{name: csi-provisioner, ready: false, restartCount: 40, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '2026-01-02T11:56:00Z', finishedAt: '2026-01-02T11:56:10Z'}}, state: {waiting: {reason: "+why+"}}}, {name: csi-attacher, ready: false, restartCount: 40, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '2026-01-02T11:56:00Z', finishedAt: '2026-01-02T11:56:10Z'}}, state: {waiting: {reason: "+why+"}}}")
}

type row struct {
	name, want string
	w          *world
}

func TestSiblingsOfClaims(t *testing.T) {
	t.Parallel()
	pd := func() *world { return vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", "") }
	cinder := func() *world { return vol("cinder.csi.openstack.org", "0e6dd0a8-1111-4222-8333-123456789012", "") }
	vs := func() *world { return vol("csi.vsphere.vmware.com", "6a6b1b1a-1111-4222-8333-123456789012", "") }
	mayastor := func() *world { return vol("io.openebs.csi-mayastor", "pvc-1", "") }
	waitsFor := func(w *world) *world {
		return pvcEvent(w, "Normal", "ExternalProvisioning", "persistentvolume-controller", "Waiting for a volume to be created either by the external provisioner '"+w.Driver+"' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.")
	}
	failed := func(w *world, text string) *world {
		return pvcEvent(w, "Warning", "ProvisioningFailed", w.Driver+"_controller-0_6d", "failed to provision volume with StorageClass \"fast\": "+text)
	}
	const params = "reclaimPolicy: Delete\nvolumeBindingMode"
	rows := []row{
		// provisioner-not-responding
		{"pnr crash loop", "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data", controllerCrashes(waitsFor(pendingClaim(cinder(), "Immediate", anno("cinder.csi.openstack.org"))), "", "CrashLoopBackOff").Waits()},
		{"pnr crash loop wffc", "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data", func() *world {
			w := controllerCrashes(waitsFor(pendingClaim(pd(), "WaitForFirstConsumer", anno("pd.csi.storage.gke.io")+on("n1"))), "", "CrashLoopBackOff")
			return unscheduled(w, "running PreBind plugin \"VolumeBinding\": binding volumes: timed out waiting for the condition")
		}()},
		{"pnr runs, and its log has ended", "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data", waitsFor(pendingClaim(vs(), "Immediate", anno("csi.vsphere.vmware.com"))).Waits().File("logs/kube-system/controller-0/csi-provisioner.log", "I0102 09:10:00.000000       1 controller.go:1082] Successfully provisioned volume pvc-1\n")},
		{"pnr runs, and its log goes on", "broken: unexplained claim-pending; unexplained pod-waiting-for-volume", waitsFor(pendingClaim(vs(), "Immediate", anno("csi.vsphere.vmware.com"))).Waits().File("logs/kube-system/controller-0/csi-provisioner.log", "I0102 09:10:00.000000       1 controller.go:1082] Successfully provisioned volume pvc-1\nI0102 11:50:00.000000       1 leaderelection.go:271] successfully renewed\n")},
		{"pnr workload gone", "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data", waitsFor(pendingClaim(vs().Drop("name: controller-0"), "Immediate", anno("csi.vsphere.vmware.com"))).Waits()},
		{"pnr Deployment at zero", "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data", waitsFor(pendingClaim(vs().Drop("name: controller-0"), "Immediate", anno("csi.vsphere.vmware.com"))).Waits().Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kube-system, name: vsphere-csi-controller, uid: 'aa000000-0000-4000-8000-000000000001'}
spec: {replicas: 0, selector: {matchLabels: {app: c}}, template: {metadata: {labels: {app: c}}, spec: {containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1', args: [--csi-address=/csi/csi.sock]}, {name: vsphere-csi-controller, image: 'registry.k8s.io/csi-vsphere/driver:v3'}]}}}
status: {replicas: 0}
`)},
		{"pnr lease stale", "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data", waitsFor(pendingClaim(mayastor(), "Immediate", anno("io.openebs.csi-mayastor"))).Waits().Add(`
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: kube-system, name: io-openebs-csi-mayastor}
spec: {holderIdentity: controller-old, leaseDurationSeconds: 15, renewTime: '2026-01-02T11:20:00.000000Z'}
`)},
		{"pnr look-alike: just now", "waiting", waitsFor(pendingClaim(pd(), "Immediate", anno("pd.csi.storage.gke.io"))).Edit("creationTimestamp: '2026-01-02T11:30:00Z', finalizers", "creationTimestamp: '2026-01-02T11:59:50Z', finalizers")},
		{"pnr annotation beta only (old prov. reads beta) fine", "broken: unexplained claim-pending; unexplained pod-waiting-for-volume", waitsFor(pendingClaim(pd(), "Immediate", "volume.kubernetes.io/storage-provisioner: pd.csi.storage.gke.io")).Waits()},
		{"pnr annotation contradicts", "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data", waitsFor(pendingClaim(pd(), "Immediate", anno("kubernetes.io/gce-pd"))).Waits()},
		{"pnr recovered: bound", "healthy", func() *world {
			w := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
			return waitsFor(w)
		}()},
		// provisioning-failed
		{"pf exhausted pd", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(pd(), "Immediate", anno("pd.csi.storage.gke.io")), "rpc error: code = ResourceExhausted desc = CreateVolume failed to create single zonal disk pvc-1: failed to insert zonal disk: googleapi: Error 403: QUOTA_EXCEEDED - Quota 'SSD_TOTAL_GB' exceeded.  Limit: 500.0 in region europe-west1.").Waits()},
		{"pf vsphere datastore", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(vs(), "Immediate", anno("csi.vsphere.vmware.com")), "rpc error: code = Internal desc = failed to create volume. Error: CnsFault error: CNS: Insufficient disk space on datastore 'vsanDatastore'.").Waits()},
		{"pf snapshot missing", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(cinder(), "Immediate", anno("cinder.csi.openstack.org")).Edit("storageClassName: fast, resources", "storageClassName: fast, dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: snap-1}, resources"), "error getting handle for DataSource Type VolumeSnapshot by Name snap-1: error getting snapshot snap-1 from api server: volumesnapshots.snapshot.storage.k8s.io \"snap-1\" not found").Waits()},
		{"pf clone smaller", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(mayastor(), "Immediate", anno("io.openebs.csi-mayastor")).Edit("storageClassName: fast, resources", "storageClassName: fast, dataSource: {kind: PersistentVolumeClaim, name: src}, resources"), "error getting handle for DataSource Type PersistentVolumeClaim by Name src: new PVC request must be greater than or equal in size to the specified PVC data source, requested 10737418240 but source is 21474836480").Waits()},
		{"pf old and class fixed: past", "broken: likely provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(mayastor(), "Immediate", anno("io.openebs.csi-mayastor")), "rpc error: code = Internal desc = x").Waits().Edit("2026-01-02T11:59:00Z", "2026-01-02T11:35:00Z")},
		{"pf topolvm: capacity by scheduler", "broken: likely provisioning-failed PersistentVolumeClaim shop/data", unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 3 node(s) did not have enough free storage. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")},
		{"pf topolvm: room on a tainted node", "broken: likely provisioning-failed PersistentVolumeClaim shop/data; possible consumer-unschedulable Pod shop/web-0", roomOn(", taints: [{key: gpu, effect: NoSchedule}]")},
		{"pf topolvm: room where it may run, published meanwhile", "broken: possible consumer-unschedulable Pod shop/web-0; unexplained claim-pending; unexplained pod-waiting-for-volume", roomOn("")},
		{"pf topolvm: resource of the driver", "broken: likely provisioning-failed PersistentVolumeClaim shop/data; possible consumer-unschedulable Pod shop/web-0", unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient topolvm.io/capacity.")},
		{"cu topolvm: a resource of the driver that no node has", "broken: certain consumer-unschedulable Pod shop/web-0", offering("pods: '110'")},
		{"pf topolvm: a resource of the driver that some node has", "broken: likely provisioning-failed PersistentVolumeClaim shop/data", offering("topolvm.io/capacity: '1'")},
		{"pf topolvm: an event alone says it", "broken: likely provisioning-failed PersistentVolumeClaim shop/data", unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), tooLittle).Edit(fmt.Sprintf("reason: Unschedulable, message: %q, ", tooLittle), "")},
		{"al: the claim waits for the pod that finds no node", "broken: certain attach-limit-exceeded Node n1", fullNodes()},
		{"cu topolvm: words of an extender", "broken: likely consumer-unschedulable Pod shop/web-0", unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 3 out of VG free space.")},
		{"cu topolvm: nodes alone", "broken: certain consumer-unschedulable Pod shop/web-0", unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "0/3 nodes are available: 1 Insufficient example.com/gpu, 2 node(s) had taint {a: b}, that the pod did not tolerate. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")},
		{"pf gce: right on a key", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", failed(pendingClaim(vol("pd.csi.storage.gke.io", "x", ""), "Immediate", anno("pd.csi.storage.gke.io")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {type: pd-ssd, disk-encryption-kms-key: projects/p/keyRings/r/cryptoKeys/k}\nreclaimPolicy: Delete\nvolumeBindingMode"), `rpc error: code = InvalidArgument desc = failed to insert zonal disk: googleapi: Error 400: Cloud KMS error when using key projects/p/keyRings/r/cryptoKeys/k: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource 'projects/p/keyRings/r/cryptoKeys/k' (or it may not exist)., kmsPermissionDenied`).Waits()},
		{"pf gce: size of a type", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(vol("pd.csi.storage.gke.io", "x", ""), "Immediate", anno("pd.csi.storage.gke.io")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {type: hyperdisk-ml}\nreclaimPolicy: Delete\nvolumeBindingMode"), `rpc error: code = InvalidArgument desc = googleapi: Error 400: Disk size: '10 GB' is smaller than the minimum '64 GB' allowed for disk type 'hyperdisk-ml'., invalid`).Waits()},
		{"pf ebs: key, behind HTTP", "broken: likely storageclass-parameter-wrong StorageClass fast", failed(pendingClaim(vol("ebs.csi.aws.com", "x", ""), "Immediate", anno("ebs.csi.aws.com")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {kmsKeyId: 'arn:aws:kms:eu-west-1:1:key/abc-1'}\nreclaimPolicy: Delete\nvolumeBindingMode"), `rpc error: code = Internal desc = could not create volume in EC2: operation error EC2: CreateVolume, https response error StatusCode: 400, api error InvalidParameterValue: Value (arn:aws:kms:eu-west-1:1:key/abc-1) for parameter KmsKeyId is invalid.`).Waits()},
		{"pf azure permission", "broken: certain csi-credentials-wrong ServiceAccount kube-system/default", failed(pendingClaim(vol("disk.csi.azure.com", "/subscriptions/x/d", ""), "Immediate", anno("disk.csi.azure.com")), "rpc error: code = Internal desc = Retriable: false, RetryAfter: 0s, HTTPStatusCode: 403, RawError: {\"error\":{\"code\":\"AuthorizationFailed\",\"message\":\"The client 'abc' with object id 'abc' does not have authorization to perform action 'Microsoft.Compute/disks/write' over scope '/subscriptions/x'\"}}").Waits()},
		{"pf azure throttle", "waiting: certain backend-throttled PersistentVolumeClaim shop/data waiting", failed(pendingClaim(vol("disk.csi.azure.com", "/subscriptions/x/d", ""), "Immediate", anno("disk.csi.azure.com")), "rpc error: code = Internal desc = Retriable: true, RetryAfter: 17s, HTTPStatusCode: 429, RawError: azure cloud provider throttled for operation DiskCreateOrUpdate with reason TooManyRequests").Waits()},
		// storageclass-parameter-wrong
		{"scp ebs iops", "broken: likely storageclass-parameter-wrong StorageClass fast", failed(pendingClaim(ebs(), "Immediate", anno("ebs.csi.aws.com")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {type: gp33}\nreclaimPolicy: Delete\nvolumeBindingMode"), "rpc error: code = InvalidArgument desc = Could not create volume \"pvc-1\": invalid AWS VolumeType \"gp33\"").Waits()},
		{"scp unknown parameter", "broken: likely storageclass-parameter-wrong StorageClass fast", failed(pendingClaim(ebs(), "Immediate", anno("ebs.csi.aws.com")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {volumetype: gp3}\nreclaimPolicy: Delete\nvolumeBindingMode"), "rpc error: code = InvalidArgument desc = Invalid parameter key volumetype for CreateVolume").Waits()},
		{"scp value without quotes", "broken: likely storageclass-parameter-wrong StorageClass fast", failed(pendingClaim(azure(), "Immediate", anno("disk.csi.azure.com")).Edit(params, "parameters: {skuName: Premium_LSR}\n"+params), "rpc error: code = InvalidArgument desc = azureDisk - Premium_LSR is not supported sku/storageaccounttype. Supported values are [Premium_LRS Premium_ZRS]").Waits()},
		{"scp value unknown, of no code", "broken: likely storageclass-parameter-wrong StorageClass fast", failed(pendingClaim(vs(), "Immediate", anno("csi.vsphere.vmware.com")).Edit(params, "parameters: {storagepolicyname: gold-raid5}\n"+params), "rpc error: code = Internal desc = failed to create volume. Error: failed to get profile ID by name gold-raid5. Error: no pbm profile found with name: \"gold-raid5\"").Waits()},
		{"scp look-alike: a thing in what the value names", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", failed(pendingClaim(rbd(), "Immediate", anno("rbd.csi.ceph.com")).Edit(params, "parameters: {pool: kube}\n"+params), "rpc error: code = Internal desc = failed to clone in pool kube: image kube/csi-vol-parent not found").Waits()},
		// wffc
		{"wffc nodeName", "broken: certain wffc-bypassed-by-nodename Pod shop/web-0", pvcEvent(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", ""), "Normal", "WaitForFirstConsumer", "persistentvolume-controller", "waiting for first consumer to be created before binding").Waits().Edit("conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, {type: Ready", "conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, {type: Ready").Edit("template: {metadata: {labels: {app: web}}, spec: {containers", "template: {metadata: {labels: {app: web}}, spec: {nodeName: n1, containers")},
		// topology
		{"topo gce two zones vs selector", "broken: certain topology-conflict PersistentVolume pv-data", unscheduled(zones(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", zonePV("topology.gke.io/zone", "europe-west1-d")), "topology.gke.io/zone", "europe-west1-b", "europe-west1-c", "europe-west1-b"), "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")},
		{"topo pod selector", "broken: certain topology-conflict PersistentVolume pv-data", unscheduled(zones(vol("cinder.csi.openstack.org", "d", zonePV("topology.cinder.csi.openstack.org/zone", "az1")), "topology.cinder.csi.openstack.org/zone", "az1", "az2", "az2"), "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had volume node affinity conflict.").Edit("spec: {restartPolicy: Always", "spec: {nodeSelector: {topology.cinder.csi.openstack.org/zone: az2}, restartPolicy: Always")},
		{"topo cordoned local", "broken: certain topology-conflict PersistentVolume pv-data", unscheduled(sketch.NewWorld("", "", localPV), "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity.").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}")},
		{"topo local node gone", "broken: certain topology-conflict PersistentVolume pv-data", unscheduled(sketch.NewWorld("", "", strings.ReplaceAll(localPV, "values: [n1]", "values: [n9]")), "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity.")},
		{"topo look-alike cpu", "broken: unexplained pod-waiting-for-volume", unscheduled(zones(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", zonePV("topology.gke.io/zone", "b")), "topology.gke.io/zone", "b", "c", "c"), "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match PersistentVolume's node affinity.")},
		{"topo nodes forbidden", "broken: unexplained pod-waiting-for-volume", unscheduled(zones(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", zonePV("topology.gke.io/zone", "d")), "topology.gke.io/zone", "b", "c", "c"), "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity.").Drop("kind: Node\n").Gap("api//nodes", "Forbidden")},
		{"topo kubelet variant", "broken: certain topology-conflict PersistentVolume pv-data", zones(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", zonePV("topology.gke.io/zone", "c")), "topology.gke.io/zone", "b", "c", "c").Waits().FailedMount("MountVolume.NodeAffinity check failed for volume \"pv-data\" : no matching NodeSelectorTerms")},
		{"topo plugin never ran there", "broken: likely csi-plugin-not-on-node Node n1", unscheduled(zones(vol("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d", zonePV("topology.gke.io/zone", "b")), "topology.gke.io/zone", "", "c", "c"), "0/3 nodes are available: 3 node(s) had volume node affinity conflict.").Edit("metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: pd.csi.storage.gke.io, nodeID: n1, topologyKeys: null}]}", "metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: []}").Drop("name: plugin-1, uid")},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}
