package cloud

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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

// TestTellable: only a name of the form of our nodes' ids can be that of a stranger.
func TestTellable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		node, provider, id, machine string
		want                        bool
	}{
		"an instance of AWS":                                  {"ip-10-0-0-1", "aws:///eu-1a/i-0a1b", "i-0a1b", "i-0c2d", true},
		"an instance of Alibaba, by the driver's id":          {"cn-hangzhou.10.0.0.1", "cn-hangzhou.i-bp1a", "i-bp1a", "i-bp1b", true},
		"a machine of vCenter by its name":                    {"worker-1", "vsphere://42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f00", "worker-1", "worker-9", true},
		"the same by its managed object":                      {"worker-1", "vsphere://42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f00", "worker-1", "vm-1234", false},
		"and with its kind":                                   {"worker-1", "vsphere://42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f00", "worker-1", "VirtualMachine:vm-1234", false},
		"a machine of Oracle":                                 {"10.0.0.4", "ocid1.instance.oc1.phx.anyhqljt", "10.0.0.4", "ocid1.instance.oc1.phx.other", true},
		"a machine of IBM, whose driver names it by a zone":   {"10.0.0.4", "ibm://acct///cluster/worker", "0717_42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f00", "0717_42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f99", true},
		"a machine of IBM, by a name that only the cloud has": {"10.0.0.4", "ibm://acct///cluster/worker", "0717_42190c5a-7a5a-4a1e-9c0e-4b8e0e3d1f00", "kube-abc-worker-00000123", false},
		"a number where nodes have names":                     {"n1", "gce://p/europe-west1-b/n1", "projects/p/zones/europe-west1-b/instances/n1", "5120373648", false},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.node}, Spec: corev1.NodeSpec{ProviderID: c.provider}}
		csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: c.node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d", NodeID: c.id}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{n}, CSINodes: []*storagev1.CSINode{csi}}})
		if got := Tellable(x, "d", c.machine); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestElsewhereIsPast: an attachment that was made after all answers a refusal to make it, and then the other node,
// which the refusal named, is not read. What a mount says after it is not answered.
func TestElsewhereIsPast(t *testing.T) {
	t.Parallel()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d", NodeID: "worker-1"}}}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{n}, CSINodes: []*storagev1.CSINode{csi}}})
	pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d"}}}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "worker-1"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for name, c := range map[string]struct {
		attached bool
		op       string
		want     string
	}{
		"not attached":           {false, "AttachVolume.Attach", "worker-2"},
		"attached since":         {true, "AttachVolume.Attach", ""},
		"the mount is refused":   {true, "MountVolume.MountDevice", "worker-2"},
		"the attacher's own log": {true, "", ""},
	} {
		va := &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: "worker-1"}, Status: storagev1.VolumeAttachmentStatus{Attached: c.attached}}
		v := &snapshot.Volume{Driver: "d", PV: pv, Attachments: []*storagev1.VolumeAttachment{va}, Consumers: []*snapshot.Consumer{{Pod: pod}}}
		text := evidence.Text{Fresh: true}
		text.Raw, text.Op = "rpc error: code = FailedPrecondition desc = volume pv-1 is attached to node worker-2", c.op
		got, _ := Elsewhere(&evidence.Place{X: x, Volume: v, Texts: evidence.Texts{text}})
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
