package cloud

import "testing"

// TestSameMachine: the names of one machine, and of others, in the forms of the clouds.
func TestSameMachine(t *testing.T) {
	t.Parallel()
	const set = "/subscriptions/2f/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/k8s-node-11577350-vmss/virtualMachines/"
	for name, c := range map[string]struct {
		id, machine string
		want        bool
	}{
		"a scale set, number by number":          {"azure://" + set + "47", set + "47", true},
		"a scale set, as a disk names it":        {"azure://" + set + "47", set + "k8s-node-11577350-vmss_47", true},
		"a scale set, the name alone":            {"azure://" + set + "47", "k8s-node-11577350-vmss_47", true},
		"another machine of the set":             {"azure://" + set + "7", set + "k8s-node-11577350-vmss_47", false},
		"the same number in another set":         {"azure://" + set + "47", "/x/virtualMachineScaleSets/other-vmss/virtualMachines/other-vmss_47", false},
		"the host name of a machine of a set":    {"k8s-node-11577350-vmss00001b", set + "k8s-node-11577350-vmss_47", true},
		"the host name of the next one":          {"k8s-node-11577350-vmss00001c", set + "k8s-node-11577350-vmss_47", false},
		"a number alone":                         {"azure://" + set + "47", "47", false},
		"an instance of AWS":                     {"aws:///eu-1a/i-0a1b", "i-0a1b", true},
		"an instance of Compute Engine":          {"gce://p/europe-west1-b/n1", "projects/p/zones/europe-west1-b/instances/n1", true},
		"a name with an underline that is whole": {"node_1", "node_1", true},
	} {
		if got := sameMachine(c.id, c.machine); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
