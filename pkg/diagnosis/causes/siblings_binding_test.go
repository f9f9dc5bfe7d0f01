package causes

import (
	"fmt"
	"strings"
	"testing"
)

type ask struct {
	name, q, want string
	w             *world
}

func TestSiblingsOfBindingAndRisks(t *testing.T) {
	t.Parallel()
	rwop := func(w *world) *world {
		return w.Edit("accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteOncePod]")
	}
	terminating := func(w *world) *world {
		return w.Edit("creationTimestamp: '2025-12-01T08:00:00Z', finalizers: [kubernetes.io/pvc-protection]", "creationTimestamp: '2025-12-01T08:00:00Z', deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [kubernetes.io/pvc-protection]")
	}
	job := "{apiVersion: batch/v1, kind: Job, name: backup, uid: 'e4000000-0000-4000-8000-000000000001', controller: true}"
	claimref := func(w *world, uid, pvphase string) *world {
		w.Edit("status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Pending}")
		w.Edit("name: data, uid: 'c0000000-0000-4000-8000-000000000001'}\n  accessModes", "name: data, uid: '"+uid+"'}\n  accessModes")
		w.Edit("status: {phase: Bound}", "status: {phase: "+pvphase+"}")
		return w
	}
	second2 := func(w *world, pvname, handle, claim string) *world {
		return w.Add(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s, uid: 'a0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-20T08:00:00Z', finalizers: [kubernetes.io/pv-protection]}
spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteMany], persistentVolumeReclaimPolicy: Retain, csi: {driver: %[4]s, volumeHandle: '%[2]s', volumeAttributes: {server: 10.9.0.5, share: /export/other}}, claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: shop, name: %[3]s, uid: 'c0000000-0000-4000-8000-000000000002'}}
status: {phase: Bound}
`, pvname, handle, claim, w.Driver), fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: %[2]s, uid: 'c0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-20T08:00:00Z', finalizers: [kubernetes.io/pvc-protection]}
spec: {accessModes: [ReadWriteMany], volumeMode: Filesystem, storageClassName: '', volumeName: %[1]s, resources: {requests: {storage: 10Gi}}}
status: {phase: Bound, accessModes: [ReadWriteMany], capacity: {storage: 10Gi}}
`, pvname, claim))
	}
	agent := func(w *world, host, prop, tag string) *world {
		w.Add(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: mon, name: exporter-1, uid: '77000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-20T08:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: exporter, uid: '77100000-0000-4000-8000-000000000001', controller: true}]}
spec: {nodeName: n1, containers: [{name: e, image: 'quay.io/prometheus/node-exporter:v1.7', volumeMounts: [{name: root, mountPath: /host%[2]s}]}], volumes: [{name: root, hostPath: {path: %[1]s}}]}
status: {phase: Running, startTime: '2025-12-20T08:00:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: e, ready: true, restartCount: 0, containerID: 'containerd://%[3]s', state: {running: {startedAt: '2025-12-20T08:00:00Z'}}}]}
`, host, prop, strings.Repeat("ef", 32)))
		return w.Process("n1", 7000, "77000000-0000-4000-8000-000000000001", "node_exporter", 4026533000, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 8:2 / /host ro,relatime"+tag+" - ext4 /dev/sda2 rw\n902 901 259:1 / /host"+w.Publish(0)+" ro,relatime"+tag+" - ext4 /dev/nvme1n1 rw")
	}
	healthyEBS := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	forgotten := func(in string, nodes ...string) *world { // a driver that these kubelets do not know
		w := ebs()
		for _, n := range nodes {
			w.Edit("drivers: [{name: ebs.csi.aws.com, nodeID: "+n+", topologyKeys: null}]", "drivers: []")
		}
		return w.Answers(in)
	}
	rows := []ask{
		{"rwop second pod unscheduled", "", "broken: certain claim-in-use-rwop PersistentVolumeClaim shop/data", second(unscheduled(rwop(cinderW()), "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."), "other", "n2", job, "Running", "").Attached("n2")},
		{"rwop holder terminating long", "", "broken: certain claim-in-use-rwop PersistentVolumeClaim shop/data; unexplained pod-stuck-terminating", second(unscheduled(rwop(cinderW()), "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."), "other", "n2", job, "Running", deleted).Attached("n2")},
		{"rwop pods forbidden elsewhere", "", "broken: certain claim-in-use-rwop PersistentVolumeClaim shop/data", second(rwop(cinderW()).Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : volume uses the ReadWriteOncePod access mode and is already in use by another pod"), "other", "n1", job, "Running", "").Gap("api//pods/kube-system", "Forbidden")},
		{"kept by finished job", "", "broken: certain claim-kept-by-finished-pod PersistentVolumeClaim shop/data", second(terminating(cinderW()), "job-1", "n2", job, "Succeeded", "")},
		{"kept: also running", "", "waiting: certain deletion-blocked-by-finalizer PersistentVolumeClaim shop/data waiting", second(second(terminating(cinderW()), "job-1", "n2", job, "Succeeded", ""), "app-2", "n1", "", "Running", "")},
		{"kept: ttl job", "", "waiting: certain claim-kept-by-finished-pod PersistentVolumeClaim shop/data waiting", second(terminating(cinderW()), "job-1", "n2", job, "Succeeded", "").Add("\napiVersion: batch/v1\nkind: Job\nmetadata: {namespace: shop, name: backup, uid: 'e4000000-0000-4000-8000-000000000001'}\nspec: {ttlSecondsAfterFinished: 100000000, template: {spec: {containers: []}}}\nstatus: {succeeded: 1, completionTime: '2025-12-31T13:00:10Z', conditions: [{type: Complete, status: 'True', lastTransitionTime: '2025-12-31T13:00:10Z'}]}\n")},
		{"claimref stale", "", "broken: certain claimref-stale PersistentVolume pv-data", claimref(cinderW(), "c9999999-0000-4000-8000-000000000009", "Released").Waits()},
		{"claimref stale, no pod", "", "broken: certain claimref-stale PersistentVolume pv-data", claimref(cinderW(), "c9999999-0000-4000-8000-000000000009", "Released")},
		{"claimref without volumeName", "", "broken: certain claimref-stale PersistentVolume pv-data", claimref(cinderW(), "c9999999-0000-4000-8000-000000000009", "Released").Edit("volumeName: pv-data, ", "").Edit("storageClassName: fast, resources", "storageClassName: '', resources").Edit("storageClassName: fast\n", "storageClassName: ''\n").Waits()},
		{"lost", "", "broken: certain claim-lost-volume PersistentVolumeClaim shop/data", cinderW().Drop("kind: PersistentVolume\n").Edit("status: {phase: Bound, acc", "status: {phase: Lost, acc").Waits()},
		{"lost, and names none", "", "broken: certain claim-lost-volume PersistentVolumeClaim shop/data", unscheduled(cinderW().Drop("kind: PersistentVolume\n").Edit("status: {phase: Bound, acc", "status: {phase: Lost, acc").Edit("volumeName: pv-data, ", "").Edit("kind: PersistentVolumeClaim\nmetadata: {", "kind: PersistentVolumeClaim\nmetadata: {annotations: {pv.kubernetes.io/bind-completed: 'yes'}, "), "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.")},
		{"lost under a pod that runs", "", "degraded: certain claim-lost-volume PersistentVolumeClaim shop/data", cinderW().Drop("kind: PersistentVolume\n").Edit("status: {phase: Bound, acc", "status: {phase: Lost, acc").Runs(0).Unprobed("n1", "NotRequested")},
		{"lost, no phase yet, unscheduled", "", "broken: certain claim-lost-volume PersistentVolumeClaim shop/data", unscheduled(cinderW().Drop("kind: PersistentVolume\n"), "0/3 nodes are available: persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv-data\".")},
		{"pv terminating", "", "broken: certain mount-missing-under-pod Pod shop/web-0; certain deletion-blocked-by-finalizer PersistentVolume pv-data waiting", cinderW().Edit("kind: PersistentVolume\nmetadata: {name: pv-data, ", "kind: PersistentVolume\nmetadata: {name: pv-data, deletionTimestamp: '2026-01-02T11:00:00Z', ").Runs(0).Attached("n1")},
		{"dup handles nfs", "", "broken: certain volumehandle-duplicate PersistentVolume pv-two", second2(nfs().Waits(), "pv-two", "nas#data", "two").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: two, persistentVolumeClaim: {claimName: two}}]").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms")},
		{"dup handles different nodes", "", "healthy", func() *world {
			w := second2(nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)), "pv-two", "nas#data", "two")
			second(w, "other", "n2", "", "Running", "").Edit("'dd0c5a7e-0f3d-4a6b-9a55-6f7468657230', creation", "'dd0c5a7e-0f3d-4a6b-9a55-6f7468657230', creation")
			return w.Edit("labels: {app: other}}\nspec: {nodeName: n2, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "labels: {app: other}}\nspec: {nodeName: n2, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: two}}]")
		}()},
		{"one claim twice in pod", "", "broken: certain volumehandle-duplicate PersistentVolume pv-data", cinderW().Waits().Attached("n1").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: data2, persistentVolumeClaim: {claimName: data}}]").FailedMount("Unable to attach or mount volumes: unmounted volumes=[data2], unattached volumes=[data2], failed to process volumes=[]: timed out waiting for the condition")},
		{"risk: private root", "node n1", "healthy: certain host-root-mounted-privately Pod mon/exporter-1", agent(healthyEBS(), "/", "", "")},
		{"risk: slave root", "node n1", "healthy", agent(healthyEBS(), "/", ", mountPropagation: HostToContainer", " master:1")},
		{"risk: unset, slave in fact", "node n1", "healthy", agent(healthyEBS(), "/", "", " master:1")},
		{"risk: other path", "node n1", "healthy", agent(healthyEBS(), "/etc", "", "")},
		{"risk: /var unprobed", "node n1", "unknown: likely host-root-mounted-privately Pod mon/exporter-1", agent(healthyEBS(), "/var", "", "").Unprobed("n1", "PodRejected")},
		{"unknown to a kubelet that needs it not", "node n2", "degraded: certain csi-plugin-not-registered Pod kube-system/plugin-2", forgotten("n2", "n2")},
		{"and who asks about the cluster", "cluster", "degraded: certain csi-plugin-not-registered Pod kube-system/plugin-2", forgotten("n2", "n2")},
		{"unknown, the node was not looked at", "node n2", "degraded: likely csi-plugin-not-registered Pod kube-system/plugin-2", forgotten("n2", "n2").Unprobed("n2", "PodRejected")},
		{"unknown since a moment ago", "node n2", "healthy", forgotten("n2", "n2").EditIn("name: plugin-2", "startedAt: '2025-11-07T13:25:00Z'", "startedAt: '2026-01-02T11:59:10Z'")},
		{"no kubelet knows it", "node n2", "healthy", forgotten("n2", "n1", "n2", "n3")},
		{"risk: hard nfs", "node n1", "healthy: certain volumes-behind-hard-nfs Node n1", nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0))},
		{"risk: same host names", "cluster", "healthy: certain hostname-shared Node n1; certain hostname-shared Node n2", healthyEBS().Entries("n1", "@hostname", "localhost", "proc/sys/kernel/hostname", "localhost").Entries("n2", "@hostname", "localhost", "proc/sys/kernel/hostname", "localhost")},
		{"risk: out of service on ready", "node n1", "healthy: certain force-detach-imminent Node n1", healthyEBS().Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute}]}")},
		{"hostpath dir absent ds", "pod shop/web-0", "broken: certain hostpath-type-mismatch Pod shop/web-0", nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: d, hostPath: {path: /srv/models, type: Directory}}]").FailedMount("MountVolume.SetUp failed for volume \"d\" : hostPath type check failed: /srv/models is not a directory")},
		{"hostpath no text, entry contradicts", "pod shop/web-0", "broken: certain hostpath-type-mismatch Pod shop/web-0", nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms", "srv/models", "file").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: d, hostPath: {path: /srv/models, type: Directory}}]")},
		{"plugin host path: rbd map waits udev", "", "broken: likely csi-plugin-host-path-missing DaemonSet kube-system/plugin", rbdMapped(rbd().Waits().Attached("n1"), "n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Aborted desc = an operation with the given Volume ID 0001-0009-rook-ceph-0000000000000002-bbbb already exists").Process("n1", 4400, "5000c0de-0000-4000-8000-000000000001", "rbd", 4026532500, "").Entries("n1", "proc/4400/cmdline", "rbd␀map␀kube/csi-vol-bbbb␀--device-type␀krbd␀")},
		{"node with two waits: second unrelated fault", "", "broken: certain node-down Node n2", notReady(cinderW().Waits().Attached("n2"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: tls, secret: {secretName: tls-cert}}]")},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			q := r.q
			if q == "" {
				q = "pvc shop/data"
			}
			show(t, r.w, q, r.want)
		})
	}
}

func cinderW() *world {
	return vol("cinder.csi.openstack.org", "0e6dd0a8-1111-4222-8333-123456789012", "")
}
