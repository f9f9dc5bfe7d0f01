package causes

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestBesideThePlugin: the plugin serves or only waits, and what it needs on the node does not run: a pod of the driver's own
// namespace there, which says why.
func TestBesideThePlugin(t *testing.T) {
	t.Parallel()
	const owner = "{apiVersion: apps/v1, kind: DaemonSet, name: sat, uid: sat, controller: true}"
	sat := func(namespace, owner, said string) *world {
		return linstor().Moved("kube-system", "piraeus").Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: "+namespace+", name: sat-1, uid: u-sat-1, creationTimestamp: '2026-01-02T08:00:00Z', ownerReferences: ["+owner+"]}\n"+
			"spec: {nodeName: n1, initContainers: [{name: loader, image: i}], containers: [{name: sat, image: i}]}\n"+
			"status: {phase: Pending, initContainerStatuses: [{name: loader, ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '2026-01-02T11:58:00Z', finishedAt: '2026-01-02T11:58:02Z'}}}], containerStatuses: [{name: sat, ready: false, state: {waiting: {reason: PodInitializing}}}]}").
			File("logs/"+namespace+"/sat-1/loader.previous.log", said)
	}
	const refused, other = "insmod: ERROR: could not insert module ./drbd.ko: Operation not permitted\n\nCould not load DRBD kernel modules", "ERROR: no route to the controller"
	onDisk := func(w *world) *world {
		return w.Entries("n1", "lib/modules/6.1.0-18-amd64/modules.dep", "kernel/drivers/block/drbd/drbd.ko:", "proc/modules", "overlay 28672 0 - Live 0x0")
	}
	const missing = "degraded: certain kernel-module-missing Node n1"
	for name, c := range map[string]shown{
		"the kernel refuses the module":     {onDisk(sat("piraeus", owner, refused)), missing},
		"an operator of LINSTOR owns it":    {onDisk(sat("piraeus", strings.ReplaceAll(owner, "DaemonSet", "LinstorSatellite"), refused)), missing},
		"the module is loaded by now":       {onDisk(sat("piraeus", owner, refused)).Entries("n1", "proc/modules", "drbd 28672 0 - Live 0x0"), "healthy"},
		"it ends for another reason":        {sat("piraeus", owner, other), "healthy"},
		"it was loaded in spite of a word":  {onDisk(sat("piraeus", owner, "modprobe: FATAL: Module nvmet_rdma not found in directory /lib/modules/6.1.0-18-amd64\nDRBD module is loaded")).Edit("state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '2026-01-02T11:58:00Z', finishedAt: '2026-01-02T11:58:02Z'}}", "state: {terminated: {exitCode: 0, reason: Completed}}"), "healthy"},
		"who says so does not see the host": {sat("piraeus", owner, "modprobe: FATAL: Module dm_thin_pool not found in directory /lib/modules/6.1.0-18-amd64").Unprobed("n1", "Forbidden"), "degraded: likely kernel-module-missing Node n1"},
		"a pod that somebody made by hand":  {sat("piraeus", "{apiVersion: v1, kind: Job, name: j, uid: j, controller: true}", refused), "healthy"},
		"a pod of a DaemonSet somewhere":    {sat("monitoring", owner, refused), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "node n1", c.want)
		})
	}
	show(t, onDisk(sat("piraeus", owner, refused)), "node n2", "healthy")
}

