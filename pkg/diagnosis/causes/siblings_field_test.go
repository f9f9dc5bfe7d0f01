package causes

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// alsoAtLUN0 is another volume of the driver that is attached to n1, with the pod other-0.
func alsoAtLUN0(w *world, handle string) *world {
	return w.Add(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-other, uid: 'c0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-30T12:00:00Z'}
spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, capacity: {storage: 10Gi}, claimRef: {namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000003'}, csi: {driver: `+w.Driver+`, fsType: ext4, volumeHandle: `+handle+`}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000003', creationTimestamp: '2025-12-30T12:00:00Z'}
spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, volumeName: pv-other, resources: {requests: {storage: 10Gi}}}
status: {phase: Bound, capacity: {storage: 10Gi}}
`, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-other, uid: 'b0000000-0000-4000-8000-000000000009', creationTimestamp: '2026-01-02T10:00:00Z', finalizers: [external-attacher/x]}
spec: {attacher: `+w.Driver+`, nodeName: n1, source: {persistentVolumeName: pv-other}}
status: {attached: true, attachmentMetadata: {LUN: '0'}}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: other-0, uid: 'd0000000-0000-4000-8000-000000000009', creationTimestamp: '2026-01-02T10:00:00Z', labels: {app: other}}
spec: {nodeName: n1, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: other}}], containers: [{name: app, image: i, volumeMounts: [{name: data, mountPath: /data}]}]}
status: {phase: Running, startTime: '2026-01-02T10:00:00Z', conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-02T10:00:20Z'}], containerStatuses: [{name: app, ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://cd', state: {running: {startedAt: '2026-01-02T10:00:10Z'}}}]}
`)
}

// TestTwoVolumesOneNumber: a disk that two attached volumes have mounted is not one of both; neither number was given
// away. (kubernetes-sigs/azuredisk-csi-driver#3457)
func TestTwoVolumesOneNumber(t *testing.T) {
	t.Parallel()
	const disks = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/"
	make := func() *world {
		w := sketch.NewWorld("disk.csi.azure.com", disks+"one", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: disk.csi.azure.com, fsType: ext4, volumeHandle: "+disks+"one}").Runs(0).Attached("n1")
		w.EditIn("nodeName: n1, source: {persistentVolumeName: pv-data}", "status: {attached: true}", "status: {attached: true, attachmentMetadata: {LUN: '0'}}")
		return alsoAtLUN0(w, disks+"two").Disk("n1", "sdc", "8:32", "device/vendor", "Msft    ", "device/model", "Virtual Disk    ").LiveExt4("n1", "sdc").
			Entries("n1", "sys/class/scsi_device/1:0:0:0/device/block/sdc/dev", "8:32", "dev/disk/azure/scsi1/lun0", "@link ../../../sdc", "run/udev/data/b8:32", "S:disk/azure/scsi1/lun0\nV:1").
			Mounts("n1", "8:32 / "+w.Publish(0)+" rw,relatime shared:300 - ext4 /dev/sdc rw").Answers("n1", w.Publish(0))
	}
	const theirs = "/var/lib/kubelet/pods/d0000000-0000-4000-8000-000000000009/volumes/kubernetes.io~csi/pv-other/mount"
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"the disk is mounted for both": {make().Mounts("n1", "8:32 / "+theirs+" rw,relatime shared:301 - ext4 /dev/sdc rw").Answers("n1", theirs), "likely device-is-not-the-volume"},
		"it is mounted for one":        {make(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			got := ""
			if len(r.RootCauses) > 0 {
				got = string(r.RootCauses[0].Certainty) + " " + r.RootCauses[0].Name
			}
			if got != c.want {
				t.Errorf("%s %q, want %q", r.Verdict, got, c.want)
			}
		})
	}
}

