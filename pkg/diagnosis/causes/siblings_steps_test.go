package causes

import (
	"cmp"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestStepsFitTheDriver asks that a step names what the driver, the volume or the node of the incident has.
func TestStepsFitTheDriver(t *testing.T) {
	t.Parallel()
	helper := func(provisioner string) *world {
		w := pendingClaim(vol(provisioner, "x", ""), "Immediate", anno(provisioner)).Waits()
		return pvcEvent(w, "Warning", "ProvisioningFailed", provisioner+"_controller-0_6d", "failed to provision volume with StorageClass \"fast\": failed to create volume pvc-c0000000-0000-4000-8000-000000000001: create process timeout after 120 seconds")
	}
	luks := attachedEBS().FailedMount(stageFails("failed to encrypt device with LUKS: cryptsetup args: [-q luksFormat --type luks2 /dev/x]: Not compatible PBKDF options (minimal memory cost is 32 KB, maximum 4 GB)."))
	fuse := func(started string) *world {
		w := sketch.NewWorld("csi.juicefs.com", "pvc-j1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: pvc-j1}")
		at := w.Publish(0)
		return w.Runs(0).Mounts("n1", "0:91 / "+at+" rw shared:91 - fuse.juicefs JuiceFS:m rw,user_id=0,group_id=0,allow_other").Entries("n1", "@statfs"+at, "@error ENOTCONN").
			Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: juicefs-n1-pvc-j1-ab, uid: '6a000000-0000-4000-8000-000000000002', creationTimestamp: '2026-01-01T11:30:00Z', labels: {app.kubernetes.io/name: juicefs-mount}}\nspec: {nodeName: n1, containers: [{name: jfs-mount, image: i}]}\nstatus: {phase: Running, startTime: '2026-01-01T11:30:00Z', containerStatuses: [{name: jfs-mount, ready: true, restartCount: 1, image: i, imageID: '', state: {running: {startedAt: '2026-01-02T11:50:00Z'}}, lastState: {terminated: {exitCode: 137, reason: " + started + "}}}]}\n")
	}
	resizer := ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).Answers("n1", ebs().Publish(0)).Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}").
		EditIn("name: controller-0", ", {name: csi-resizer, image: 'registry.k8s.io/sig-storage/csi-resizer:v1.11.1', args: [--csi-address=/csi/csi.sock]}", "")
	inline := ebs().Waits().
		Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: creds, csi: {driver: secrets-store.csi.k8s.io, readOnly: true}}]").
		FailedMount("MountVolume.SetUp failed for volume \"creds\" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name secrets-store.csi.k8s.io not found in the list of registered CSI drivers")
	readers := sanWaits("xfs").Edit("accessModes: [ReadWriteOnce]", "accessModes: [ReadOnlyMany]").Without("n1", "sys/class/block/sdc/ro").Without("n1", "@content/8:32").
		Entries("n1", "sys/class/block/sdc/ro", "1", "@content/8:32", "TYPE=xfs\nUUID=2f").Kernel("n1", "61|XFS (sdc): recovery required on read-only device.", "61|XFS (sdc): log mount/recovery failed: error -30")
	away := func(lines ...string) *world {
		const nvme = "sys/class/nvme/nvme1/"
		return ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).Without("n1", "sys/class/block/nvme1n1/device/state").
			Entries("n1", "sys/class/block/nvme1n1/device/state", "connecting", nvme+"state", "connecting", nvme+"transport", "tcp", nvme+"address", "traddr=10.0.0.1,trsvcid=4420").Kernel("n1", lines...)
	}
	for name, c := range map[string]struct {
		w         *world
		ask       string
		says, not string
	}{
		"a helper of local-path":           {helper("rancher.io/local-path"), "", "helperPod.yaml", "OPENEBS"},
		"a helper of OpenEBS":              {helper("openebs.io/local"), "", "OPENEBS_IO_HELPER_IMAGE", "helperPod.yaml"},
		"a helper of another":              {helper("hostpath.example"), "", "the provisioner's configuration", "helperPod.yaml"},
		"LUKS of another than Longhorn":    {luks, "", "let the driver ask for parameters", "CRYPTO_PBKDF"},
		"a mount's own pod, out of memory": {fuse("OOMKilled"), "", "was OOMKilled: raise", "from pods of its own"},
		"a mount's own pod, that failed":   {fuse("Error"), "", "before the pod that carries", "OOMKilled"},
		"no resizer at all":                {resizer, "", "install csi-resizer", "Start or repair"},
		"no driver of a pod's own volume":  {inline, "pod shop/web-0", "the volumes of the workload's pod template", "reclaim policy"},
		"a controller that may come back":  {away(), "", "is back in time, the workload goes on", "end once"},
		"one whose filesystem has stopped": {away("60|EXT4-fs error (device nvme1n1): ext4_journal_check_start:83: comm app: Detected aborted journal", "60|EXT4-fs (nvme1n1): Remounting filesystem read-only").Without("n1", "sys/fs/ext4/nvme1n1/errors_count").Entries("n1", "sys/fs/ext4/nvme1n1/errors_count", "2"), "", "end once", "is back in time"},
		"a disk for reading alone":         {readers, "", "let its disk stay closed", "the disk for writing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sayOf(t, cmp.Or(c.ask, "pvc shop/data"), said{c.w, []string{c.says}, []string{c.not}})
		})
	}
}
