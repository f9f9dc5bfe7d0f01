package claim_test

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shared is a Longhorn volume for many pods, attached to node full, whose pod on node
// other waits.
func shared(attributes map[string]string) func() *snapshot.Snapshot {
	return func() *snapshot.Snapshot {
		s := scene()
		many := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		pv, c := s.Cluster.PVs[0], s.Cluster.Claims[0]
		pv.Spec.AccessModes, c.Spec.AccessModes = many, many
		pv.Spec.StorageClassName = "vm"
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: snapshot.LonghornDriver, VolumeHandle: "pv-w", VolumeAttributes: maps.Clone(attributes), FSType: "ext4"}
		s.Cluster.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Provisioner: snapshot.LonghornDriver, Parameters: attributes}}
		s.Cluster.Attachments = []*storagev1.VolumeAttachment{attachment("pv-w", true)}
		s.Cluster.Nodes = append(s.Cluster.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
		s.Cluster.Pods[0].Spec.NodeName = "other"
		s.Cluster.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}}
		return s
	}
}

// fails adds a fresh word of the kubelet about the waiting pod.
func fails(text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.Events = append(s.Cluster.Events, &snapshot.Event{Kind: "Pod", ObjNamespace: "a", ObjName: "w", Reason: "FailedMount", Component: "kubelet", Host: "other",
			First: now.Add(-time.Minute), Last: now.Add(-time.Minute), Message: `MountVolume.MountDevice failed for volume "pv-w" : ` + text})
	}
}

func block(s *snapshot.Snapshot) {
	mode := corev1.PersistentVolumeBlock
	s.Cluster.PVs[0].Spec.VolumeMode = &mode
}

