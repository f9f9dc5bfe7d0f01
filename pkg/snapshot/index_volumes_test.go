package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

const ebs = "ebs.csi.aws.com"

func TestVolumeJoins(t *testing.T) {
	t.Parallel()
	ref := func(pv *corev1.PersistentVolume, claim, uid string) *corev1.PersistentVolume {
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: claim}
		pv.Spec.ClaimRef.UID = boundClaim(uid, "").UID
		return pv
	}
	lh := &LHVolume{ObjectMeta: meta("longhorn-system", "vol-lost")}
	lh.Status.Kubernetes.PVName = "pv-unread"
	tests := map[string]struct {
		cluster Cluster
		want    map[string]string // claim → PV joined with it
		keys    []string
	}{
		"bound": {
			Cluster{PVs: []*corev1.PersistentVolume{ref(csiPV("pv1", ebs, "vol-1"), "data", "data")}, Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "pv1")}},
			map[string]string{"data": "pv1"}, []string{"volume/ebs.csi.aws.com^vol-1"},
		},
		"claim made anew that names the released PV": {
			Cluster{PVs: []*corev1.PersistentVolume{ref(csiPV("pv1", ebs, "vol-1"), "data", "older")}, Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "pv1")}},
			map[string]string{"data": "pv1"}, []string{"volume/ebs.csi.aws.com^vol-1"},
		},
		"claim made anew that names nothing": {
			Cluster{PVs: []*corev1.PersistentVolume{ref(csiPV("pv1", ebs, "vol-1"), "data", "older")}, Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "")}},
			map[string]string{"data": ""}, []string{"volume/claim/shop/data", "volume/ebs.csi.aws.com^vol-1"},
		},
		"PV is gone": {
			Cluster{Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "pv1")}},
			map[string]string{"data": ""}, []string{"volume/claim/shop/data"},
		},
		"PVs unread, Longhorn knows the volume": {
			Cluster{Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "pv-unread")}, Longhorn: Longhorn{Volumes: []*LHVolume{lh}}},
			map[string]string{"data": ""}, []string{"volume/driver.longhorn.io^vol-lost"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := NewIndex(&Snapshot{Cluster: tt.cluster})
			var keys []string
			for _, v := range x.Volumes {
				keys = append(keys, v.Key())
			}
			if diff := cmp.Diff(tt.keys, keys); diff != "" {
				t.Errorf("keys mismatch (-want +got):\n%s", diff)
			}
			for claim, pv := range tt.want {
				v := x.VolumeOfClaim("shop", claim)
				if v == nil {
					t.Fatalf("claim %s has no volume", claim)
				}
				got := ""
				if v.PV != nil {
					got = v.PV.Name
				}
				if got != pv {
					t.Errorf("PV of claim %s: got %q, want %q", claim, got, pv)
				}
			}
		})
	}
}

