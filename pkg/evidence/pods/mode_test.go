package pods_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

// named is a claim of a mode, and a pod whose containers name it.
func named(mode, spec string) *sketch.Sketch {
	return sketch.New(strings.ReplaceAll(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeMode: MODE, volumeName: pv-data, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: v1}
spec: {volumeMode: MODE, claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: d, volumeHandle: h}}
status: {phase: Bound}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: d}
spec: {attachRequired: false}
`, "MODE", mode), `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-0, uid: w, creationTimestamp: '2026-01-02T11:30:00Z'}
spec:
  nodeName: n1
  volumes: [{name: vol, persistentVolumeClaim: {claimName: data}}]
  `+spec+`
status: {phase: Pending}
`)
}

// said is kubelet's event about the pod.
func said(message string) string {
	return "\napiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e1}\ninvolvedObject: {kind: Pod, namespace: shop, name: web-0, uid: w}\ntype: Warning\nreason: FailedMount\nmessage: '" + message +
		"'\nfirstTimestamp: '2026-01-02T11:31:00Z'\nlastTimestamp: '2026-01-02T11:59:00Z'\nsource: {component: kubelet, host: n1}"
}

func TestVolumeModeMismatch(t *testing.T) {
	t.Parallel()
	const (
		wrong   = "likely PersistentVolumeClaim data"
		mounts  = "volumeMounts: [{name: vol, mountPath: /data}]"
		devices = "volumeDevices: [{name: vol, devicePath: /dev/xvda}]"
	)
	app := func(uses string) string { return "containers: [{name: app, image: i, " + uses + "}]" }
	both := func(first, second string) string {
		return "initContainers: [{name: prepare, image: i, " + first + "}]\n  containers: [{name: app, image: i, " + second + "}]"
	}
	block := func() *sketch.Sketch { return named("Block", app(mounts)) }
	own := func(owner string) *sketch.Sketch {
		return block().Edit("persistentVolumeClaim: {claimName: data}", "ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Block}}}").
			Edit("name: data, uid: c1}\nspec", "name: web-0-vol, uid: c1, ownerReferences: [{apiVersion: v1, kind: Pod, name: web-0, uid: "+owner+"}]}\nspec").
			Edit("name: data, uid: c1}, csi", "name: web-0-vol, uid: c1}, csi")
	}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
		says   string
	}{
		"a device is mounted":              {block(), []string{wrong}, "volumeMounts of container app name it"},
		"kubelet says so":                  {block().Add(said("volume vol has volumeMode Block, but is specified in volumeMounts")), []string{"certain PersistentVolumeClaim data"}, ""},
		"kubelet says something else":      {block().Add(said("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = no space")), []string{}, ""},
		"it is not attached":               {block().Edit("attachRequired: false", "attachRequired: true"), []string{}, ""},
		"a filesystem is a device":         {named("Filesystem", app(devices)), []string{wrong}, "volumeDevices of container app name it"},
		"the mode is left out":             {named("Filesystem", app(devices)).Edit("volumeMode: Filesystem, ", ""), []string{wrong}, "has volumeMode Filesystem"},
		"a filesystem is mounted":          {named("Filesystem", app(mounts)), []string{}, ""},
		"a device is a device":             {named("Block", app(devices)), []string{}, ""},
		"only the init container is wrong": {named("Block", both(mounts, devices)), []string{wrong}, "of container prepare name it"},
		"only the app is wrong":            {named("Filesystem", both(mounts, devices)), []string{wrong}, "of container app name it"},
		"both are wrong":                   {named("Block", both(mounts, mounts)), []string{wrong}, "of container prepare and app name it"},
		"no container names it":            {named("Block", app("tty: false")), []string{}, ""},
		"an ephemeral volume":              {own("w"), []string{"likely PersistentVolumeClaim web-0-vol"}, "Claim shop/web-0-vol has volumeMode Block"},
		"the claim is of another pod":      {own("x"), []string{}, ""},
		"not scheduled":                    {block().Edit("nodeName: n1", "nodeName: ''"), []string{}, ""},
		"the pod has ended":                {block().Edit("phase: Pending", "phase: Failed"), []string{}, ""},
		"the pod runs":                     {block().Edit("phase: Pending", "phase: Running"), []string{}, ""},
		"the pod is deleted":               {block().Edit("name: web-0, uid: w,", "name: web-0, uid: w, deletionTimestamp: '2026-01-02T11:40:00Z',"), []string{}, ""},
		"the pod has its volumes": {block().Edit("status: {phase: Pending}", "status: {phase: Pending, conditions: [{type: PodReadyToStartContainers, status: 'True', lastTransitionTime: '2026-01-02T11:31:00Z'}]}"),
			[]string{}, ""},
		"the claim is not bound":  {block().Edit("status: {phase: Bound}\n---", "status: {phase: Pending}\n---").Edit("volumeName: pv-data, ", ""), []string{}, ""},
		"the claim is deleted":    {block().Edit("name: data, uid: c1}\nspec", "name: data, uid: c1, deletionTimestamp: '2026-01-02T11:40:00Z'}\nspec"), []string{}, ""},
		"volumes were not read":   {block().Edit("kind: PersistentVolume\n", "kind: Other\n").Gap("api//persistentvolumes", "Forbidden"), []string{wrong}, ""},
		"the pods were not read":  {block().Edit("kind: Pod\n", "kind: Other\n").Gap("api//pods", "Forbidden"), []string{}, ""},
		"the claim was not read":  {block().Edit("kind: PersistentVolumeClaim\n", "kind: Other\n").Gap("api//persistentvolumeclaims", "Forbidden"), []string{}, ""},
		"another volume is wrong": {named("Block", app(strings.Replace(mounts, "name: vol", "name: tmp", 1)+", "+devices)).Edit("volumes: [", "volumes: [{name: tmp, emptyDir: {}}, "), []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pod shop/web-0", claim.VolumeModeMismatch)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
			if len(r.RootCauses) > 0 && !strings.Contains(r.RootCauses[0].Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, r.RootCauses[0].Message)
			}
		})
	}
}
