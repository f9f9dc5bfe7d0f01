package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestNamesThatWereTakenAway: the engine runs, its disk is there, and the node that it made below /dev is not.
func TestNamesThatWereTakenAway(t *testing.T) {
	t.Parallel()
	mount := func(w *world) *world {
		return w.FailedMount(stageFails("mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/longhorn/" + lhVol + " /g\nOutput: mount: /g: special device /dev/longhorn/" + lhVol + " does not exist."))
	}
	showEach(t, map[string]shown{
		"the engine's device node": {mount(lhAttached(lhWorld("v1.7.2").Waits()).Without("n1", "dev/longhorn/")), "broken: certain device-link-missing Device n1/8:16"},
		"it is there by now":       {mount(lhAttached(lhWorld("v1.7.2").Waits())), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
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

// TestPathsOfTheOtherType: the runtime says that a path of the host is a directory where the image has a file.
func TestPathsOfTheOtherType(t *testing.T) {
	t.Parallel()
	const says = `failed to create containerd task: error mounting "/etc/nx/nginx.conf" to rootfs at "/etc/nginx/nginx.conf": not a directory: Are you trying to mount a directory onto a file (or vice-versa)?`
	w := nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, hostPath: {path: /etc/nx/nginx.conf}}]").
		EditIn("name: web-0", "{name: data, mountPath: /data}", "{name: data, mountPath: /data}, {name: conf, mountPath: /etc/nginx/nginx.conf}").
		EditIn("name: web-0", "waiting: {reason: ContainerCreating}", "waiting: {reason: RunContainerError, message: '"+says+"'}")
	show(t, w, "pod shop/web-0", "broken: certain hostpath-type-mismatch Pod shop/web-0")
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
