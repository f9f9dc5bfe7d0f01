package pods_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

func TestUnmadeClaim(t *testing.T) {
	t.Parallel()
	// syncHandler and handleVolume in pkg/controller/volume/ephemeral/controller.go
	const quota = `create PVC db-0-ws: persistentvolumeclaims "db-0-ws" is forbidden: exceeded quota: q`
	for said, want := range map[string]bool{
		"ephemeral volume ws: " + quota:     true,
		"ephemeral volume ws-two: " + quota: false,
	} {
		x := sketch.New("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {volumes: [{name: ws, ephemeral: {volumeClaimTemplate: {spec: {}}}}], containers: [{name: app, image: i}]}\nstatus: {phase: Pending}\n").
			Add("apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\ntype: Warning\nreason: FailedBinding\nsource: {component: ephemeral_volume}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + said + "'\n").Index(t)
		list := pods.MissingSources(&evidence.Place{X: x, Pod: x.Pod("shop", "db-0")})
		if len(list) != 1 || list[0].Name != "db-0-ws" || !list[0].Own {
			t.Fatalf("missing are %v", list)
		}
		quoted := false
		for _, f := range list[0].Is.Facts() {
			quoted = quoted || strings.Contains(f.Text, quota)
		}
		if quoted != want {
			t.Errorf("%q: quoted %v, want %v", said, quoted, want)
		}
	}
}
