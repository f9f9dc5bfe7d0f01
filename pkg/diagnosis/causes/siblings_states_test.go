package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestNamesThatWereTakenAway: the engine runs, its disk is there, and the node that it made below /dev is not.
func TestNamesThatWereTakenAway(t *testing.T) {
	t.Parallel()
	said := func(w *world, output string) *world {
		return w.FailedMount(stageFails("mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/longhorn/" + lhVol + " /g\nOutput: mount: /g: " + output))
	}
	const gone = "special device /dev/longhorn/" + lhVol + " does not exist."
	const newer = "fsconfig() failed: /dev/longhorn/" + lhVol + ": Can't lookup blockdev." // libmount's new way to the kernel: util-linux 2.39
	wait := func() *world { return lhAttached(lhWorld("v1.7.2").Waits()) }
	showEach(t, map[string]shown{
		"the engine's device node":                 {said(wait().Without("n1", "dev/longhorn/"), gone), "broken: certain device-link-missing Device n1/8:16"},
		"the same in the words of fsconfig":        {said(wait().Without("n1", "dev/longhorn/"), newer), "broken: certain device-link-missing Device n1/8:16"},
		"it is there by now":                       {said(wait(), gone), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"it is there by now, in words of fsconfig": {said(wait(), newer), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestNamesOfWhatLiesAbove: a map, a mapper or a logical volume that is not there is no link to the disk below.
func TestNamesOfWhatLiesAbove(t *testing.T) {
	t.Parallel()
	rows := map[string]shown{}
	for _, name := range []string{"/dev/mapper/3600a0980123456789012345678901234", "/dev/mapper/luks-pv-data", "/dev/vg_data/pv-data"} {
		rows[name] = shown{sanWaits("xfs").Entries("n1", "dev/disk/by-id/wwn-0x600a0980123456789012345678901234", "@link ../../sdc").
			FailedMount(stageFails("mount failed: exit status 32\nMounting arguments: -t xfs " + name + " /g\nOutput: mount: /g: special device " + name + " does not exist.")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"}
	}
	showEach(t, rows)
}

// TestAttachersThatAreGone: a kubelet lists as in use what a pod waits for, too.
func TestAttachersThatAreGone(t *testing.T) {
	t.Parallel()
	going := ebs().Waits().Attached("n1").EditIn("kind: VolumeAttachment\n", "creationTimestamp: '2025-12-31T12:00:02Z',", "creationTimestamp: '2025-12-31T12:00:02Z', deletionTimestamp: '2026-01-02T11:40:00Z',").
		Drop("name: controller-0").Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kube-system, name: controller}
spec: {replicas: 0, selector: {matchLabels: {app: controller}}, template: {metadata: {labels: {app: controller}}, spec: {containers: [{name: csi-attacher, image: 'registry.k8s.io/sig-storage/csi-attacher:v4.6.1'}, {name: driver, image: i, args: ['--drivername=ebs.csi.aws.com']}]}}}
`)
	showEach(t, map[string]shown{
		"scaled to 0 while a pod waits on the same node": {going, "broken: certain attacher-not-working Deployment kube-system/controller"},
	})
}

// TestNuisancesThatKeepAPodWaiting: what is only untidy while its pod works is a fault for the pod that waits.
func TestNuisancesThatKeepAPodWaiting(t *testing.T) {
	t.Parallel()
	going := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Answers("n1", ebs().Publish(0)).Attached("n1").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:50:00Z', finalizers:")
	}
	showEach(t, map[string]shown{
		"nobody waits":       {going(), "degraded: certain attach-state-out-of-step Node n1"},
		"a second pod waits": {second(going(), "web-x", "n1", "", "Pending", ""), "broken: certain attach-state-out-of-step Node n1"},
	})
}

// TestPathsOfTheOtherType: the runtime says that a path of the host is a directory where the image has a file.
func TestPathsOfTheOtherType(t *testing.T) {
	t.Parallel()
	const says = `failed to create containerd task: error mounting "/etc/nx/nginx.conf" to rootfs at "/etc/nginx/nginx.conf": not a directory: Are you trying to mount a directory onto a file (or vice-versa)?`
	w := nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, hostPath: {path: /etc/nx/nginx.conf}}]").
		EditIn("name: web-0", "{name: data, mountPath: /data}", "{name: data, mountPath: /data}, {name: conf, mountPath: /etc/nginx/nginx.conf}").
		EditIn("name: web-0", "waiting: {reason: ContainerCreating}", "waiting: {reason: RunContainerError, message: '"+says+"'}")
	show(t, w, "pod shop/web-0", "broken: certain hostpath-type-mismatch Pod shop/web-0")

	const gone = "waiting: {reason: CreateContainerConfigError, message: 'stat /opt/x: no such file or directory'}"
	absent := localDir("/opt/x").Waits().EditIn("name: web-0", "mountPath: /data}", "mountPath: /data, subPath: srv}").EditIn("name: web-0", "waiting: {reason: ContainerCreating}", gone)
	show(t, absent, "pvc shop/data", "broken: certain hostpath-type-mismatch PersistentVolume pv-data")
	show(t, absent.Edit("stat /opt/x:", "stat /var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data:"), "pvc shop/data", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume")
}

// TestOptionsWithTheirValue: kernels before 5.11 quote an option that they do not know with its value.
func TestOptionsWithTheirValue(t *testing.T) {
	t.Parallel()
	show(t, smb().Edit("vers=3.0]", "vers=3.0, cahce=strict]").Waits().FailedMount(smbFailed("mount error(22): Invalid argument")).Kernel("n1", `60|CIFS: Unknown mount option "cahce=strict"`),
		"pvc shop/data", "broken: certain smb-mount-refused PersistentVolume pv-data")
}

// TestPoolsThatNothingNames: which group a device class is, only the driver's own configuration knows.
func TestPoolsThatNothingNames(t *testing.T) {
	t.Parallel()
	notRuledOut(t, sketch.NewWorld("topolvm.io", "5f1a2b3c", "accessModes: [ReadWriteOnce]\ncsi: {driver: topolvm.io, volumeHandle: 5f1a2b3c}").Waits().
		FailedMount(`MountVolume.SetUp failed for volume "pv-data" : rpc error: code = NotFound desc = failed to find LV: 5f1a2b3c`), "local-pool-inactive")
}

// TestPodsThatADriverWaitsFor: a driver that mounts through a pod of its own cannot while that does not run.
func TestPodsThatADriverWaitsFor(t *testing.T) {
	t.Parallel()
	const pending = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: mount-s3, name: mp-46cdk, uid: mp}\nspec: {containers: [{name: m, image: m}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available: 1 Too many pods.'}]}\n"
	s3 := func() *world {
		return vol("s3.csi.aws.com", "bucket-volume", "").Waits().FailedMount(`MountVolume.SetUp failed for volume "pv-data" : rpc error: code = Internal desc = Could not mount "b": Failed to wait for Mountpoint Pod "mp-46cdk" to be ready: mppod/watcher: mountpoint pod not found.`)
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"by its name":                {s3().Add(pending), "1 Too many pods"},
		"by the handle in its name":  {vol("csi.juicefs.com", "pvc-58cecc3b-7522", "").Waits().FailedMount(stageFails("context deadline exceeded")).Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: juicefs-n1-pvc-58cecc3b-7522-ofmjtb, uid: mp}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Pending, containerStatuses: [{name: m, ready: false, restartCount: 0, image: m, imageID: '', state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image'}}}]}\n"), "ImagePullBackOff: Back-off pulling image"},
		"a line of a module's own":   {lustre().Kernel("n1", "60|LNetError: 4521:0:(socklnd_cb.c:1985:ksocknal_connect()) Can't connect to 10.153.32.6@tcp"), "Can't connect to 10.153.32.6"},
		"a session that has no disk": {noLUN(), "LOGGED_IN, without a disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			for _, u := range r.Unexplained {
				for _, e := range u.Seen {
					if strings.Contains(e.Text, c.want) {
						return
					}
				}
			}
			t.Errorf("nothing says %q: %+v", c.want, r.Unexplained)
		})
	}
}

// TestPodsOfAnotherVolume: the handle of one is the beginning of the other's.
func TestPodsOfAnotherVolume(t *testing.T) {
	t.Parallel()
	_, r := vol("csi.juicefs.com", "data-pv-1", "").Waits().FailedMount(stageFails("context deadline exceeded")).Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: juicefs-n1-data-pv-12-ofmjtb, uid: mp, labels: {volume-id: data-pv-12}}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Pending}\n").Verdict(t, Catalog(), "pvc shop/data")
	for _, u := range r.Unexplained {
		for _, e := range u.Seen {
			if strings.Contains(e.Locator, "juicefs-n1") {
				t.Errorf("it waits for another volume's pod: %v", e)
			}
		}
	}
}

func lustre() *world {
	return vol("lustre.csi.storage.gke.io", "inst-1", "").Waits().FailedMount(stageFails("mount failed: exit status 5\nMounting command: mount\nMounting arguments: -t lustre 10.153.32.6@tcp:/lfs /g\nOutput: mount.lustre: mount 10.153.32.6@tcp:/lfs at /g failed: Input/output error\nIs the MGS running?"))
}

// TestCachesOfANewPod: the kubelet has not yet got what a pod seconds old names.
func TestCachesOfANewPod(t *testing.T) {
	t.Parallel()
	w := nfs().Waits().FailedMount(`MountVolume.SetUp failed for volume "cfg" : object "shop"/"web" not registered`).EditIn("name: web-0", "2026-01-02T11:30:00Z", "2026-01-02T11:59:30Z").EditIn("kind: Event", "2026-01-02T11:59:00Z", "2026-01-02T11:59:40Z")
	show(t, w, "pvc shop/data", "waiting")
	show(t, sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\nnfs: {server: 10.9.0.5, path: /e}").Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: api, uid: api, creationTimestamp: '2026-01-02T11:59:35Z'}\nspec: {nodeName: n1, volumes: [{name: cfg, configMap: {name: web}}], containers: [{name: app, image: i, volumeMounts: [{name: cfg, mountPath: /c}]}]}\nstatus: {phase: Pending, containerStatuses: [{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}]}\n"), "pod shop/api", "waiting")
}

func noLUN() *world {
	const iqn = "iqn.2020-12.com.example.dnuc01:dnuc01"
	return sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\niscsi: {targetPortal: '192.168.1.31:3260', iqn: '"+iqn+"', lun: 3, fsType: ext4}").Waits().Entries("n1", "@dial/192.168.1.31:3260", "ok 1ms",
		"sys/class/iscsi_session/session1/targetname", iqn, "sys/class/iscsi_session/session1/state", "LOGGED_IN",
		"usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:n1", "proc/modules", "iscsi_tcp 28672 0 - Live 0x0").
		Process("n1", 1301, "", "iscsid", 4026531841, "").Entries("n1", "proc/1301/cgroup", "0::/system.slice/iscsid.service", "proc/1301/cmdline", "/usr/sbin/iscsid␀").
		FailedMount("MountVolume.WaitForAttach failed for volume \"pv-data\" : failed to get any path for iscsi disk, last err seen:\nTimed out waiting for device at path /dev/disk/by-path/ip-192.168.1.31:3260-iscsi-" + iqn + "-lun-3 after 30s")
}