func TestStorageclassParameterWrong(t *testing.T) {
	t.Parallel()
	const certain, likely = "certain StorageClass/vm", "likely StorageClass/vm"
	rule := claim.StorageclassParameterWrong
	try(t, rule, shared(map[string]string{"migratable": "true"}), map[string]variant{
		"migratable and shared":                      {unchanged, certain},
		"migratable and a block device of a machine": {block, ""},
		"migratable, one node":                       {func(s *snapshot.Snapshot) { s.Cluster.Attachments[0].Spec.NodeName = "other" }, likely},
		"migratable, the pod runs": {func(s *snapshot.Snapshot) {
			s.Cluster.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning}
		}, ""},
		"migratable in a class made anew": {func(s *snapshot.Snapshot) { s.Cluster.PVs[0].Spec.CSI.VolumeAttributes = nil }, ""},
		"migratable in the PV, not in Longhorn": {func(s *snapshot.Snapshot) {
			s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv-w"}, AccessMode: "rwx"}}
		}, ""},
		"a share manager exists": {func(s *snapshot.Snapshot) {
			s.Cluster.Longhorn.ShareManagers = []*snapshot.LHShareManager{{ObjectMeta: metav1.ObjectMeta{Name: "pv-w"}, State: "error"}}
		}, ""},
	})
	try(t, rule, shared(map[string]string{"encrypted": "true"}), map[string]variant{
		"encrypted without a secret, refused":           {fails("rpc error: code = InvalidArgument desc = missing passphrase for encrypted volume pv-w"), certain},
		"encrypted without a secret, no word":           {unchanged, ""},
		"encrypted, and a passphrase that does not fit": {fails("rpc error: code = Internal desc = cryptsetup: No key available with this passphrase."), ""},
		"encrypted with a secret": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "a", Name: "s"}
		}, ""},
	})
	try(t, rule, shared(map[string]string{"nfsOptions": "hard,vers=3"}), map[string]variant{
		"version 3 of NFS, refused": {fails("mount failed: exit status 32 Output: mount.nfs: Protocol not supported"), certain},
		"version 3 of NFS, no word": {unchanged, ""},
		"version 4 of NFS": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI.VolumeAttributes = map[string]string{"nfsOptions": "vers=4.2,hard"}
		}, ""},
	})
	try(t, rule, shared(map[string]string{"dataLocality": "strict-local", "numberOfReplicas": "3"}), map[string]variant{
		"strict-local with three copies, refused": {fails("number of replica count should be 1 when data locality is strict-local"), certain},
		"strict-local with three copies, no word": {unchanged, ""},
		"strict-local with one copy": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI.VolumeAttributes["numberOfReplicas"] = "1"
		}, ""},
	})
	try(t, rule, shared(nil), map[string]variant{
		"frontend iscsi": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI.VolumeAttributes = map[string]string{"frontend": "iscsi"}
			s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv-w"}, AccessMode: "rwx", Frontend: "iscsi"}}
			fails("rpc error: code = InvalidArgument desc = volume pv-w invalid frontend type iscsi")(s)
		}, certain},
		"frontend iscsi, which no class gave": {func(s *snapshot.Snapshot) {
			s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv-w"}, AccessMode: "rwx", Frontend: "iscsi"}}
			fails("rpc error: code = InvalidArgument desc = volume pv-w invalid frontend type iscsi")(s)
		}, "certain PersistentVolume/pv-w"},
		"a mount option that is refused": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.MountOptions = []string{"noatime", "nobarier"}
			fails(`mount failed: invalid mount option "nobarier"`)(s)
		}, certain},
		"another mount option is refused": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.MountOptions = []string{"noatime"}
			fails(`mount failed: invalid mount option "nobarier"`)(s)
		}, ""},
		"an unknown filesystem": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI.FSType = "bcachefs"
			fails("mount failed: exit status 32 Output: mount: /x: unknown filesystem type 'bcachefs'.")(s)
		}, likely},
		"a filesystem that another pod uses": {func(s *snapshot.Snapshot) {
			fails("mount failed: exit status 32 Output: mount: /x: unknown filesystem type 'ext4'.")(s)
			other := s.Cluster.PVs[0].DeepCopy()
			other.Name, other.Spec.CSI.VolumeHandle, other.Spec.ClaimRef.Name, other.Spec.ClaimRef.UID = "pv-o", "pv-o", "o", "o"
			s.Cluster.PVs = append(s.Cluster.PVs, other)
			s.Cluster.Claims = append(s.Cluster.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "o", UID: "o"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-o"}})
			pod := s.Cluster.Pods[0].DeepCopy()
			pod.Name, pod.UID, pod.Status = "o", "o", corev1.PodStatus{Phase: corev1.PodRunning}
			pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "o"
			s.Cluster.Pods = append(s.Cluster.Pods, pod)
		}, ""},
	})
}

func TestParameterRefusedByTheDriver(t *testing.T) {
	t.Parallel()
	says := func(text string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Cluster.StorageClasses[0].Parameters = map[string]string{"type": "gp5", "encrypted": "true"}
			say(s, "ProvisioningFailed", `failed to provision volume with StorageClass "fast": rpc error: `+text, time.Minute)
		}
	}
	try(t, claim.StorageclassParameterWrong, wanted, map[string]variant{
		"names key and value":          {says(`code = InvalidArgument desc = invalid type gp5 for a volume`), "likely StorageClass/fast"},
		"names the parameter":          {says(`code = InvalidArgument desc = Invalid parameter key encrypted for CreateVolume`), "likely StorageClass/fast"},
		"quotes the value":             {says(`code = InvalidArgument desc = unknown volume kind "gp5"`), "likely StorageClass/fast"},
		"names something else":         {says(`code = InvalidArgument desc = volume size is too small`), ""},
		"is no matter of the argument": {says(`code = ResourceExhausted desc = no room for type gp5`), ""},
		"strict-local in the class": {func(s *snapshot.Snapshot) {
			says(`code = Internal desc = number of replica count should be 1 when data locality is strict-local`)(s)
			s.Cluster.StorageClasses[0].Provisioner = snapshot.LonghornDriver
			s.Cluster.StorageClasses[0].Parameters = map[string]string{"dataLocality": "strict-local", "numberOfReplicas": "2"}
		}, "likely StorageClass/fast"},
	})
}
