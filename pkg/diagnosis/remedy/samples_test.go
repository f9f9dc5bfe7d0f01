package remedy

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

type mark = disk.Mark

// text writes commands as they are for a node of which nothing is known.
func text(list []Command) []string {
	out, _ := lines(snapshot.NewIndex(&snapshot.Snapshot{}), list, new([]string))
	return out
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// unread are the gaps of a person who may read nothing.
func unread() []snapshot.Gap {
	var out []snapshot.Gap
	for _, r := range []string{
		"/pods", "/persistentvolumes", "/persistentvolumeclaims", "/nodes", "apps/daemonsets", "storage.k8s.io/volumeattachments", "storage.k8s.io/csinodes",
		"storage.k8s.io/csidrivers", "longhorn.io/volumes", "longhorn.io/engines", "longhorn.io/replicas", "longhorn.io/instancemanagers",
	} {
		out = append(out, snapshot.Gap{Need: "api/" + r, Reason: "Forbidden"})
	}
	return out
}

// samples are all steps above read-only, by constructor, for one imagined volume.
func samples() map[string]Step { return samplesOf(func(s string) string { return s }) }

// samplesOf are the samples with names of somebody's choice.
func samplesOf(n func(string) string) map[string]Step {
	yes := true
	owned := metav1.ObjectMeta{Namespace: n("shop"), Name: n("db-0"), UID: types.UID(n("POD-UID")), OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "db", Controller: &yes}}}
	pod := &corev1.Pod{ObjectMeta: owned, Spec: corev1.PodSpec{NodeName: n("NODE")}}
	bare := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: n("shop"), Name: n("db"), UID: types.UID(n("POD-UID"))}, Spec: corev1.PodSpec{NodeName: n("NODE")}}
	v := &snapshot.Volume{
		PV:     &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: n("PV")}},
		Driver: snapshot.LonghornDriver, Handle: n("VOLUME"), Longhorn: &snapshot.LonghornVolume{Volume: &snapshot.LHVolume{ObjectMeta: metav1.ObjectMeta{Namespace: n("longhorn-system"), Name: n("VOLUME")}}},
	}
	dm := func(name, dev, uuid string) probes.BlockDevice {
		d, _ := probes.ParseDev(dev)
		return probes.BlockDevice{Name: name, Dev: d, DM: &probes.DM{Name: n("NAME"), UUID: uuid}, Slaves: []string{"sdc"}}
	}
	number := func(dev string) probes.Dev { d, _ := probes.ParseDev(dev); return d }
	facts := &probes.Facts{
		Block: []probes.BlockDevice{
			{Name: "sdc", Dev: number("8:32"), WWID: n("naa.WWID"), HCTL: "3:0:0:1", Holders: []string{"dm-2"}},
			dm("dm-2", "253:2", "mpath-UUID"), dm("dm-3", "253:3", "LVM-UUID"), dm("dm-4", "253:4", "CRYPT-UUID"),
			{Name: "rbd0", Dev: number("252:0")}, {Name: "loop0", Dev: number("7:0"), LoopFile: n("BACKING-FILE")},
			{Name: "md127", Dev: number("9:127"), MDState: "clean", Slaves: []string{"sdc"}},
		},
		RBD: []probes.RBDDevice{{ID: "0", Name: "rbd0", Pool: n("POOL"), Image: n("IMAGE")}},
	}
	facts.Identity.OSRelease = map[string]string{"ID": "debian"}
	x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{n("NODE"): {Facts: facts}}})
	micro := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{n("NODE"): {Facts: &probes.Facts{
		Identity: probes.Identity{OSRelease: map[string]string{"ID": "sl-micro"}}}}}})
	view := x.View(n("NODE"))
	im := &snapshot.LHInstanceManager{ObjectMeta: metav1.ObjectMeta{Namespace: n("longhorn-system"), Name: n("MANAGER"), UID: types.UID(n("UID"))}, NodeID: n("NODE")}
	part := snapshot.LHInstance{VolumeName: n("VOLUME"), NodeID: n("NODE")}
	m := snapshot.VolumeMount{Use: snapshot.Use{Mount: probes.Mount{Dev: number("8:32"), Root: "/", Point: n("/PATH")}}}
	proc := &probes.Process{PID: 7, Comm: n("COMM")}
	return map[string]Step{
		"DeletePod":              DeletePod(pod),
		"DeletePod of no owner":  DeletePod(bare),
		"LetGo, of a Deployment": LetGo(deployed(pod)),
		"Recreate":               Recreate(ownerOf(deployed(pod)), pod),
		"DeleteFinishedPod":      DeleteFinishedPod(pod),
		"DeleteVolumeAttachment": DeleteVolumeAttachment(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: n("csi-1"), UID: types.UID(n("UID"))}, Spec: storagev1.VolumeAttachmentSpec{NodeName: n("NODE")}}, v),
		"DeleteShareManager":     DeleteShareManager(v, pod),
		"DeleteReplica":          DeleteReplica(v, &snapshot.LHReplica{ObjectMeta: metav1.ObjectMeta{Namespace: n("longhorn-system"), Name: n("REPLICA"), UID: types.UID(n("UID"))}, LHInstance: part}),
		"DeleteEngine":           DeleteEngine(v, &snapshot.LHEngine{ObjectMeta: metav1.ObjectMeta{Namespace: n("longhorn-system"), Name: n("ENGINE"), UID: types.UID(n("UID"))}, LHInstance: part}),
		"DeleteInstanceManager":  DeleteInstanceManager(im, ""),
		"EndHolder, a pod":       EndHolder(n("NODE"), snapshot.Who{Pod: pod, Process: proc}),
		"EndHolder, a unit":      EndHolder(n("NODE"), snapshot.Who{Unit: n("UNIT") + ".service", Process: proc}),
		"UnmountLazy":            UnmountLazy(n("NODE"), v, m, false),
		"UnmountLazy, a share":   UnmountLazy(n("NODE"), v, m, true),
		"VgchangeDeactivate":     VgchangeDeactivate(view, v, n("GROUP"), view.ByName("dm-3"), view.ByName("sdc")),
		"CryptClose":             CryptClose(view, view.ByName("dm-4")),
		"Fsck":                   Fsck(snapshot.VolumeDevice{Node: n("NODE"), View: view}, v, view.ByName("sdc"), n("/dev/sdc"), "ext4"),
		"Fsck, xfs":              Fsck(snapshot.VolumeDevice{Node: n("NODE"), View: view}, v, view.ByName("sdc"), n("/dev/sdc"), "xfs"),
		"DeleteOrphanDirectory":  DeleteOrphanDirectory(n("NODE"), "/var/lib/kubelet", n("POD-UID"), n("PV")),
		"MultipathFlush":         MultipathFlush(view, view.ByName("dm-2")),
		"DisableMultipathd":      DisableMultipathd(n("NODE")),
		"UnmapRBD":               UnmapRBD(view, v, view.ByName("rbd0")),
		"LogoutISCSI":            LogoutISCSI(n("NODE"), v, n("IQN"), n("PORTAL:3260")),
		"UnmapLoop":              UnmapLoop(view, v, view.ByName("loop0"), n("POD-UID")),
		"UnmapMD":                UnmapMD(view, v, view.ByName("md127")),
		"Install":                Install(x, n("NODE"), ISCSITools, "iscsiadm"),
		"Install, SLE Micro":     Install(micro, n("NODE"), NFSClient, "mount.nfs"),
		"Load":                   Load(x, n("NODE"), n("MODULE")),
		"StartISCSI":             StartISCSI(x, n("NODE")),
		"UnmapSCSI":              UnmapSCSI(view, v, view.ByName("sdc")),
		"DeletePaths":            DeletePaths(view, v, []*probes.BlockDevice{view.ByName("sdc")}, "dm-2")[0],
	}
}

// deployed is a pod as the only one of a Deployment.
func deployed(pod *corev1.Pod) (*snapshot.Index, *corev1.Pod) {
	yes, one := true, int32(1)
	by := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}
	}
	p := pod.DeepCopy()
	p.OwnerReferences = by("ReplicaSet", "db-5d4f")
	return snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{
		ReplicaSets: []*appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "db-5d4f", OwnerReferences: by("Deployment", "db")}}},
		Deployments: []*appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "db"}, Spec: appsv1.DeploymentSpec{Replicas: &one}}},
	}}), p
}

// ownerOf is the workload of a pod.
func ownerOf(x *snapshot.Index, pod *corev1.Pod) snapshot.Owner { return x.TopOwner(pod) }

// yes is the answer of a guard that holds.
func yes(*snapshot.Index) evidence.Answer {
	return evidence.Yes(evidence.FromAPI("Pod shop/db-0", "status.phase", "Running"))
}
