package reach

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestDial: a refusal and a silence are no; an error of the asking machine, and a port of
// which nobody asked, are not seen.
func TestDial(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: &probes.Facts{
		Dials:    map[string]string{"10.0.0.9:2049": "ok 0.4ms", "10.0.0.8:2049": "timeout 3s", "10.0.0.7:2049": "EMFILE", "10.0.0.6:2049": "ok 7.2s", "[fd00::1]:2049": "ECONNREFUSED"},
		Resolves: map[string]string{"filer": "10.0.0.9\n10.0.0.5"}}}}})
	for host, want := range map[string]string{"10.0.0.9": "yes", "filer": "yes", "10.0.0.8": "no", "fd00::1": "no", "10.0.0.7": "unseen", "10.0.0.1": "unseen", "": "unseen"} {
		d := Of(x.View("n"), "2049", host)
		got := "unseen"
		if a := d.Works("n", host); a.Yes() {
			got = "yes"
		} else if a.No() {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	if !Of(x.View("n"), "2049", "10.0.0.6").Slow() || Of(x.View("n"), "2049", "10.0.0.9").Slow() {
		t.Error("more than five seconds are slow")
	}
	if Of(nil, "2049", "10.0.0.9").Asked() {
		t.Error("a node that was not looked at answers nothing")
	}
}

// TestServiceOf: by address and by name; endpoints that nobody read are not none.
func TestServiceOf(t *testing.T) {
	t.Parallel()
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "store", Name: "nfs"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Selector: map[string]string{"app": "nfs"}}}
	ready := false
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "store", Labels: map[string]string{"kubernetes.io/service-name": "nfs"}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.42.0.5"}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}}}
	for name, c := range map[string]struct {
		host   string
		slices []*discoveryv1.EndpointSlice
		found  bool
		ready  int
	}{
		"by address":       {"10.96.0.7", []*discoveryv1.EndpointSlice{slice}, true, 0},
		"by name":          {"nfs.store.svc.cluster.local", []*discoveryv1.EndpointSlice{slice}, true, 0},
		"endpoints unread": {"nfs.store", nil, true, -1},
		"another name":     {"nfs.stored.svc", nil, false, -1},
		"no host":          {"", nil, false, -1},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Services: []*corev1.Service{svc}, EndpointSlices: c.slices}})
		if got := ServiceOf(x, c.host); (got.Service != nil) != c.found || got.Ready != c.ready {
			t.Errorf("%s: found %v, %d ready", name, got.Service != nil, got.Ready)
		}
	}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"app": "nfs"}}}
	if (Service{svc, 0}).Selects(other) {
		t.Error("a Service selects pods of its own namespace only")
	}
}
