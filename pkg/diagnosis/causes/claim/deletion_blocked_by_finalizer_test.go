package claim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

// going is a claim with its volume and a pod; meta goes into the metadata of the claim
// and of the volume.
func going(claimMeta, pvMeta, podPhase string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1`+pvMeta+`}
spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: disk.example.com, volumeHandle: vol-0a1b2c}}
status: {phase: Released}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1`+claimMeta+`}
spec: {volumeName: pv-1}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: `+podPhase+`}
`)
}

func TestDeletionBlockedByFinalizer(t *testing.T) {
	t.Parallel()
	const pvc, pv = "PersistentVolumeClaim data", "PersistentVolume pv-1"
	since := func(at, finalizers string) string {
		return ", deletionTimestamp: '2026-01-02T" + at + "', finalizers: [" + finalizers + "]"
	}
	driver := "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: disk.example.com}\n"
	controller := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: disk-controller-0, uid: k1}\nspec: {nodeName: n1, volumes: [{name: s, emptyDir: {}}], containers: [" +
		"{name: driver, image: disk, args: ['--drivername=disk.example.com'], volumeMounts: [{name: s, mountPath: /csi}]}, {name: csi-provisioner, image: csi-provisioner, args: ['--csi-address=/csi/csi.sock'], volumeMounts: [{name: s, mountPath: /csi}]}]}\n" +
		"status: {phase: Running, containerStatuses: [{name: csi-provisioner, ready: false, image: csi-provisioner, state: {waiting: {reason: CrashLoopBackOff}}}]}\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"foreign":                      {going(since("11:00:00Z", "backup.example.com/keep"), "", "Succeeded"), []string{"certain " + pvc}},
		"foreign, a moment ago":        {going(since("11:59:30Z", "backup.example.com/keep"), "", "Succeeded"), []string{}},
		"foreign, three minutes ago":   {going(since("11:57:00Z", "backup.example.com/keep"), "", "Succeeded"), []string{}},
		"foreign, and not deleted":     {going(", finalizers: [backup.example.com/keep]", "", "Succeeded"), []string{}},
		"foreign, and a pod uses it":   {going(since("11:00:00Z", "backup.example.com/keep, kubernetes.io/pvc-protection"), "", "Running"), []string{"certain " + pvc + " waiting"}},
		"foreign, and a clone is made": {going(since("11:00:00Z", "backup.example.com/keep, provisioner.storage.kubernetes.io/cloning-protection"), "", "Succeeded"), []string{}},
		"a pod uses it":                {going(since("11:59:30Z", "kubernetes.io/pvc-protection"), "", "Running"), []string{"certain " + pvc + " waiting"}},
		"pods were not read":           {going(since("11:00:00Z", "kubernetes.io/pvc-protection"), "", "Running").Gap("api//pods", "Forbidden"), []string{}},
		"the pod goes away itself":     {going(since("11:00:00Z", "kubernetes.io/pvc-protection"), "", "Running").Edit("uid: p1", "uid: p1, deletionTimestamp: '2026-01-02T11:00:00Z'"), []string{}},
		"a pod has ended":              {going(since("11:00:00Z", "kubernetes.io/pvc-protection"), "", "Succeeded"), []string{}},
		"attacher of a removed driver": {going("", since("11:00:00Z", "external-attacher/disk-example-com"), "Succeeded"), []string{"likely " + pv}},
		"attacher of a driver":         {going("", since("11:00:00Z", "external-attacher/disk-example-com"), "Succeeded").Add(driver), []string{}},
		"attachments were not read":    {going("", since("11:00:00Z", "external-attacher/disk-example-com"), "Succeeded").Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), []string{}},
		"the provisioner's own":        {going("", since("11:00:00Z", "external-provisioner.volume.kubernetes.io/finalizer"), "Succeeded").Add(driver), []string{}},
		"the provisioner is down":      {going("", since("11:00:00Z", "external-provisioner.volume.kubernetes.io/finalizer"), "Succeeded").Add(driver, controller), []string{"likely " + pv}},
		"the provisioner runs":         {going("", since("11:00:00Z", "external-provisioner.volume.kubernetes.io/finalizer"), "Succeeded").Add(driver, strings.Replace(controller, "ready: false", "ready: true", 1)), []string{}},
		"of a driver that is gone":     {going("", since("11:00:00Z", "external-provisioner.volume.kubernetes.io/finalizer, kubernetes.io/pv-protection"), "Succeeded"), []string{"likely " + pv}},
		"of a driver, and it is bound": {going("", since("11:00:00Z", "external-provisioner.volume.kubernetes.io/finalizer"), "Succeeded").Edit("phase: Released", "phase: Bound"), []string{}},
		"foreign, on the volume":       {going("", since("11:00:00Z", "quota.example.com/x"), "Succeeded"), []string{"certain " + pv}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.DeletionBlockedByFinalizer)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