// TestStillConnecting: a sidecar runs and does nothing, as nobody listens at the socket where it looks for its driver.
func TestStillConnecting(t *testing.T) {
	t.Parallel()
	grows := func(container, at string, words ...string) *world {
		return ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).Answers("n1", ebs().Publish(0)).Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}").
			File("logs/kube-system/controller-0/"+container+".log", "I0102 11:00:00.000000       1 main.go:90] Version : v1.4.0\nW0102 "+at+".000000       1 connection.go:173] "+cmp.Or(strings.Join(words, ""), "Still connecting to unix:///var/lib/kubelet/plugins/x/csi.sock"))
	}
	lease := func(name string) string {
		return "\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-system, name: " + name + "}\nspec: {holderIdentity: c, renewTime: '2026-01-02T11:59:55.000000Z'}\n"
	}
	const pending = "degraded: unexplained expansion-pending"
	showEach(t, map[string]shown{
		"the resizer, now":           {grows("csi-resizer", "11:59:50"), "degraded: certain resizer-not-working PersistentVolumeClaim shop/data"},
		"the resizer, some time ago": {grows("csi-resizer", "11:50:00"), pending},
		"in the words of today":      {grows("csi-resizer", "11:59:50", `"Still connecting" address="unix:///csi/csi.sock"`), "degraded: certain resizer-not-working PersistentVolumeClaim shop/data"},
		"a controller that starts":   {grows("csi-resizer", "11:59:50").Edit("2025-11-07T13:25:00Z'}}}, {name: csi-resizer", "2026-01-02T11:59:40Z'}}}, {name: csi-resizer"), pending},
		"another sidecar":            {grows("csi-snapshotter", "11:59:50"), pending},
		"the attacher":               {va(ebs().Waits(), "csi-a", "n1", "", "attached: false").File("logs/kube-system/controller-0/csi-attacher.log", "W0102 11:59:50.000000       1 connection.go:173] Still connecting to unix:///csi/csi.sock"), "broken: certain attacher-not-working Pod kube-system/controller-0"},
		"the provisioner":            {pendingClaim(ebs(), "Immediate", "volume.kubernetes.io/storage-provisioner: ebs.csi.aws.com").File("logs/kube-system/controller-0/csi-provisioner.log", "W0102 11:59:50.000000       1 connection.go:173] Still connecting to unix:///csi/csi.sock"), "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data"},
	})
	for elected, want := range map[string]bool{"external-attacher-leader-ebs-csi-aws-com": false, "external-resizer-ebs-csi-aws-com": true} {
		_, r := grows("csi-snapshotter", "11:59:50").Add(lease(elected)).Verdict(t, Catalog(), "pvc shop/data")
		out := len(r.Unexplained) == 1 && slices.ContainsFunc(r.Unexplained[0].RuledOut, func(e report.Excluded) bool { return e.Cause == "resizer-not-working" })
		if out != want {
			t.Errorf("%s: ruled out: %v", elected, out)
		}
	}
}

// TestCalledAndNotThere: a driver calls a program by its name and does not find it: of a share it is the one that mounts it.
func TestCalledAndNotThere(t *testing.T) {
	t.Parallel()
	said := func(driver, what string) *world {
		return vol(driver, "h-1", "").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = " + what)
	}
	const missing = `Mount failed with error: rpc error: code = Unknown desc = exec: "blobfuse2": executable file not found in $PATH , output: `
	showEach(t, map[string]shown{
		"a program of a FUSE driver": {said("blob.csi.azure.com", missing), "broken: likely nfs-client-missing Node n1"},
		"by its whole path":          {said("ru.yandex.s3.csi", `Error fuseMount command: exec: "/usr/bin/geesefs": executable file not found in $PATH`), "broken: likely nfs-client-missing Node n1"},
		"not for the mount":          {said("blob.csi.azure.com", `failed to get credentials: exec: "aws-iam-authenticator": executable file not found in $PATH`), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a program of a disk":        {said("ebs.csi.aws.com", `exec: "nvme": executable file not found in $PATH`).Attached("n1"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestSaidOfTheDisk: in which state the backend has a disk that nobody has.
func TestSaidOfTheDisk(t *testing.T) {
	t.Parallel()
	said := func(what string) *world {
		return attachFailed(va(cinderW().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \"rpc error: code = Internal desc = "+what+"\"}"), "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = "+what)
	}
	const stale, open = "broken: likely attachment-stale-in-backend PersistentVolume pv-data", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"two states would do":              {said("Invalid volume: volume 0e6dd0a8-1111-4222-8333-123456789012 status must be 'available' or 'downloading' to reserve, but the current status is reserved. (HTTP 400)"), stale},
		"a detach that failed":             {said("volume status must be available or downloading to reserve, but the current status is error_detaching."), stale},
		"in other words":                   {said("disk 0e6dd0a8 cannot be attached: volume status is error_detaching"), stale},
		"perhaps this very attachment":     {said("volume 0e6dd0a8 not attached to this server yet, timed out: volume status is attaching"), open},
		"in use would do, and it is wrong": {said("volume status must be available or in-use or downloading to reserve, but the current status is error."), open},
	})
}

// TestOfAnotherVolume: what is said of a volume that the claim is not.
func TestOfAnotherVolume(t *testing.T) {
	t.Parallel()
	said := func(volume string, more ...string) *world {
		w := ebs().Waits().Attached("n1").Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", "2026-01-02T11:46:00Z", "MountVolume.SetUp failed for volume \""+volume+"\" : failed to sync secret cache: timed out waiting for the condition")
		for _, unmounted := range more {
			w.Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", "Unable to attach or mount volumes: unmounted volumes=["+unmounted+"], unattached volumes=[data default-token-v9k2s]: timed out waiting for the condition")
		}
		return w
	}
	const waits, fails = "broken: unexplained pod-waiting-for-volume", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"of the claim's own":              {said("pv-data"), fails},
		"of a token, which is there now":  {said("default-token-v9k2s", "data"), waits},
		"of a token":                      {said("default-token-v9k2s"), fails},
		"of a token that is still missed": {said("default-token-v9k2s", "data default-token-v9k2s"), fails},
	})
}
