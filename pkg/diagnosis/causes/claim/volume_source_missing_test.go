package claim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

const sourcePod = `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-0, uid: w, creationTimestamp: '2026-01-02T11:30:00Z'}
spec:
  nodeName: n1
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: dta}}
  - {name: tls, secret: {secretName: web-tls, items: [{key: tls.crt, path: c}]}}
  - {name: all, projected: {sources: [{configMap: {name: settings, items: [{key: a.yaml, path: a}]}}]}}
  - {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}
  containers: [{name: app, image: i}]
status: {phase: Pending}
`

const sourceClaims = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: dta, uid: c1}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: web-0-scratch, uid: c2, ownerReferences: [{apiVersion: v1, kind: Pod, name: web-0, uid: w}]}
status: {phase: Bound}
`

func failedMount(message string) string {
	return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: web-0, uid: w}\nreason: FailedMount\ntype: Warning\nsource: {component: kubelet, host: n1}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + message + "'\n"
}

func TestVolumeSourceMissing(t *testing.T) {
	t.Parallel()
	start := func(more ...string) *sketch.Sketch { return sketch.New(sourcePod, sourceClaims).Add(more...) }
	setUp := func(volume, text string) string {
		return failedMount(`MountVolume.SetUp failed for volume "` + volume + `" : ` + text)
	}
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		want  []string
		says  string
	}{
		"everything is there": {start(), []string{}, ""},
		"claim":               {start().Edit("name: dta, uid", "name: data, uid"), []string{"certain PersistentVolumeClaim dta"}, "Did you mean data?"},
		"claim of another namespace": {start().Edit("{namespace: shop, name: dta", "{namespace: stage, name: dta"),
			[]string{"certain PersistentVolumeClaim dta"}, "exists elsewhere: stage/dta"},
		"claims were not read": {start().Edit("name: dta, uid", "name: data, uid").Gap("api//persistentvolumeclaims", "Forbidden"), []string{}, ""},
		"the pod has ended":    {start().Edit("name: dta, uid", "name: x, uid").Edit("phase: Pending", "phase: Failed"), []string{}, ""},
		"the pod runs":         {start().Edit("name: dta, uid", "name: x, uid").Edit("phase: Pending", "phase: Running"), []string{}, ""},
		"a pod just made":      {start().Edit("name: dta, uid", "name: x, uid").Edit("11:30", "11:59"), []string{"certain PersistentVolumeClaim dta waiting"}, ""},
		"a foreign claim": {start().Edit("name: web-0, uid: w}]", "name: old, uid: x}]"),
			[]string{"certain PersistentVolumeClaim web-0-scratch"}, "made for somebody else"},
		"secret":             {start(setUp("tls", `secret "web-tls" not found`)), []string{"certain Secret web-tls"}, "does not exist"},
		"secret of another":  {start(setUp("tls", `secret "other" not found`)), []string{}, ""},
		"secret of the PV":   {start(setUp("pv-1", `fetching NodeStageSecretRef shop/web-tls failed: secrets "web-tls" not found`)), []string{}, ""},
		"optional secret":    {start(setUp("tls", `secret "web-tls" not found`)).Edit("secretName: web-tls,", "secretName: web-tls, optional: true,"), []string{}, ""},
		"an old complaint":   {start(setUp("tls", `secret "web-tls" not found`)).Edit("11:59", "10:30"), []string{}, ""},
		"key":                {start(setUp("tls", "references non-existent secret key: tls.crt")), []string{"certain Secret web-tls"}, `no key "tls.crt"`},
		"key of a projected": {start(setUp("all", "configmap references non-existent config key: a.yaml")), []string{"certain ConfigMap settings"}, `no key "a.yaml"`},
		"a cache not filled": {start(setUp("tls", "failed to sync secret cache: timed out waiting for the condition")), []string{}, ""},
		"not registered":     {start(setUp("tls", `object "shop"/"web-tls" not registered`)), []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.scene.Ask(t, "pod shop/web-0", claim.VolumeSourceMissing)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
			if len(r.RootCauses) > 0 && !strings.Contains(r.RootCauses[0].Message, c.says) {
				t.Errorf("it does not say %q: %s", c.says, r.RootCauses[0].Message)
			}
		})
	}
}
