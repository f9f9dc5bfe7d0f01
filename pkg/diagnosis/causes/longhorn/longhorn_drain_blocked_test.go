package longhorn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// cordoned is node n1 under a drain: its instance-manager has a budget, one replica lies
// on it and one on n2.
func cordoned() *sketch.Sketch {
	im := func(n string) string {
		return lhAPI + "InstanceManager\nmetadata: {name: im-" + n + ", namespace: longhorn-system}\nspec: {nodeID: " + n + ", type: aio}\nstatus: {currentState: running, instanceEngines: {}}\n---\n" +
			"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: im-" + n + ", namespace: longhorn-system}\nspec: {minAvailable: 1}\nstatus: {disruptionsAllowed: 0}\n"
	}
	replica := func(n string) string {
		return lhAPI + "Replica\nmetadata: {name: v-r-" + n + ", namespace: longhorn-system}\nspec: {volumeName: v, nodeID: " + n + ", active: true, healthyAt: '2026-01-01T00:00:00Z', failedAt: ''}\nstatus: {currentState: stopped}\n"
	}
	return sketch.New("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {unschedulable: true}\n", "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\nspec: {podCIDR: 10.2.0.0/24}\n",
		im("n1"), im("n2"), replica("n1"), replica("n2"))
}

func policy(value string) string {
	return lhAPI + "Setting\nmetadata: {name: node-drain-policy, namespace: longhorn-system}\nvalue: " + value + "\n"
}

func TestDrainBlocked(t *testing.T) {
	t.Parallel()
	const n1 = "Node n1"
	engine := "instanceEngines: {v-e-0: {status: {state: running}}}"
	object := lhAPI + "Engine\nmetadata: {name: v-e-0, namespace: longhorn-system}\nspec: {volumeName: v, nodeID: n1}\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"no reason":                   {cordoned(), []string{"likely " + n1}},
		"not cordoned":                {cordoned().Edit("unschedulable: true", "podCIDR: 10.1.0.0/24"), []string{}},
		"no budget":                   {cordoned().Edit("PodDisruptionBudget\nmetadata: {name: im-n1", "PodDisruptionBudget\nmetadata: {name: other"), []string{}},
		"budgets were not read":       {cordoned().Edit("PodDisruptionBudget\nmetadata: {name: im-n1", "PodDisruptionBudget\nmetadata: {name: other").Gap("api/policy/poddisruptionbudgets", "Forbidden"), []string{}},
		"a volume is attached":        {cordoned().Add(object).Edit("nodeID: n1, type: aio}\nstatus: {currentState: running, instanceEngines: {}", "nodeID: n1, type: aio}\nstatus: {currentState: running, "+engine), []string{"certain " + n1}},
		"an engine without an object": {cordoned().Edit("nodeID: n1, type: aio}\nstatus: {currentState: running, instanceEngines: {}", "nodeID: n1, type: aio}\nstatus: {currentState: running, "+engine), []string{}},
		"no manager works":            {cordoned().Add(policy("block-for-eviction"), manager("False")).Edit("kind: Node\nmetadata: {name: n1}\nspec: {unschedulable: true}\n", "kind: Node\nmetadata: {name: n1}\nspec: {unschedulable: true}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n"), []string{"likely " + n1}},
		"the other copy has failed":   {cordoned().Edit("nodeID: n2, active: true, healthyAt: '2026-01-01T00:00:00Z', failedAt: ''", "nodeID: n2, active: true, healthyAt: '', failedAt: '2026-01-01T00:00:00Z'"), []string{"certain " + n1}},
		"the other node is cordoned":  {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true"), []string{"certain " + n1}},
		"the policy was not read":     {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true").Gap("api/longhorn.io/settings", "Forbidden"), []string{"likely " + n1}},
		"the other Node is gone":      {cordoned().Edit("kind: Node\nmetadata: {name: n2}", "kind: Node\nmetadata: {name: n3}"), []string{"certain " + n1}},
		"replicas were not read":      {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true").Gap("api/longhorn.io/replicas", "Forbidden"), []string{}},
		"never used":                  {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true").Edit("healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''"), []string{"likely " + n1}},
		"stopped ones may go":         {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true").Add(policy("allow-if-replica-is-stopped")), []string{"likely " + n1}},
		"everything must be moved":    {cordoned().Add(policy("block-for-eviction")), []string{"certain " + n1}},
		"everything may go":           {cordoned().Edit("podCIDR: 10.2.0.0/24", "unschedulable: true").Add(policy("always-allow")), []string{"likely " + n1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sketch.Causes(c.sketch.Ask(t, "node n1", DrainBlocked))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
