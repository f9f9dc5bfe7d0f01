package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestSiblingsWords: the same error in the words of other drivers and tools, and words that only
// sound like it.
func TestSiblingsWords(t *testing.T) {
	t.Parallel()
	const mp, su = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = ", "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = "
	shared := func(driver string) *world {
		return sketch.NewWorld(driver, "h-1", "accessModes: [ReadWriteMany]\ncsi: {driver: "+driver+", volumeHandle: h-1}")
	}
	truenas := func() *world {
		return sketch.NewWorld("csi.truenas.io", "v-1", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.truenas.io, fsType: ext4, volumeHandle: v-1, volumeAttributes: {portal: 'nas.example:3260', iqn: 'iqn.2005-10.org.freenas.ctl:v-1'}}").
			Attached("n1").Waits().Entries("n1", "usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:a",
			"lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/drivers/scsi/iscsi_tcp.ko\nkernel/drivers/scsi/scsi_transport_iscsi.ko").Process("n1", 1301, "", "iscsid", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw").
			Entries("n1", "proc/1301/cgroup", "0::/system.slice/iscsid.service", "proc/1301/cmdline", "/usr/sbin/iscsid␀")
	}
	oracle := func(bare, daemon, module bool, said string) *world {
		const driver = "blockvolume.csi.oraclecloud.com"
		w := sketch.NewWorld(driver, "ocid1.volume.oc1.x", "accessModes: [ReadWriteOnce]\ncsi: {driver: "+driver+", fsType: ext4, volumeHandle: ocid1.volume.oc1.x}").Attached("n1").Waits().
			FailedMount(mp + "iscsi: " + said)
		if !bare {
			w.Entries("n1", "usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:a")
		}
		if module {
			w.Entries("n1", "lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/drivers/scsi/iscsi_tcp.ko\nkernel/drivers/scsi/scsi_transport_iscsi.ko")
		}
		if daemon {
			w.Process("n1", 1301, "", "iscsid", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw").Entries("n1", "proc/1301/cgroup", "0::/system.slice/iscsid.service", "proc/1301/cmdline", "/usr/sbin/iscsid␀")
		}
		return w
	}
	discovery := mp + "failed to find device path: [], last error seen: failed to sendtargets to portal nas.example:3260, err: exit status 15"
	lustre := su + "Failed to run cmd: mount -t   lustre 10.9.0.9@tcp:/fs /t, with out: mount: mounting 10.9.0.9@tcp:/fs on /t failed: No such device\n, with error: exit status 255"
	thin := linstor().Waits().Attached("n1").FailedMount(su + "NodePublishVolume failed for pvc-77aa: failed to stat source device: stat : no such file or directory")
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"BusyBox names the type in the command":      {shared("lustre.example").Waits().FailedMount(lustre), "broken: certain kernel-module-missing Node n1"},
		"its module is loaded":                       {shared("lustre.example").Waits().FailedMount(lustre).Entries("n1", "proc/modules", "lustre 28672 0 - Live 0x0\noverlay 28672 0 - Live 0x0"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"LINSTOR with DRBD, and no module":           {thin, "broken: certain kernel-module-missing Node n1"},
		"LINSTOR without DRBD needs none":            {linstor().Waits().Attached("n1").FailedMount(su+"NodePublishVolume failed for pvc-77aa: failed to stat source device: stat : no such file or directory").Edit("allowVolumeExpansion: true", "parameters: {linstor.csi.linbit.com/layerList: storage}\nallowVolumeExpansion: true"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a policy of the node denies, no account":    {shared("s3.csi.aws.com").Waits().FailedMount(su + "Could not mount \"b\" at \"/t\": Mount failed: Failed to start systemd unit on host: SELinux policy denies access: Permission denied output: "), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the storage denies":                         {shared("s3.csi.aws.com").Waits().FailedMount(su + "Could not mount \"b\" at \"/t\": Mount failed: Error: Failed to create S3 client  Caused by: Forbidden: Access Denied"), "broken: likely csi-credentials-wrong ServiceAccount kube-system/default"},
		"a disk that comes with the login":           {truenas().FailedMount(discovery), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a portal whose name the node does not know": {truenas().FailedMount(mp + "{\"code\":4,\"stdout\":\"\",\"stderr\":\"iscsiadm: Cannot resolve host nas.example. getaddrinfo error: [Name or service not known]\\n\"}"), "broken: likely iscsi-portal-unreachable Node n1"},
		"no credentials":                             {shared("blob.csi.azure.com").Waits().FailedMount(su + "Mount failed with error: exit status 1, output: Unable to start blobfuse due to a lack of credentials. Please check the readme for valid auth setups."), "broken: likely csi-credentials-wrong ServiceAccount kube-system/default"},
		"iscsi: of a driver, 127":                    {oracle(true, false, true, "error adding node record to db: exit status 127"), "broken: certain iscsi-tools-missing Node n1"},
		"iscsi: of a driver, 20":                     {oracle(false, false, true, "error logging in target: exit status 20"), "broken: certain iscsid-not-running Node n1"},
		"iscsi: of a driver, 12":                     {oracle(false, true, false, "error logging in target: exit status 12"), "broken: certain iscsi-module-missing Node n1"},
		"a disk that is hot-plugged, not ready":      {vol("driver.harvesterhci.io", "pvc-52d1763c", "").Attached("n1").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Aborted desc = The hot-plug volume pvc-52d1763c is not ready"), "broken: likely attached-in-api-missing-on-node VolumeAttachment " + snapshot.AttachmentName("pvc-52d1763c", "driver.harvesterhci.io", "n1")},
		"a volume that is made, not ready":           {vol("csi.example.com", "pvc-52d1763c", "").Attached("n1").Waits().FailedMount(mp + "volume pvc-52d1763c is not ready"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a word without blanks":                      {sketch.NewWorld("csi.huawei.com", "dorado.v-1", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.huawei.com, fsType: ext4, volumeHandle: dorado.v-1}").Attached("n1").Waits().FailedMount(mp + "VolumeDeviceNotFound"), "broken: likely attached-in-api-missing-on-node VolumeAttachment csi-9e6f0b635ad3742709da5eb9c47542acd25604c289fa323ead31e5e6154ad059"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func efs() *world {
	return sketch.NewWorld("efs.csi.aws.com", "fs-1::fsap-1", "accessModes: [ReadWriteMany]\ncsi: {driver: efs.csi.aws.com, volumeHandle: 'fs-1::fsap-1'}")
}

// TestUnexplainedIsSaid: who refuses, and where to look, is right without a cause, too.
func TestUnexplainedIsSaid(t *testing.T) {
	t.Parallel()
	const aws = "volume.kubernetes.io/storage-provisioner: ebs.csi.aws.com"
	pending := pvcEvent(pvcEvent(pendingClaim(ebs(), "Immediate", aws).Waits(), "Normal", "Provisioning", "ebs.csi.aws.com_controller-0", "External provisioner is provisioning volume for claim \"shop/data\""),
		"Normal", "ExternalProvisioning", "persistentvolume-controller", "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.")
	populated := pvcEvent(pvcEvent(pendingClaim(ebs(), "WaitForFirstConsumer", aws+", volume.kubernetes.io/selected-node: n1").Edit("storageClassName: fast, resources", "storageClassName: fast, dataSourceRef: {apiGroup: hello.example.com, kind: Hello, name: example}, resources").Waits(), "Normal", "Provisioning", "ebs.csi.aws.com_controller-0", "Assuming an external populator will provision the volume"),
		"Warning", "UnrecognizedDataSourceKind", "data-source-validator", "The datasource for this PVC does not match any registered VolumePopulator")
	filled := pvcEvent(pendingClaim(ebs(), "Immediate", aws).Edit("storageClassName: fast, resources", "storageClassName: fast, dataSourceRef: {apiGroup: cdi.kubevirt.io, kind: VolumeImportSource, name: imp, namespace: images}, resources"), "Normal", "Provisioning", "ebs.csi.aws.com_controller-0", "Assuming an external populator will provision the volume")
	relabel := ebsDisk(ebs().Waits(), "n1").Attached("n1").Edit("waiting: {reason: ContainerCreating}", "waiting: {reason: CreateContainerError, message: 'failed to generate container \"bf\" spec: relabel \"/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv-data/mount\" with \"system_u:object_r:data_t:s0:c63,c833\" failed: lsetxattr /m/agent: operation not permitted'}")
	config := ebsDisk(ebs().Waits(), "n1").Attached("n1").Edit("waiting: {reason: ContainerCreating}", "waiting: {reason: CreateContainerConfigError, message: 'failed to prepare subPath for volumeMount \"data\" of container \"app\"'}")
	readOnly := sketch.NewWorld("lvm.hwameistor.io", "pvc-5b47", "accessModes: [ReadWriteOnce]\ncsi: {driver: lvm.hwameistor.io, fsType: xfs, volumeHandle: pvc-5b47}").Attached("n1").Waits().
		FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Unknown desc = format of disk \"/dev/LocalStorage_PoolHDD-HA/pvc-5b47\" failed: type:(\"xfs\") options:(\"defaults\") errcode:(exit status 1) output:(mkfs.xfs: cannot open /dev/LocalStorage_PoolHDD-HA/pvc-5b47: Read-only file system\n)").
		Disk("n1", "drbd1000", "147:1000", "ro", "1").Entries("n1", "dev/LocalStorage_PoolHDD-HA/pvc-5b47", "@link ../drbd1000", "@content/147:1000", "TYPE=")
	const noOutput = "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 255 Output: "
	killed := func(ago string) *world {
		return efs().Waits().FailedMount(noOutput).
			EditIn("name: plugin-1", "{name: driver, ready: true, restartCount: 0,", "{name: driver, ready: true, restartCount: 14, lastState: {terminated: {exitCode: 137, reason: OOMKilled, finishedAt: '"+ago+"'}},")
	}
	going := ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).EditIn("kind: Pod\nmetadata: {namespace: shop, name: web-0", ", labels: {app: web}", deleted+", labels: {app: web}").
		Event("Pod", "web-0", sketch.UID+"00", "FailedKillPod", "kubelet", "n1", "2026-01-02T11:59:00Z", `error killing pod: [failed to "KillContainer" for "app" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"]`)
	leaving := va(ebs().Waits(), "csi-x", "n1", ", deletionTimestamp: '2026-01-02T11:31:00Z'", "attached: true").FailedMount(`MountVolume.WaitForAttach failed for volume "pv-data" : volume attachment is being deleted`)
	const refuses = "The driver efs.csi.aws.com on node n1 refuses to publish the volume."
	for name, c := range map[string]struct {
		w                  *world
		answer, next, said string
	}{
		"the runtime":                 {relabel, "The container runtime on node n1 refuses to make a container with the volumes of the pod.", "journalctl -u kubelet", "relabel"},
		"the kubelet":                 {config, "The kubelet on node n1 refuses to make a container with the volumes of the pod.", "journalctl -u kubelet", "failed to prepare subPath"},
		"a disk that takes no writes": {readOnly, "The driver lvm.hwameistor.io on node n1 refuses to publish the volume.", "logs plugin-1 -c driver", "sys/class/block/drbd1000/ro"},
		"a driver that is killed":     {killed("2026-01-02T11:53:00Z"), refuses, "logs plugin-1 -c driver", "ended: OOMKilled (137), 14 restarts"},
		"a quarter of an hour ago":    {efs().Waits().Event("Pod", "web-0", sketch.UID+"00", "FailedMount", "kubelet", "n1", "2026-01-02T11:45:00Z", noOutput), refuses, "logs plugin-1 -c driver", "exit status 255"},
		"the provisioner is mute":     {pending, "The volume is not made, and nobody says why.", "logs controller-0 -c csi-provisioner", "External provisioner is provisioning"},
		"the populator is mute":       {filled, "The volume is not made: a volume populator shall fill it from volumeimportsource.cdi.kubevirt.io imp, and nobody says why it does not.", "-n images get volumeimportsource.cdi.kubevirt.io imp -o yaml", "Assuming an external populator"},
		"another node has it":         {attachFailed(ebs().Waits().Attached("n2"), "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another"), "The volume is still attached to node n2, so node n1 does not get it.", "logs plugin-1", "spec.nodeName n2"},
		"one event alone says so":     {attachFailed(ebs().Waits(), "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another").Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), "The volume is not attached to node n1: as the attach-detach controller says, another node still has it.", "logs controller-0", "exclusively attached"},
		"the runtime does not end it": {going, "The container runtime on node n1 does not end the pod, so nobody was asked to unmount the volume yet.", "journalctl -u kubelet", "KillContainerError"},
		"the kubelet only waits":      {leaving, "The volume is not detached from node n1, and nobody says why.", "get volumeattachment csi-x", "volume attachment is being deleted"},
		"nobody fills the volume":     {populated, "The volume is not made on node n1, and data-source-validator warns about its claim.", "describe pvc data", "does not match any registered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			var u report.Unexplained
			for _, o := range r.Unexplained {
				if o.Name != "pod-waiting-for-volume" && (u.Name == "" || o.Name != "mount-failed") {
					u = o
				}
			}
			commands, words := "", ""
			for _, n := range u.Next {
				commands += strings.Join(n.Commands, "\n") + "\n"
			}
			for _, e := range append(u.Evidence, u.Seen...) {
				words += e.Locator + " " + e.Text + "\n"
			}
			if u.Answer != c.answer || !strings.Contains(commands, c.next) || !strings.Contains(words, c.said) {
				t.Errorf("says %q of\n%slooks next:\n%s", u.Answer, words, commands)
			}
		})
	}
}

// TestAnotherReason: what keeps a pod whose volumes are well is said, and where something was not read, too.
func TestAnotherReason(t *testing.T) {
	t.Parallel()
	const lacks = "it is not scheduled (0/3 nodes are available: 3 Insufficient memory.)."
	full := func() *world { return unscheduled(ebs(), "0/3 nodes are available: 3 Insufficient memory.") }
	sayEach(t, map[string]said{
		"all was read":   {full(), []string{"Nothing is wrong with the volumes. Pod shop/web-0 does not run for another reason: " + lacks}, nil},
		"a node was not": {full().Unprobed("n1", "PodRejected").Gap("api//resourcequotas", "Forbidden"), []string{"could not be checked. Pod shop/web-0 does not run: " + lacks}, []string{"Nothing is wrong"}},
	})
}
