package e2e

import (
	"testing"
	"time"
)

var faults = []fault{
	{
		name: "create-refused", call: "CreateVolume", how: "Internal pool fast is offline",
		life: nothing, trigger: nothing, object: "data", seen: "pool fast is offline",
		want: cause{Name: "provisioning-failed", Certainty: "certain", Subject: claimOf("create-refused")}, says: []string{"pool fast is offline"},
		cure: nothing, cured: bound,
	},
	{
		name: "create-throttled", call: "CreateVolume", how: "ResourceExhausted Rate exceeded: too many requests, try again after 30 s",
		life: nothing, trigger: nothing, object: "data", seen: "Rate exceeded",
		want: cause{Name: "backend-throttled", Certainty: "certain", Subject: claimOf("create-throttled")},
		cure: nothing, cured: bound,
	},
	{
		name: "create-hangs", call: "CreateVolume", how: "hang",
		life: nothing, trigger: nothing, object: "data", seen: "context deadline exceeded",
		want: cause{Name: "provisioning-failed", Certainty: "certain", Subject: claimOf("create-hangs")},
		cure: nothing, cured: bound,
	},
	{
		name: "zone", class: "zonal",
		life: bound, trigger: func(t *testing.T, v vars) {
			apply(t, "selected.yaml", v.with(vars{"POD": "db", "NODE": "worker-2"}))
		}, object: "db", seen: "node affinity", lasts: 75 * time.Second,
		want: cause{Name: "topology-conflict", Certainty: "certain"},
		cure: func(t *testing.T, v vars) {
			kubectl(t, "-n", v["NS"], "delete", "pod", "db")
			apply(t, "selected.yaml", v.with(vars{"POD": "db", "NODE": "worker-1"}))
		}, cured: runs("db"),
	},
	{
		name: "attach-node-unknown", call: "ControllerPublishVolume", how: "NotFound node worker-2 not found",
		life: bound, trigger: starts, object: "db", seen: "not found",
		want: cause{Name: "backend-node-unknown", Certainty: "certain", Subject: subject{Kind: "Node", Name: "worker-2"}},
		cure: nothing, cured: runs("db"),
	},
	{
		name: "attach-throttled", call: "ControllerPublishVolume", how: "ResourceExhausted RequestLimitExceeded: Request limit exceeded",
		life: bound, trigger: starts, object: "db", seen: "Request limit exceeded", lasts: 75 * time.Second,
		want: cause{Name: "backend-throttled"}, says: []string{"Request limit exceeded"},
		cure: nothing, cured: runs("db"),
	},
	{
		name: "attach-refused", call: "ControllerPublishVolume", how: "Internal array controller B does not answer",
		life: bound, trigger: starts, object: "db", seen: "does not answer",
		unexplained: "attach-failed", says: []string{"refuses to attach the volume to node worker-2", "array controller B"},
		cure: nothing, cured: runs("db"),
	},
	{
		name: "attach-hangs", call: "ControllerPublishVolume", how: "hang",
		life: bound, trigger: starts, object: "db", seen: "context deadline exceeded",
		unexplained: "attach-failed", says: []string{"asked to attach the volume to node worker-2, and does not answer in time"},
		cure: nothing, cured: runs("db"),
	},
	{
		name: "detach-refused", call: "ControllerUnpublishVolume", how: "Internal array controller B does not answer",
		life: pod1, trigger: moves, object: "attachment", seen: "does not answer",
		unexplained: "detach-stuck", says: []string{"array controller B", "refuses to detach the volume from node worker-1"},
		cure: nothing, cured: runs("db-moved"),
	},
	{
		name: "detach-hangs", call: "ControllerUnpublishVolume", how: "hang",
		life: pod1, trigger: moves, object: "attachment", seen: "deadline exceeded",
		unexplained: "detach-stuck", says: []string{"asked to detach the volume from node worker-1, and does not answer in time"},
		cure: nothing, cured: runs("db-moved"),
	},
	{
		name: "expand-refused", call: "ControllerExpandVolume", how: "OutOfRange the pool is limited to 100 MiB a volume",
		life: pod1, trigger: func(t *testing.T, v vars) {
			kubectl(t, "-n", v["NS"], "patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"128Mi"}}}}`)
		}, object: "data", seen: "limited to 100 MiB",
		want: cause{Name: "expansion-refused-by-backend", Certainty: "certain", Subject: claimOf("expand-refused")},
		cure: nothing, cured: func(t *testing.T, v vars) {
			eventually(t, 90*time.Second, "the claim has its new size", func() bool {
				return field("{.status.capacity.storage}", "-n", v["NS"], "pvc", "data") == "128Mi"
			})
		},
	},
	{
		name: "delete-refused", call: "DeleteVolume", how: "Internal array controller B does not answer",
		life: bound, trigger: func(t *testing.T, v vars) {
			v["PV"] = boundVolume(v["NS"])
			kubectl(t, "-n", v["NS"], "delete", "pvc", "data")
		}, object: "volume", seen: "does not answer", ask: func(v vars) []string { return []string{"volume", v["PV"]} },
		unexplained: "claim-pending", says: []string{"refuses to delete the volume", "array controller B"},
		cure: nothing, cured: func(t *testing.T, v vars) {
			eventually(t, 2*time.Minute, "volume "+v["PV"]+" is gone", func() bool {
				return field("{.metadata.name}", "persistentvolume", v["PV"]) == ""
			})
			apply(t, "claim.yaml", v)
			bound(t, v)
			v["PV"] = boundVolume(v["NS"])
		},
	},
	{
		name: "device-wrong", call: "ControllerPublishVolume", how: "answer /dev/disk/by-id/virtio-0a1b2c3d4e5f",
		life: bound, trigger: starts, object: "db", seen: "is not on the node", lasts: 75 * time.Second, // the attachment may be slow at first
		want: cause{Name: "attached-in-api-missing-on-node", Certainty: "certain"},
		cure: func(t *testing.T, v vars) { // as the report advises
			kubectl(t, "-n", v["NS"], "delete", "pod", "db")
			eventually(t, time.Minute, "the attachment is undone", func() bool {
				return field(`{.items[?(@.spec.source.persistentVolumeName=="`+boundVolume(v["NS"])+`")].metadata.name}`, "volumeattachments.storage.k8s.io") == ""
			})
			starts(t, v)
		}, cured: runs("db"),
	},
}

func claimOf(ns string) subject {
	return subject{Kind: "PersistentVolumeClaim", Namespace: ns, Name: "data"}
}

func nothing(*testing.T, vars) {}

func bound(t *testing.T, v vars) { waitBound(t, v["NS"]) }

// pod1 lets a pod use the volume on worker-1; ready waits for it.
func pod1(t *testing.T, v vars) {
	bound(t, v)
	apply(t, "pod.yaml", v.with(vars{"POD": "db", "NODE": "worker-1"}))
}

func ready(t *testing.T, v vars) {
	if field("{.metadata.name}", "-n", v["NS"], "pod", "db") != "" {
		waitRunning(t, v["NS"], "db")
	}
}

func starts(t *testing.T, v vars) {
	apply(t, "pod.yaml", v.with(vars{"POD": "db", "NODE": "worker-2"}))
}

func moves(t *testing.T, v vars) {
	kubectl(t, "-n", v["NS"], "delete", "pod", "db")
	apply(t, "pod.yaml", v.with(vars{"POD": "db-moved", "NODE": "worker-2"}))
}

// runs waits as long as the attach-detach controller may pause between two tries.
func runs(pod string) func(*testing.T, vars) {
	return func(t *testing.T, v vars) {
		eventually(t, 3*time.Minute, "pod "+v["NS"]+"/"+pod+" is ready", func() bool {
			return field(`{.status.containerStatuses[0].ready}`, "-n", v["NS"], "pod", pod) == "true"
		})
	}
}
