package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fault is one way in which the driver's controller fails one volume, told to
// Kubernetes by the sidecars of the CSI project.
type fault struct {
	name string // and the claim's namespace
	call string // of the driver, that fails
	how  string // see driver/fault.go
	// before is done while all is well, trigger after that.
	before, trigger func(*testing.T, vars)
	seen            string // words of an event, about object
	object          string
	ask             []string
	// want is the first root cause.
	want, about, certainty string
	// cured waits until the cure has had its effect.
	cured func(*testing.T, vars)
}

// switchOn makes a call of the driver fail for the claims of one namespace.
func (f fault) switchOn(t *testing.T, v vars) {
	t.Helper()
	if f.call == "" {
		return
	}
	file := f.file(v)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".new", []byte(f.how), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.switchOff(t, v) })
}

func (f fault) switchOff(t *testing.T, v vars) {
	t.Helper()
	if err := os.Remove(f.file(v)); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

func (f fault) file(v vars) string {
	return filepath.Join(cluster.Images(), "faults", v["DRIVER"], v["NS"], f.call)
}

// claimed and running are what a volume's life has reached when the fault begins.
func claimed(t *testing.T, v vars) { waitBound(t, v["NS"]) }

func running1(t *testing.T, v vars) {
	claimed(t, v)
	runPod(t, v, "db", "worker-1")
}

func start(t *testing.T, v vars) {
	apply(t, "pod.yaml", v.with(vars{"POD": "db", "NODE": "worker-2"}))
}

func move(t *testing.T, v vars) {
	kubectl(t, "-n", v["NS"], "delete", "pod", "db")
	apply(t, "pod.yaml", v.with(vars{"POD": "db-moved", "NODE": "worker-2"}))
}

func runs(pod string) func(*testing.T, vars) {
	return func(t *testing.T, v vars) { waitRunning(t, v["NS"], pod) }
}

func none(*testing.T, vars) {}

var faults = []fault{
	{
		name: "create-refused", call: "CreateVolume", how: "Internal pool fast is offline",
		before: none, trigger: none, seen: "pool fast is offline", object: "data",
		want: "provisioning-failed", about: "PersistentVolumeClaim create-refused/data", certainty: "certain", cured: claimed,
	},
	{
		name: "create-throttled", call: "CreateVolume", how: "ResourceExhausted Rate exceeded: too many requests, try again after 30 s",
		before: none, trigger: none, seen: "Rate exceeded", object: "data",
		want: "backend-throttled", about: "PersistentVolumeClaim create-throttled/data", certainty: "certain", cured: claimed,
	},
	{
		name: "create-hangs", call: "CreateVolume", how: "hang",
		before: none, trigger: none, seen: "context deadline exceeded", object: "data",
		want: "provisioning-failed", about: "PersistentVolumeClaim create-hangs/data", certainty: "certain", cured: claimed,
	},
	{
		name: "attach-node-unknown", call: "ControllerPublishVolume", how: "NotFound node worker-2 not found",
		before: claimed, trigger: start, seen: "not found", object: "db",
		want: "backend-node-unknown", about: "Node worker-2", certainty: "certain", cured: runs("db"),
	},
	{
		name: "attach-throttled", call: "ControllerPublishVolume", how: "ResourceExhausted RequestLimitExceeded: Request limit exceeded",
		before: claimed, trigger: start, seen: "Request limit exceeded", object: "db",
		want: "backend-throttled", about: "", certainty: "certain", cured: runs("db"),
	},
	{
		name: "attach-refused", call: "ControllerPublishVolume", how: "Internal array controller B does not answer",
		before: claimed, trigger: start, seen: "does not answer", object: "db",
		want: "", about: "", certainty: "", cured: runs("db"),
	},
	{
		name: "attach-hangs", call: "ControllerPublishVolume", how: "hang",
		before: claimed, trigger: start, seen: "context deadline exceeded", object: "db",
		want: "", about: "", certainty: "", cured: runs("db"),
	},
	{
		name: "device-wrong", call: "ControllerPublishVolume", how: "answer /dev/disk/by-id/virtio-0a1b2c3d4e5f",
		before: claimed, trigger: start, seen: "is not on the node", object: "db",
		want: "attached-in-api-missing-on-node", about: "", certainty: "", cured: none,
	},
	{
		name: "detach-refused", call: "ControllerUnpublishVolume", how: "Internal array controller B does not answer",
		before: running1, trigger: move, seen: "Multi-Attach", object: "db-moved",
		want: "", about: "", certainty: "", cured: runs("db-moved"),
	},
	{
		name: "detach-hangs", call: "ControllerUnpublishVolume", how: "hang",
		before: running1, trigger: move, seen: "Multi-Attach", object: "db-moved",
		want: "", about: "", certainty: "", cured: runs("db-moved"),
	},
	{
		name: "expand-refused", call: "ControllerExpandVolume", how: "OutOfRange the pool is limited to 100 MiB a volume",
		before: running1, trigger: func(t *testing.T, v vars) {
			kubectl(t, "-n", v["NS"], "patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"128Mi"}}}}`)
		}, seen: "limited to 100 MiB", object: "data",
		want: "expansion-refused-by-backend", about: "PersistentVolumeClaim expand-refused/data", certainty: "certain",
		cured: func(t *testing.T, v vars) {
			eventually(t, 90*time.Second, "the claim has its new size", func() bool {
				return field("{.status.capacity.storage}", "-n", v["NS"], "pvc", "data") == "128Mi"
			})
		},
	},
}

// driverFaults: each call of the driver fails in its own way for one claim, all at
// the same time, beside a claim that works. The report names each, and is silent
// when the driver is well again.
func driverFaults(t *testing.T) {
	var made []vars
	for _, f := range faults {
		v := claimOnly(t, disk, f.name)
		if f.call == "CreateVolume" {
			f.switchOn(t, v)
		}
		made = append(made, v)
	}
	for i, f := range faults {
		f.before(t, made[i])
		f.switchOn(t, made[i])
		f.trigger(t, made[i])
	}
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			waitEvent(t, f.name, f.object, f.seen)
			a := doctor(t, "pvc", "data", "-n", f.name)
			t.Log(a.short())
			t.Log("as a person reads it:\n" + plugin(t, "pvc", "data", "-n", f.name).out)
			f.switchOff(t, made[i])
			f.cured(t, made[i])
			b := doctor(t, "pvc", "data", "-n", f.name)
			t.Log("after the cure " + b.short())
		})
	}
}