// TestRefusedAfar: who refuses from afar is quoted, and nothing of the node is suspected.
func TestRefusedAfar(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ message, says string }{
		"a disk type that the machine does not take": {"rpc error: code = Internal desc = pd-standard is not a compatible disk type with the machine type c3-highcpu-4", "refuses to attach the volume to node n1"},
		"a refusal with the code Aborted":            {"rpc error: code = Aborted desc = the volume has no export for host n1", "refuses to attach the volume to node n1"},
		"a call that still runs":                     {"rpc error: code = Aborted desc = operation pending for volume vol-0a1b", "does not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ebs().Waits().Unprobed("n1", "PodRejected").Add(`
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, uid: 'b0000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:30:02Z', finalizers: [external-attacher/ebs-csi-aws-com]}
spec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {persistentVolumeName: pv-data}}
status: {attached: false, attachError: {message: '` + c.message + `', time: '2026-01-02T11:59:10Z'}}
`)
			_, r := w.Verdict(t, Catalog(), "pvc shop/data")
			if len(r.Unexplained) == 0 {
				t.Fatalf("%s, nothing is unexplained", r.Verdict)
			}
			u := r.Unexplained[0]
			if !strings.Contains(u.Answer, c.says) {
				t.Errorf("says %q", u.Answer)
			}
			for _, b := range u.CouldBe {
				if slices.Contains([]string{"multipath-claims-device", "lvm-claims-device"}, b.Cause) {
					t.Errorf("suspects %s", b.Cause)
				}
			}
			for _, s := range u.Next {
				if slices.ContainsFunc(s.Commands, func(c string) bool { return strings.Contains(c, "kubectl debug node") }) {
					t.Errorf("looks on the node: %v", s.Commands)
				}
			}
		})
	}
}

// lhFails is a volume that is attached to n1, which was not looked at, and does not mount there.
func lhFails(text string) *world {
	return lhWaits(lhWorld("v1.8.1")).EditIn("nodeName: n1, source: {persistentVolumeName: pv-data}", "attached: false", "attached: true").EditIn(volDoc, "state: attaching, robustness: unknown", "state: attached, robustness: healthy").
		Edit("NAME-ATTACHED-n1", "{name: 'kubernetes.io/csi/driver.longhorn.io^"+lhVol+"', devicePath: ''}").Edit("NAME-USED-n1", "'kubernetes.io/csi/driver.longhorn.io^"+lhVol+"'").EditIn(engDoc, "currentState: stopped", "currentState: running").
		FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "+text).Unprobed("n1", "PodRejected")
}

// TestLonghornSaysWhereItEnds: what a component of Longhorn said of an instance that does not come up is quoted, or read.
func TestLonghornSaysWhereItEnds(t *testing.T) {
	t.Parallel()
	stopped := func(log string) *world {
		w := lhWaits(lhWorld("v1.8.1"))
		w.EditIn(engDoc, "currentState: stopped", "currentState: error")
		return w.File("logs/longhorn-system/instance-manager-n1/instance-manager.log", log+"\n")
	}
	quoted := func(r *report.Report, words string) bool {
		return slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool {
			return slices.ContainsFunc(append(u.Evidence, u.Seen...), func(e report.Evidence) bool { return strings.Contains(e.Text, words) })
		})
	}
	_, r := stopped("["+lhVol+"-r-1] time=\"2026-01-02T11:59:30Z\" level=error msg=\"Too many active disks: 255\"").Verdict(t, Catalog(), "pvc shop/data")
	if !quoted(r, "Too many active disks") {
		t.Errorf("%s: the words of a replica are not quoted: %v", r.Verdict, r.Unexplained)
	}
	dropped := "time=\"2026-01-02T11:59:29Z\" level=warning msg=\"Dropping Longhorn volume longhorn-system/" + lhVol + " out of the queue\" controller=longhorn-volume error=\"fail to reconcile volume state for " + lhVol + ": no healthy or scheduled replica for starting\""
	for pod, wanted := range map[string]bool{"longhorn-manager-n1": true, "longhorn-manager-n2": false} {
		w := lhIdle(lhWaits(lhWorld("v1.4.2"))).File("logs/longhorn-system/"+pod+"/longhorn-manager.log", dropped+"\n")
		if _, r := w.Verdict(t, Catalog(), "pvc shop/data"); quoted(r, "no healthy or scheduled replica") != wanted {
			t.Errorf("%s: the words of %s about a volume of longhorn-manager-n1 are quoted: %v, want %v", r.Verdict, pod, !wanted, wanted)
		}
	}
	sizes := func(a, b string) string {
		return "[" + lhVol + "-e-0] time=\"2026-01-02T11:59:30Z\" level=error msg=\"Backend tcp://10.42.0.184:10030 size does not match " + a + " != " + b + " in the engine initiation phase\""
	}
	for log, want := range map[string]string{
		sizes("10737418240", "21474836480"): "longhorn-replica-inconsistent likely",
		sizes("10737418240", "5368709120"):  "",
	} {
		_, r := stopped(log).Verdict(t, Catalog(), "pvc shop/data")
		got := ""
		if len(r.RootCauses) > 0 {
			got = r.RootCauses[0].Name + " " + string(r.RootCauses[0].Certainty)
		}
		if got != want {
			t.Errorf("%s: %s %q, want %q", log, r.Verdict, got, want)
		}
	}
	w := lhFails("the operation did not succeed").EditIn(engDoc, "replicaModeMap: {", "replicaModeMap: {'UNKNOWN-tcp://10.42.2.206:10024': ERR")
	if _, r := w.Verdict(t, Catalog(), "pvc shop/data"); !quoted(r, "UNKNOWN-tcp") {
		t.Errorf("%s: a replica that Longhorn does not know is not shown: %v", r.Verdict, r.RootCauses)
	}
}

// TestDiskOfARawBlockVolumeIsGone: the pod runs on with the old disk, and everything in the API is well.
// (harvester/harvester#11208)
func TestDiskOfARawBlockVolumeIsGone(t *testing.T) {
	t.Parallel()
	publish := "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/" + sketch.UID + "00"
	on := func(root, number string) *world {
		return ebsDisk(blockPV().Runs(0).Attached("n1"), "n1").Mounts("n1", "0:5 "+root+" "+publish+" rw,nosuid,relatime shared:71 - devtmpfs udev rw").
			Entries("n1", "proc/5000/fd/14", "@link /dev/data", "@dev/proc/5000/fd/14", number)
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"its node is deleted, its number gone":    {on("/nvme2n1//deleted", "259:7"), "mount-of-dead-device certain"},
		"its node is deleted, the number lives":   {on("/nvme2n1//deleted", "259:1"), ""},
		"its node is there, and so is its number": {on("/nvme1n1", "259:1"), ""},
	} {
		_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
		if got := first(r); got != c.want {
			t.Errorf("%s: %s %q, want %q", name, r.Verdict, got, c.want)
		}
	}
}

// first is the first root cause with its certainty.
func first(r *report.Report) string {
	if len(r.RootCauses) == 0 {
		return ""
	}
	return r.RootCauses[0].Name + " " + string(r.RootCauses[0].Certainty)
}

// TestResizeThatNobodyGoesOnWith is no resize that needs only time. (longhorn/longhorn#13379)
func TestResizeThatNobodyGoesOnWith(t *testing.T) {
	t.Parallel()
	for required, want := range map[string]string{"false": "degraded", "true": "waiting"} {
		w := lhRuns(lhWorld("v1.8.1")).EditIn(engDoc, "currentSize: '10737418240'", "currentSize: '9663676416'").EditIn(volDoc, "expansionRequired: false", "expansionRequired: "+required)
		if _, r := w.Verdict(t, Catalog(), "pvc shop/data"); string(r.Verdict) != want || first(r) != "longhorn-expansion-incomplete likely" {
			t.Errorf("expansionRequired %s: %s %s, want %s", required, r.Verdict, first(r), want)
		}
	}
}

// TestFormatOfADiskThatIsHeld: who finds the disk busy writes nothing to it.
func TestFormatOfADiskThatIsHeld(t *testing.T) {
	t.Parallel()
	const failed = "format of disk \"/dev/longhorn/" + lhVol + "\" failed: type:(\"ext4\") target:(\"/g\") options:(\"defaults\") errcode:(exit status 1)"
	for text, want := range map[string]string{
		failed: "filesystem-mkfs-risk likely",
		"mount failed: exit status 32\nOutput: mount: /g: /dev/longhorn/" + lhVol + " already mounted or mount point busy.\n" + failed: "",
	} {
		if _, r := lhFails(text).EditIn(volDoc, "robustness: healthy", "robustness: healthy, actualSize: '734003200'").Verdict(t, Catalog(), "pvc shop/data"); first(r) != want {
			t.Errorf("%s: %s %q, want %q", text, r.Verdict, first(r), want)
		}
	}
}

// TestSaidInTwoLines: iscsiadm names the portal in one line and its failure in the next, below a driver's line with the date;
// the kubelet misses what a plugin made where it alone sees it. (nutanix/helm#140, openebs/openebs#3532)
func TestSaidInTwoLines(t *testing.T) {
	t.Parallel()
	nutanix := func(why string) *world {
		w := sketch.NewWorld("csi.nutanix.com", "NutanixVolumes-7", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.nutanix.com, fsType: ext4, volumeHandle: NutanixVolumes-7, volumeAttributes: {targetPortal: '10.150.138.138:3260', iqn: 'iqn.2010-06.com.nutanix:k8s-7', lun: '0'}}").
			Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Unavailable desc = An operation with the given Volume ID NutanixVolumes-7 already exists").Unprobed("n1", "NotRequested")
		return w.File("logs/kube-system/plugin-1/driver.log", "E0102 11:58:30.587357       1 utils.go:31] GRPC error: rpc error: code = Internal desc = iscsi/lvm failure, last err seen:\niscsi: failed to attach disk: Error: iscsiadm: "+
			"Could not login to [iface: default, target: iqn.2010-06.com.nutanix:k8s-7, portal: 10.150.138.138,3260].\niscsiadm: initiator reported error ("+why+")\n")
	}
	const root = "/var/snap/microk8s/common/var/lib/kubelet"
	vanished := func(dir string) *world {
		w := nfs().Waits().Unprobed("n1", "NotRequested")
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol nas#data: lstat " + dir + strings.TrimPrefix(w.Publish(0), "/var/lib/kubelet") + ": no such file or directory")
	}
	lacks := func(dir, words string) *world { // the driver's own word on the path that it was handed
		w := nfs().Waits()
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Unknown desc = create target path: mkdir " + dir + strings.TrimPrefix(w.Publish(0), "/var/lib/kubelet") + ": " + words)
	}
	moved := func(w *world) *world {
		return w.Entries("n1", "proc/911/cmdline", "/snap/microk8s/6750/kubelite␀--root-dir="+root+"␀", "proc/911/comm", "kubelite")
	}
	const gone, likely = "no such file or directory", "broken: likely kubelet-root-dir-wrong DaemonSet kube-system/plugin"
	showEach(t, map[string]shown{
		"a directory that the driver is handed and lacks":     {lacks(root, gone).Unprobed("n1", "NotRequested"), likely},
		"on a node whose kubelet was read, and no directory":  {moved(lacks(root, gone)), likely},
		"on a node that has the directory":                    {moved(lacks(root, gone)).Entries("n1", root[1:]+"/pods/"+sketch.UID+"00/volumes/kubernetes.io~csi/pv-data/vol_data.json", "{}"), strings.Replace(likely, "likely", "certain", 1)},
		"on a node whose kubelet has another":                 {lacks(root, gone), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"what the driver lacks is not the kubelet's":          {moved(lacks("/data", gone)), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"its own root takes no directory above the kubelet's": {moved(nfs().Waits()).FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to mount oneagent volume: mkdir /var/snap: read-only file system"), strings.Replace(likely, "likely", "certain", 1)},
		"a disk that takes no directory":                      {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mkdir /var/snap: read-only file system"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"nobody answers":                                      {nutanix("8 - connection timed out"), "broken: likely iscsi-portal-unreachable Node n1"},
		"the target answered":                                 {nutanix("15 - session exists"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a directory that the plugin lacks":                   {vanished(root), "broken: likely kubelet-root-dir-wrong DaemonSet kube-system/plugin"},
		"a device that it made elsewhere": {nfs().Waits().Unprobed("n1", "NotRequested").FailedMount("MapVolume.EvalHostSymlinks failed for volume \"pv-data\" : lstat " + root + "/plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/0485c803-5831-43d6-b8e6-4cc40363d2c6: no such file or directory"),
			"broken: likely kubelet-root-dir-wrong DaemonSet kube-system/plugin"},
		"a directory that the plugin does have": {vanished("/var/lib/kubelet"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestSuspectsOfAMissingDisk: where the driver says that there is no disk, what hides one is suspected before what holds it.
// (kubernetes-sigs/vsphere-csi-driver#943)
func TestSuspectsOfAMissingDisk(t *testing.T) {
	t.Parallel()
	first := func(words string) string {
		w := sketch.NewWorld("csi.vsphere.vmware.com", "c9a72420", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.vsphere.vmware.com, fsType: ext4, volumeHandle: c9a72420}").Waits().Attached("n1").Unprobed("n1", "NotRequested")
		_, r := w.FailedMount(stageFails(words)).Verdict(t, Catalog(), "pvc shop/data")
		for _, u := range r.Unexplained {
			if u.Symptom.Name == "mount-failed" && len(u.CouldBe) > 0 {
				return u.CouldBe[0].Cause
			}
		}
		return ""
	}
	if got := first("disk: 6000c2914c4d05eeac839f4560c7dae4 not attached to node"); got != "attached-in-api-missing-on-node" {
		t.Errorf("no disk: %s is suspected first", got)
	}
	if got := first("the operation did not succeed"); got != "device-held-by-process" {
		t.Errorf("whatever: %s is suspected first", got)
	}
}
