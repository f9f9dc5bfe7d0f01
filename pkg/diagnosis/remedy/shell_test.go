package remedy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestShell asks each kind of node for the way in that it has, and for nothing that it
// has not.
func TestShell(t *testing.T) {
	t.Parallel()
	read := []string{"cat", "/etc/iscsi/initiatorname.iscsi"}
	look := []string{"sh", "-c", "grep -s ' 8:32 ' /proc/[0-9]*/mountinfo"}
	act := []string{"sh", "-c", "read -r is < /sys/class/block/dm-2/dm/uuid && [ \"$is\" = x ] && multipath -f mpatha || echo not done"}
	for _, tt := range []struct {
		name, system, kubelet string
		argv                  []string
		want                  string // a part of the line; empty: there is none
	}{
		{"Debian", "Debian GNU/Linux 12 (bookworm)", "v1.31.2", read, "-- nsenter -t 1 -m -- cat /etc/iscsi"},
		{"Debian acts", "Debian GNU/Linux 12 (bookworm)", "v1.31.2", act, "nsenter -t 1 -m -- sh -c"},
		{"Flatcar", "Flatcar Container Linux by Kinvolk 3975.2.2", "v1.31.2", act, "nsenter -t 1 -m -- sh -c"},
		{"RHCOS", "Red Hat Enterprise Linux CoreOS 416.94", "v1.29.6", read, "oc debug node/n -- nsenter -t 1 -m"},
		{"Talos reads", "Talos (v1.8.0)", "v1.31.2", read, "talosctl -n 10.0.0.5 read /etc/iscsi/initiatorname.iscsi"},
		{"Talos lists disks", "Talos (v1.8.0)", "v1.31.2", []string{"lsblk"}, "talosctl -n 10.0.0.5 get discoveredvolumes"},
		{"Talos looks", "Talos (v1.8.0)", "v1.31.2", look, "busybox:1.36 -- sh -c"},
		{"Talos has no multipath", "Talos (v1.8.0)", "v1.31.2", act, ""},
		{"Talos has no umount", "Talos (v1.8.0)", "v1.31.2", []string{"umount", "/x"}, ""},
		{"Talos asks iscsid", "Talos (v1.8.0)", "v1.31.2", []string{"iscsiadm", "-m", "session"}, "nsenter -t $(pidof iscsid) -m -n iscsiadm -m session"},
		{"Bottlerocket looks", "Bottlerocket OS 1.20.0 (aws-k8s-1.30)", "v1.30.0", look, "busybox:1.36 -- sh -c"},
		{"Bottlerocket acts", "Bottlerocket OS 1.20.0 (aws-k8s-1.30)", "v1.30.0", act, ""},
		{"NixOS", "NixOS 24.05 (Uakari)", "v1.30.0", []string{"multipath", "-ll"}, "/usr/bin/env PATH=/run/wrappers/bin:/run/current-system/sw/bin multipath -ll"},
		{"kubelet", "Ubuntu 24.04", "v1.30.0", []string{kubeletLog}, "journalctl -u kubelet"},
		{"kubelet of k3s", "openSUSE MicroOS", "v1.30.0+k3s1", []string{kubeletLog}, "journalctl -u 'k3s*'"},
		{"kubelet of RKE2", "Rocky Linux 9.4", "v1.30.0+rke2r1", []string{kubeletLog}, "journalctl -u 'rke2*'"},
		{"kubelet of Talos", "Talos (v1.8.0)", "v1.31.2", []string{kubeletLog}, "talosctl -n 10.0.0.5 logs kubelet"},
		{"kernel of Talos", "Talos (v1.8.0)", "v1.31.2", []string{kernelLog}, "talosctl -n 10.0.0.5 dmesg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.5"}},
				NodeInfo:  corev1.NodeSystemInfo{OSImage: tt.system, KubeletVersion: tt.kubelet}}}
			x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}})
			line, ok := shellOf(x, "n").line(tt.argv)
			if ok != (tt.want != "") || !strings.Contains(line, tt.want) {
				t.Errorf("%v is %q (%t), want %q", tt.argv, line, ok, tt.want)
			}
		})
	}
}

// TestShellOfSilentNode asks for nothing that a kubelet would have to start.
func TestShellOfSilentNode(t *testing.T) {
	t.Parallel()
	const elsewhere = "See it. No pod starts on node n while its kubelet is silent: run this in a shell of the node."
	for _, tt := range []struct{ system, ready, want, title string }{
		{"Debian GNU/Linux 12 (bookworm)", "Unknown", "lsblk -f", elsewhere},
		{"Red Hat Enterprise Linux CoreOS 416.94", "Unknown", "lsblk -f", elsewhere},
		{"Talos (v1.8.0)", "Unknown", "talosctl -n 10.0.0.5 get discoveredvolumes", "See it."},
		{"Debian GNU/Linux 12 (bookworm)", "False", "kubectl debug node/n", "See it."},
	} {
		t.Run(tt.system+" "+tt.ready, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{
				Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.5"}},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(tt.ready)}},
				NodeInfo:   corev1.NodeSystemInfo{OSImage: tt.system, KubeletVersion: "v1.31.2"}}}
			r := Check("See it.", OnNode("n", "lsblk", "-f")).look(snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}}))
			if r.Title != tt.title || len(r.Commands) != 1 || !strings.HasPrefix(r.Commands[0], tt.want) {
				t.Errorf("%q %q", r.Title, r.Commands)
			}
		})
	}
}

