package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fault is one way in which the driver's controller fails the volume of one claim, and
// what a person is to be told then.
type fault struct {
	name  string // and the claim's namespace
	class string // of the claim, if it is not the driver's own
	call  string // of the driver, that fails; "" for a fault that is none of the driver
	how   string // see driver/fault.go
	// life is what the volume has reached before it fails, trigger what meets the fault.
	life, trigger func(*testing.T, vars)
	object, seen  string              // what events say of the object, or the volume's attachment of a detachment
	ask           func(vars) []string // the question; nil: about the claim
	lasts         time.Duration       // how long it must have lasted to be certain
	want          cause               // the first root cause; without a name the symptom says is unexplained
	unexplained   string
	says          []string
	never         []string
	cure          func(*testing.T, vars) // besides that the driver is well again
	cured         func(*testing.T, vars)
}

// driverFaults: every call of the driver fails in its own way for one claim, all at the
// same time, as the sidecars of the CSI project tell it. Each is named, and nothing is
// blamed any more when the driver is well again.
func driverFaults(t *testing.T) {
	apply(t, "zonal.yaml", disk)
	made := make([]vars, len(faults))
	for i, f := range faults {
		made[i] = f.claim(t)
	}
	for _, phase := range []func(fault, vars){
		func(f fault, v vars) { f.life(t, v) },
		func(_ fault, v vars) { ready(t, v) },
		func(f fault, v vars) { f.on(t, v); f.trigger(t, v); v["SINCE"] = time.Now().Format(time.RFC3339) },
	} {
		for i, f := range faults {
			phase(f, made[i])
		}
	}
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) { f.named(t, made[i]) })
	}
	for i, f := range faults {
		f.off(t, made[i])
		f.cure(t, made[i])
	}
	for i, f := range faults {
		t.Run(f.name+", cured", func(t *testing.T) { f.gone(t, made[i]) })
	}
	for _, f := range faults { // all at the same time; the cleanups then have little to wait for
		if _, err := cluster.Kubectl("-n", f.name, "delete", "pods,persistentvolumeclaims", "--all", "--wait=false"); err != nil {
			t.Error(err)
		}
	}
}

// claim makes the claim; a fault of its creation comes first.
func (f fault) claim(t *testing.T) vars {
	t.Helper()
	v := disk.with(vars{"NS": f.name})
	if f.call == "CreateVolume" {
		f.on(t, v)
	}
	if f.class != "" {
		v["CLASS"] = f.class
	}
	return claimOnly(t, v, f.name)
}

func (f fault) question(v vars) []string {
	if f.ask != nil {
		return f.ask(v)
	}
	return []string{"pvc", "data", "-n", f.name}
}

// named asks while the fault lasts.
func (f fault) named(t *testing.T, v vars) {
	if f.object == "attachment" {
		eventually(t, 90*time.Second, "a detachment fails and says "+f.seen, func() bool {
			return strings.Contains(field(`{.items[?(@.spec.source.persistentVolumeName=="`+boundVolume(f.name)+`")].status.detachError.message}`, "volumeattachments.storage.k8s.io"), f.seen)
		})
	} else if f.object == "volume" {
		waitEvent(t, "default", v["PV"], f.seen)
	} else {
		waitEvent(t, f.name, f.object, f.seen)
	}
	if since, err := time.Parse(time.RFC3339, v["SINCE"]); err == nil {
		time.Sleep(time.Until(since.Add(f.lasts)))
	}
	a := ask(t, f.question(v)...)
	if f.want.Name != "" {
		about := ""
		if f.want.Subject.Kind != "" {
			about = f.want.Subject.String()
		}
		a.root(t, f.want.Name, about, f.want.Certainty)
	} else if len(a.RootCauses) > 0 || !slices.ContainsFunc(a.Unexplained, func(n named) bool { return n.Name == f.unexplained }) {
		t.Errorf("want no cause and %s unexplained; %s", f.unexplained, a.short())
	}
	a.says(t, f.says...)
	a.neverAdvises(t, append(f.never, dangerous...)...)
	t.Log(a.short())
	rehearse(t, a)
}

// gone asks again when the volume has got on.
func (f fault) gone(t *testing.T, v vars) {
	f.cured(t, v)
	a := ask(t, f.question(v)...)
	if len(a.RootCauses)+len(a.Unexplained) > 0 || a.Verdict == "broken" || a.Verdict == "degraded" {
		t.Errorf("something is blamed although all is well; %s", a.short())
	}
	t.Log(a.short())
}

// on makes a call of the driver fail for the claims of one namespace.
func (f fault) on(t *testing.T, v vars) {
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
	t.Cleanup(func() { f.off(t, v) }) // before the namespace goes
}

func (f fault) off(t *testing.T, v vars) {
	t.Helper()
	if err := os.Remove(f.file(v)); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

func (f fault) file(v vars) string {
	return filepath.Join(cluster.Images(), "faults", v["DRIVER"], v["NS"], f.call)
}
