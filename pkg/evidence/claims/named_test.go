package claims_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

// named is a claim of class fast that names a volume without a class.
func named(more ...string) *sketch.Sketch {
	return sketch.New(append([]string{`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {volumeName: bucket, storageClassName: fast, accessModes: [ReadWriteMany], resources: {requests: {storage: 10Gi}}}
status: {phase: Pending}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: bucket, uid: v1}
spec: {accessModes: [ReadWriteMany], capacity: {storage: 10Gi}, nfs: {server: s, path: /x}}
status: {phase: Available}
`}, more...)...)
}

const fast = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}
provisioner: p.example.org
`

func TestClaimVolumeMismatch(t *testing.T) {
	t.Parallel()
	const is = "certain PersistentVolumeClaim data"
	classless := func() *sketch.Sketch { return named().Edit("storageClassName: fast", "storageClassName: ''") }
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
		says   string
	}{
		"the default class":         {named(fast), []string{is}, "StorageClass fast is the default"},
		"a class without an object": {named(), []string{is}, "its class is empty and that of the claim fast"},
		"all the same":              {classless(), []string{}, ""},
		"a class left out":          {named().Edit("storageClassName: fast, ", ""), []string{}, ""},
		"the class as it was written before": {named().Edit("{name: bucket,", "{annotations: {volume.beta.kubernetes.io/storage-class: fast}, name: bucket,"),
			[]string{}, ""},
		"it is too small":             {classless().Edit("capacity: {storage: 10Gi}", "capacity: {storage: 5Gi}"), []string{is}, "its size 5Gi is less than 10Gi"},
		"another access mode":         {classless().Edit("{accessModes: [ReadWriteMany]", "{accessModes: [ReadWriteOnce]"), []string{is}, "lack ReadWriteMany"},
		"another volume mode":         {classless().Edit("nfs:", "volumeMode: Block, nfs:"), []string{is}, "volumeMode Block"},
		"a selector is not asked":     {classless().Edit("volumeName:", "selector: {matchLabels: {a: b}}, volumeName:"), []string{}, ""},
		"it is reserved for the name": {named().Edit("nfs:", "claimRef: {namespace: shop, name: data}, nfs:"), []string{}, ""},
		"it is another claim's":       {named().Edit("nfs:", "claimRef: {namespace: shop, name: old, uid: o}, nfs:"), []string{"likely PersistentVolumeClaim data"}, ""},
		"it goes":                     {named().Edit("uid: v1", "uid: v1, deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [a/b]"), []string{}, ""},
		"the claim is bound":          {named().Edit("phase: Pending", "phase: Bound"), []string{}, ""},
		"the claim names none":        {named().Edit("volumeName: bucket, ", ""), []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.ClaimVolumeMismatch)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
			if len(r.RootCauses) > 0 && !strings.Contains(r.RootCauses[0].Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, r.RootCauses[0].Message)
			}
		})
	}
}
