package claim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
)

// unplaced is a claim that waits for its consumer, and a consumer of which the scheduler
// says something.
func unplaced(words string) *sketch.Sketch {
	condition := ""
	if words != "" {
		condition = `, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "` + words + `"}]`
	}
	return sketch.New(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {storageClassName: late}
status: {phase: Pending}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec:
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: app, image: i}]
status: {phase: Pending`+condition+`}
`)
}

func TestConsumerUnschedulable(t *testing.T) {
	t.Parallel()
	const cpu = "0/3 nodes are available: 3 Insufficient cpu. preemption: none"
	up := "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: TriggeredScaleUp\ntype: Normal\nsource: {component: cluster-autoscaler}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: pod triggered scale-up\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"no room":                {unplaced(cpu), []string{"certain Pod db-0"}},
		"volume predicate":       {unplaced("0/3 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 2 Insufficient cpu."), []string{"possible Pod db-0"}},
		"older volume predicate": {unplaced("0/3 nodes are available: 1 node(s) had volume node affinity conflict, 2 Too many pods."), []string{"possible Pod db-0"}},
		"too many volumes":       {unplaced("0/3 nodes are available: 3 node(s) exceed max volume count."), []string{}},
		"nothing but the volume": {unplaced("0/3 nodes are available: 3 node(s) had volume node affinity conflict."), []string{}},
		"gated":                  {unplaced("").Edit("spec:\n  volumes", "spec:\n  schedulingGates: [{name: quota.example.com/gate}]\n  volumes"), []string{"certain Pod db-0 waiting"}},
		"nobody speaks":          {unplaced(""), []string{"likely Pod db-0"}},
		"events were not read":   {unplaced("").Gap("api//events", "Forbidden"), []string{}},
		"a page of the pods":     {unplaced(cpu).Gap("api//pods", "Truncated"), []string{"likely Pod db-0"}},
		"just made":              {unplaced(cpu).Edit("11:30:00Z", "11:59:30Z"), []string{}},
		"an autoscaler works":    {unplaced(cpu).Add(up), []string{"certain Pod db-0 waiting"}},
		"Karpenter works":        {unplaced(cpu).Add(strings.NewReplacer("TriggeredScaleUp", "Nominated", "pod triggered scale-up", "'Pod should schedule on: nodeclaim/default-tn8fg'").Replace(up)), []string{"certain Pod db-0 waiting"}},
		"it has a node":          {unplaced("").Edit("spec:\n  volumes", "spec:\n  nodeName: n1\n  volumes"), []string{}},
		"node chosen":            {unplaced(cpu).Edit("uid: c1,", "uid: c1, annotations: {volume.kubernetes.io/selected-node: n1},"), []string{}},
		"binds at once":          {unplaced(cpu).Edit("WaitForFirstConsumer", "Immediate"), []string{}},
		"bound":                  {unplaced(cpu).Edit("storageClassName: late}\nstatus: {phase: Pending", "storageClassName: late}\nstatus: {phase: Bound"), []string{}},
		"classes were not read":  {unplaced(cpu).Edit("name: late}\nprovisioner", "name: other}\nprovisioner").Gap("api/storage.k8s.io/storageclasses", "Forbidden"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.ConsumerUnschedulable)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
