package causes

import "testing"

// TestControllerMayNot: what the Kubernetes API refuses a driver's controller is no error of the storage, wherever it says so.
func TestControllerMayNot(t *testing.T) {
	t.Parallel()
	const account = `is forbidden: User "system:serviceaccount:kube-system:ctl" cannot `
	const none = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
	const want = "broken: certain attacher-not-working Pod kube-system/controller-0"
	waits := func(status string) *world {
		return va(ebs().Waits(), "csi-a", "n1", "", status).Moved("attachRequired: false", "attachRequired: true")
	}
	says := func(words string) *world {
		return waits("attached: false").File("logs/kube-system/controller-0/csi-attacher.log", "E0102 11:58:02.000000       1 x.go:1] "+words+"\n")
	}
	errs := func(words string) *world {
		return attachFailed(waits("attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: '"+words+"'}"), `AttachVolume.Attach failed for volume "pv-data" : `+words)
	}
	for _, r := range []row{
		{"its lease", want, says(`error retrieving resource lock: leases.coordination.k8s.io "external-attacher-leader-ebs-csi-aws-com" ` + account + `get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-system"`)},
		{"a list without which it does not begin", want, says(`failed to list *v1.CSINode: csinodes.storage.k8s.io ` + account + `list resource "csinodes" in API group "storage.k8s.io" at the cluster scope`)},
		{"its lease, when it was installed", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume", says(`leases.coordination.k8s.io "external-attacher-leader-ebs-csi-aws-com" ` + account + `get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-system"` + "\nI0102 11:58:30.000000       1 leaderelection.go:260] successfully acquired lease kube-system/external-attacher-leader-ebs-csi-aws-com")},
		{"to write down, and another volume's secret later", want, says(`volumeattachments.storage.k8s.io "csi-a" ` + account + `patch resource "volumeattachments/status" in API group "storage.k8s.io" at the cluster scope` + "\nE0102 11:58:30.000000       1 x.go:1] secrets \"s\" " + account + `get resource "secrets" in API group "" in the namespace "shop"`)},
		{"an old error, and it is down now", want, errs(`could not add PersistentVolume finalizer: persistentvolumes "pv-data" `+account+`patch resource "persistentvolumes" in API group "" at the cluster scope`).
			Moved("2026-01-02T11:58:00Z", "2026-01-02T11:32:00Z").EditIn("name: controller-0", "{type: Ready, status: 'True'}", "{type: Ready, status: 'False'}").EditIn("name: controller-0", "name: csi-attacher, ready: true", "name: csi-attacher, ready: false")},
		{"events, which nobody needs", none, says(`Server rejected event: events ` + account + `create resource "events" in API group "" in the namespace "shop"`)},
		{"the finalizer of the PersistentVolume", want, errs(`could not add PersistentVolume finalizer: persistentvolumes "pv-data" ` + account + `patch resource "persistentvolumes" in API group "" at the cluster scope`)},
		{"the secret of this volume", want, errs(`failed to load secret "shop/s": secrets "s" ` + account + `get resource "secrets" in API group "" in the namespace "shop"`)},
		{"an account of the cluster below", none, errs(`rpc error: code = Internal desc = virtualmachines.kubevirt.io "vm-1" `+account+`get resource "virtualmachines" in API group "kubevirt.io" in the namespace "kube-system"`).EditIn("name: controller-0", "spec: {nodeName: n3,", "spec: {nodeName: n3, serviceAccountName: csi,")},
		{"a node that the driver asks for", want, errs(`rpc error: code = Internal desc = nodes "n1" ` + account + `get resource "nodes" in API group "" at the cluster scope`)},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}