// TestShellWhereNoPodStarts asks for none that would look, either, unless it was the server that was silent.
func TestShellWhereNoPodStarts(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		"--probe-timeout ran out while the tool was to start the probe pod: Failed: error making pod data directories":                   "lsblk -f",
		"--probe-timeout ran out while the tool was to start the probe pod: the API server, or a proxy before it, did not answer for 9s": "kubectl debug node/n",
		"--probe-timeout ran out while the tool was to read its answer":                                                                  "kubectl debug node/n",
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		r := Check("See it.", OnNode("n", "lsblk", "-f")).look(snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}},
			Gaps: []snapshot.Gap{{Need: "node/n", Reason: snapshot.Timeout, Detail: detail}}}))
		if len(r.Commands) != 1 || !strings.HasPrefix(r.Commands[0], want) {
			t.Errorf("%s: %q %q", detail, r.Title, r.Commands)
		}
	}
}

// TestShellOfRecordedNode asks for a pod only where one of the probe ran, and says who may.
func TestShellOfRecordedNode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		image, ready string
		gaps         []snapshot.Gap
		want, title  string
	}{
		{"", "Unknown", nil, "lsblk -f", "See it. No pod starts on node n while its kubelet is silent: run this in a shell of the node."},
		{"probe:1", "Unknown", nil, "kubectl debug node/n", "See it."},
		{"", "True", nil, "kubectl debug node/n", "See it."},
		{"", "True", []snapshot.Gap{{Need: "node/n", Reason: snapshot.Forbidden}}, "kubectl debug node/n", "See it. You were refused a pod on node n: somebody who may debug nodes has to run this."},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(tt.ready)}}}}
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}, Gaps: tt.gaps}
		if tt.gaps == nil {
			s.Nodes = map[string]*snapshot.NodeRecord{"n": {Facts: &probes.Facts{}, Image: tt.image, Namespace: "kube-system"}}
		}
		if r := Check("See it.", OnNode("n", "lsblk", "-f")).look(snapshot.NewIndex(s)); r.Title != tt.title || len(r.Commands) != 1 || !strings.HasPrefix(r.Commands[0], tt.want) {
			t.Errorf("%s %s: %q %q", tt.image, tt.ready, r.Title, r.Commands)
		}
	}
}

// TestShellOfProbe takes what the probe just worked with, and removes what is left.
func TestShellOfProbe(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Image: "longhornio/longhorn-manager:v1.8.1", Namespace: "longhorn-system"}}})
	r, _ := Check("See.", OnNode("n", "lsblk"), OnNode("n", "findmnt")).Decide(x)
	if len(r.Commands) != 2 || !strings.HasPrefix(r.Commands[0], "kubectl debug node/n -n longhorn-system -it --profile=sysadmin --image=longhornio/longhorn-manager:v1.8.1 -- ") {
		t.Errorf("commands: %q", r.Commands)
	}
	if len(r.Afterwards) != 1 || !strings.HasPrefix(r.Afterwards[0], "kubectl -n longhorn-system delete pod -l app.kubernetes.io/managed-by=kubectl-debug") {
		t.Errorf("afterwards: %q", r.Afterwards)
	}
}

// TestNothingRunsThere asks that a step whose program a node does not have is words.
func TestNothingRunsThere(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OSImage: "Talos (v1.8.0)"}}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}})
	s := DisableMultipathd("n")
	for i := range s.Guards {
		s.Guards[i].Ask = yes
	}
	if r, _ := s.Decide(x); len(r.Commands) != 0 || !strings.Contains(r.Settle, "systemctl") {
		t.Errorf("on a node without systemctl: %+v", r)
	}
}

// TestNothingRunsElsewhere: on Windows, and where there is no machine, no program of Linux is offered.
func TestNothingRunsElsewhere(t *testing.T) {
	t.Parallel()
	for name, node := range map[string]*corev1.Node{
		"Windows": {ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "windows", OSImage: "Windows Server 2022 Datacenter"}}},
		"virtual": {ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"type": "virtual-kubelet"}}},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}})
		if r, _ := Check("See.", OnNode("n", "lsblk"), KubeletLog("n"), Kubectl("get", "nodes")).Decide(x); len(r.Commands) != 1 {
			t.Errorf("%s: %q", name, r.Commands)
		}
	}
}