func TestDeviceNodesAndOthers(t *testing.T) {
	t.Parallel()
	claim := boundClaim("data", "pv1")
	pods := []*corev1.Pod{claimPod("new", "n", "data", corev1.PodPending), claimPod("old", "o", "data", corev1.PodRunning)}
	base := func(pv *corev1.PersistentVolume) Cluster {
		return Cluster{PVs: []*corev1.PersistentVolume{pv}, Claims: []*corev1.PersistentVolumeClaim{claim}, Pods: pods}
	}
	onO := base(csiPV("pv1", ebs, "vol-1", corev1.ReadWriteOnce))
	onO.Attachments = []*storagev1.VolumeAttachment{attachment("pv1", ebs, "vol-1", "o", true), attachment("pv1", ebs, "vol-1", "n", false)}
	rwx := base(csiPV("pv1", LonghornDriver, "vol", corev1.ReadWriteMany))
	rwx.Attachments = []*storagev1.VolumeAttachment{attachment("pv1", LonghornDriver, "vol", "n", true)}
	lh := &LHVolume{ObjectMeta: meta("longhorn-system", "vol"), AccessMode: "rwx"}
	lh.Status.CurrentNodeID = "x"
	rwx.Longhorn.Volumes = []*LHVolume{lh}
	rwx.Longhorn.Attachments = []*LHAttachment{{ObjectMeta: meta("longhorn-system", "vol"), Volume: "vol", Tickets: []*LHTicket{{ID: "a", NodeID: "t"}}}}
	stopped := rwx
	stopped.Longhorn.Volumes = []*LHVolume{{ObjectMeta: meta("longhorn-system", "vol"), AccessMode: "rwx"}}
	used := &corev1.Node{ObjectMeta: meta("", "u")}
	used.Status.VolumesInUse = []corev1.UniqueVolumeName{"kubernetes.io/csi/ebs.csi.aws.com^vol-1"}
	nowhere := base(csiPV("pv1", ebs, "vol-1", corev1.ReadWriteOnce))
	nowhere.Nodes = []*corev1.Node{used}
	unbound := boundClaim("data", "")
	helper := claimPod("helper-pod-create-pvc-"+string(unbound.UID), "h", "", corev1.PodPending)
	helper.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/opt"}}}}
	unmade := Cluster{Claims: []*corev1.PersistentVolumeClaim{unbound}, Pods: []*corev1.Pod{helper}}
	tests := map[string]struct {
		cluster        Cluster
		device, others []string
	}{
		"a helper makes it":                      {unmade, nil, []string{"h"}},
		"attached elsewhere":                     {onO, []string{"o"}, []string{"n"}},
		"not attached: where the pod waits":      {nowhere, []string{"n"}, []string{"o", "u"}},
		"RWX: the share-manager's node":          {rwx, []string{"x"}, []string{"n", "o", "t"}},
		"RWX detached: never the consumers' own": {stopped, nil, []string{"n", "o", "t"}},
	}
	for name, tt := range tests {
		x := NewIndex(&Snapshot{Cluster: tt.cluster})
		v := x.VolumeOfClaim("shop", "data")
		if diff := cmp.Diff(tt.device, []string(x.DeviceNodes(v))); diff != "" {
			t.Errorf("%s: device nodes mismatch (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.others, []string(x.OtherNodes(v))); diff != "" {
			t.Errorf("%s: other nodes mismatch (-want +got):\n%s", name, diff)
		}
	}
}

func TestConsumersByState(t *testing.T) {
	t.Parallel()
	dying := claimPod("dying", "a", "data", corev1.PodPending)
	dying.DeletionTimestamp = &dying.CreationTimestamp
	x := NewIndex(&Snapshot{Cluster: Cluster{Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "")}, Pods: []*corev1.Pod{
		claimPod("wait", "", "data", corev1.PodPending), claimPod("run", "a", "data", corev1.PodRunning),
		claimPod("done", "a", "data", corev1.PodSucceeded), claimPod("other", "a", "else", corev1.PodRunning), dying,
	}}})
	v := x.VolumeOfClaim("shop", "data")
	names := func(list []*Consumer) []string {
		var out []string
		for _, c := range list {
			out = append(out, c.Pod.Name)
		}
		return out
	}
	got := map[string][]string{
		"waiting": names(v.Waiting()), "live": names(v.Live()), "running": names(v.Running()),
		"finished": names(v.Finished()), "terminating": names(v.Terminating()), "on a": names(v.LiveConsumersOn("a")),
	}
	want := map[string][]string{
		"waiting": {"wait"}, "live": {"wait", "run", "dying"}, "running": {"run"},
		"finished": {"done"}, "terminating": {"dying"}, "on a": {"run", "dying"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("consumers mismatch (-want +got):\n%s", diff)
	}
}

func TestNilVolumeAnswers(t *testing.T) {
	t.Parallel()
	x := NewIndex(nil)
	var v *Volume
	if v.Exclusive() || v.Block() || v.Encrypted() || v.RegularRWX() || v.PVName() != "" || v.UniqueName() != "" ||
		len(x.DeviceNodes(v)) > 0 || len(x.OtherNodes(v)) > 0 || len(x.Devices(v)) > 0 || v.AttachmentOn("a") != nil ||
		x.View("a").Device(probesDev(8, 0)) != nil || x.View("a").KubeletRoot() != "/var/lib/kubelet" || x.EngineActive(v) != nil {
		t.Error("a nil volume or view answers with something")
	}
}
