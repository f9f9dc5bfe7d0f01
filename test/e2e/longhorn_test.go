package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// longhorn is the lab's driver under Longhorn's name: its volumes are loop
// devices that it calls /dev/longhorn/VOLUME, so mount tables read as in the field.
var longhorn = vars{"DRIVER": "driver.longhorn.io", "CLASS": "longhorn", "SYSTEM": "longhorn-system", "PLUGIN": "longhorn-csi-plugin", "CONTROLLER": "csi-provisioner", "DEVICES": "/dev/longhorn"}

// longhornVolume: Longhorn's records beside real mounts. First all is well; then
// the last replica fails, and a new pod cannot have the volume.
func longhornVolume(t *testing.T) {
	installRecords(t)
	install(t, longhorn)
	v := claim(t, longhorn, "longhorn")
	record(t, "longhorn-system.yaml", v)
	attached := vars{"HOLDER": "worker-1", "STATE": "attached", "ROBUSTNESS": "healthy", "INSTANCE": "running", "FAILED": ""}
	record(t, "longhorn-volume.yaml", v.with(attached))
	runPod(t, v, "db", "worker-1")
	waitRunning(t, "longhorn-system", "instance-manager-1")

	a := doctor(t, "pvc", "data", "-n", "longhorn")
	for _, c := range append(a.RootCauses, a.Findings...) {
		// A loop device stands in for the disk of an iSCSI session: what the tool
		// makes of that may be a doubt, never a certainty.
		if c.Certainty == "certain" {
			t.Errorf("a certain cause for a volume that works; %s", a.short())
		}
	}
	sameFromCapture(t, a, "pvc", "data", "-n", "longhorn")

	kubectl(t, "-n", "longhorn", "delete", "pod", "db")
	record(t, "longhorn-volume.yaml", v.with(vars{"HOLDER": "", "STATE": "detached", "ROBUSTNESS": "faulted", "INSTANCE": "stopped", "FAILED": "2026-01-02T00:00:00Z"}))
	a = doctor(t, "pvc", "data", "-n", "longhorn")
	if len(a.RootCauses) == 0 || a.RootCauses[0].Name != "longhorn-volume-faulted" || a.RootCauses[0].Certainty != "certain" || a.RootCauses[0].Subject.Name != v["VOLUME"] {
		t.Errorf("want longhorn-volume-faulted on %s, certain; %s", v["VOLUME"], a.short())
	}
	a.neverAdvises(t, "delete-replica", "fsck")
}

// installRecords defines Longhorn's resources: by bare definitions that take any
// field, or by those in the file that MOUNTDOCTOR_LONGHORN_CRDS names (the
// chart's crds.yaml), which refuse unknown fields.
func installRecords(t *testing.T) {
	t.Helper()
	if file := os.Getenv("MOUNTDOCTOR_LONGHORN_CRDS"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		create(t, regexp.MustCompile(`(?m)^.*\{\{.*\n`).ReplaceAllString(string(text), ""))
		return
	}
	for kind, plural := range map[string]string{
		"Volume": "volumes", "Engine": "engines", "Replica": "replicas", "ShareManager": "sharemanagers", "InstanceManager": "instancemanagers",
		"Node": "nodes", "VolumeAttachment": "volumeattachments", "EngineImage": "engineimages", "BackingImage": "backingimages",
		"Setting": "settings", "Orphan": "orphans",
	} {
		apply(t, "longhorn-crd.yaml", vars{"KIND": kind, "PLURAL": plural, "SINGULAR": strings.ToLower(kind)})
	}
	kubectl(t, "wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=30s")
}

func create(t *testing.T, text string) {
	t.Helper()
	cmd := exec.Command("kubectl", "create", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("create: %v: %s", err, out)
	}
}

// record applies objects and then their status, which is a resource of its own.
func record(t *testing.T, file string, v vars) {
	t.Helper()
	apply(t, file, v)
	out, err := submit("replace", file, []vars{v}, "--subresource=status")
	// Kinds without a status of their own (Setting) have been written whole.
	if err != nil && !strings.Contains(out, "replaced") {
		t.Fatalf("status of %s: %v: %s", file, err, out)
	}
}
