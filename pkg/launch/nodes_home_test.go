package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestHomes: a volume of a node leads to its node, also while no pod of it is placed.
func TestHomes(t *testing.T) {
	t.Parallel()
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: lab, name: data, uid: c`
	const nodes = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}}\n---\n" +
		"{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}}\n---\n" +
		"{apiVersion: v1, kind: Node, metadata: {name: n3, labels: {kubernetes.io/hostname: n3}}}"
	pv := func(source, affinity string) string {
		return "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {" + source + ", claimRef: {namespace: lab, name: data, uid: c}, " + affinity + "}}"
	}
	const bound = claim + `}, spec: {volumeName: pv}}`
	const onN2 = `nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}`
	const anywhere = `nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}]}}`
	for name, c := range map[string]struct {
		objects []string
		want    []string
	}{
		"the scheduler chose":          {[]string{claim + `, annotations: {volume.kubernetes.io/selected-node: n3}}}`}, []string{"n3"}},
		"nobody chose":                 {[]string{claim + `}}`}, nil},
		"made elsewhere since":         {[]string{claim + `, annotations: {volume.kubernetes.io/selected-node: n3}}, spec: {volumeName: pv}}`, pv("csi: {driver: d.example.org, volumeHandle: h}", "capacity: {storage: 1Gi}")}, nil},
		"a local volume without a pod": {[]string{bound, pv("local: {path: /srv/a}", onN2)}, []string{"n2"}},
		"a directory of the host":      {[]string{bound, pv("hostPath: {path: /srv/a}", onN2)}, []string{"n2"}},
		"a directory of every node":    {[]string{bound, pv("hostPath: {path: /srv/a}", anywhere)}, nil},
		"a disk of a zone":             {[]string{bound, pv("csi: {driver: d.example.org, volumeHandle: h}", onN2)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New(append(c.objects, nodes)...).Index(t)
			if diff := cmp.Diff(c.want, Nodes(x, Question{Kind: "pvc", Namespace: "lab", Name: "data"})); diff != "" {
				t.Errorf("nodes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
