package ceph_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
)

// TestOwners: who had an image and was seen to go, without a word of its lock.
func TestOwners(t *testing.T) {
	t.Parallel()
	const since = "2026-01-02T11:10:00Z"
	old := func(node, meta string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: db-old, uid: p0, creationTimestamp: '2026-01-01T11:00:00Z'" + meta + "}, spec: {nodeName: " + node +
			", volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}, status: {phase: Running}}"
	}
	const deleted = ", deletionTimestamp: '2026-01-02T11:20:00Z', deletionGracePeriodSeconds: 30"
	detaching := "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: csi-1, deletionTimestamp: '2026-01-02T11:30:00Z'}, spec: {attacher: rbd.csi.ceph.com, nodeName: n2, source: {persistentVolumeName: pv-data}}, status: {attached: true}}"
	for name, c := range map[string]struct {
		s    *sketch.Sketch
		want string
	}{
		"nobody":                            {image(since), ""},
		"a node that it is detached from":   {image(since).Add(detaching), "node n2, from which the volume is being detached"},
		"a pod that goes":                   {image(since).Add(old("n2", deleted)), "pod shop/db-old on node n2"},
		"the latest first":                  {image(since).Add(old("n2", deleted), detaching), "node n2, from which the volume is being detached; pod shop/db-old on node n2"},
		"a node that is gone":               {image(since).Add(old("n9", "")), "node n9, which is no node of the cluster any more"},
		"perhaps a node, nobody may read":   {image(since).Add(old("n9", "")).Gap("api//nodes", "Forbidden"), ""},
		"the pod's own node has come anew":  {image(since).Node("n1", "@clock", "2026-01-02T12:00:00Z\n1800.00"), "node n1 before it was started again"},
		"it was up before the pod was made": {image(since).Node("n1", "@clock", "2026-01-02T12:00:00Z\n7200.00"), ""},
		"a pod that runs elsewhere owns it": {image(since).Add(old("n2", "")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.s.Index(t)
			var got []string
			for _, o := range ceph.Owners(&evidence.Place{X: x, Volume: x.VolumeOfPV("pv-data"), Node: "n1", View: x.View("n1")}) {
				got = append(got, o.Name)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}
