package claims_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

// byHand is a claim of class tape, which no StorageClass has.
func byHand(more ...string) *sketch.Sketch {
	return sketch.New(append([]string{`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {storageClassName: tape, accessModes: [ReadWriteMany], resources: {requests: {storage: 10Gi}}}
status: {phase: Pending}
`}, more...)...)
}

const tape = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-tape, uid: v1}
spec: {storageClassName: tape, accessModes: [ReadWriteMany], capacity: {storage: 10Gi}, nfs: {server: s, path: /x}}
status: {phase: Available}
`

func TestStorageclassMissing(t *testing.T) {
	t.Parallel()
	edit := func(before, after string) string { return strings.ReplaceAll(tape, before, after) }
	const missing = "certain PersistentVolumeClaim data"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
		says   string
	}{
		"nobody carries the class":     {byHand(), []string{missing}, "no PersistentVolume carries that class"},
		"a volume fits":                {byHand(tape), []string{}, ""},
		"it is too small":              {byHand(edit("10Gi", "5Gi")), []string{missing}, "pv-tape (its size 5Gi is less than 10Gi)"},
		"another access mode":          {byHand(edit("ReadWriteMany", "ReadWriteOnce")), []string{missing}, "lack ReadWriteMany"},
		"another volume mode":          {byHand(edit("nfs:", "volumeMode: Block, nfs:")), []string{missing}, "volumeMode Block"},
		"it is another claim's":        {byHand(edit("nfs:", "claimRef: {namespace: shop, name: old, uid: o}, nfs:")), []string{missing}, "bound to claim shop/old"},
		"it is kept for the claim":     {byHand(edit("nfs:", "claimRef: {namespace: shop, name: data}, nfs:")), []string{}, ""},
		"it was released":              {byHand(edit("Available", "Released")), []string{missing}, "its phase is Released"},
		"volumes were not read":        {byHand().Gap("api//persistentvolumes", "Forbidden"), []string{"likely PersistentVolumeClaim data"}, ""},
		"classes were not read":        {byHand().Gap("api/storage.k8s.io/storageclasses", "Forbidden"), []string{}, ""},
		"it asks for a volume by hand": {byHand().Edit("storageClassName: tape", "storageClassName: ''"), []string{}, ""},
		"it names none, no default":    {byHand().Edit("storageClassName: tape, ", ""), []string{missing}, "no class of the cluster is the default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.StorageclassMissing)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
			if len(r.RootCauses) > 0 && !strings.Contains(r.RootCauses[0].Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, r.RootCauses[0].Message)
			}
		})
	}
}
